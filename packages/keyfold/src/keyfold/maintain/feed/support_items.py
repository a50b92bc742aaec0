"""The support items of a feed, in the table of its items.

- `Source`: in the reader's own feed partition, one for each source that must be pulled (`pull`),
  is hidden (`gone`), or has copies from some position on only (`push`). A source without one is
  pushed: its copies in the feed count.
- `Subscription`: a reader who gets copies of a source, in the source's list.
- `Hint`: when a source was last active, never too early, and how often it posts; with heads its
  newest activities too.
- `Reader`: how often somebody reads, counted by samples; every page reads it with the sources.
- `Crowd`: what readers are like, by some looks at them; one for the feed.
- `Removed`: activities that were deleted while copies of them may still be in feeds.
- `Settlement`: a removal that was carried out, and is to be looked at once more.
- `Job`: how far a fan-out has come.

A `token` is new with every switch. What was decided by one state is written only on that state, so
that two consumers cannot both win.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import getrandbits
from types import new_class
from typing import Annotated, Any, Literal

from pydantic import ConfigDict

from keyfold.design import markers
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.markers import Id, Timestamp
from keyfold.design.table import Table

SourceState = Literal["pull", "push", "gone"]
READER = "SOURCE"
"""The sort key of the reader's own item: a page reads everything that begins with it."""
SOURCE_PREFIX = f"{READER}#"


@dataclass(frozen=True)
class Support:
    """The support entities of one feed: classes created with its declaration."""

    source: Any
    subscription: Any
    hint: Any
    reader: Any
    crowd: Any
    removed: Any
    """None if removals are not listed."""
    settlement: Any
    job: Any


def new_token() -> str:
    return f"{getrandbits(40):010x}"


def declare(name: str, table: Table, partition: str, reader: str, *, removals: bool) -> Support:
    """Declare the support entities; `partition` is the items' partition template."""
    expires = Annotated[Timestamp | None, markers.Ttl()]
    title = "".join(part.capitalize() for part in name.split("_"))
    prefix = f"FEED_{name.upper()}"

    def entity(
        kind: str, doc: str, fields: dict[str, Any], key: Key, defaults: dict[str, Any]
    ) -> type[Entity]:
        def body(namespace: dict[str, Any]) -> None:
            namespace["__doc__"] = doc
            namespace["__module__"] = __name__
            # Pydantic would search for field docstrings in sources that do not exist, which is
            # slow.
            namespace["model_config"] = ConfigDict(use_attribute_docstrings=False)
            namespace["__annotations__"] = fields
            namespace["key"] = key
            namespace.update(defaults)

        made: type[Entity] = new_class(f"{title}{kind}", (Entity,), {"table": table}, body)
        made.__spec__.role = "support"
        return made

    switched = {"at": Timestamp | None, "counts": list[float], "moved": bool}
    unswitched: dict[str, Any] = {"at": None, "counts": [], "moved": False}
    # Declared with and without heads, so that a feed can start and stop using them.
    head = {"head": bytes | None, "token": str | None, "long_until": Timestamp | None}
    return Support(
        source=entity(
            "Source",
            "A source that a reader's feed pulls or hides, or has the newest copies of.",
            {reader: Id, "source": Id, "state": SourceState, "token": str, "since": str}
            | switched
            | {"expires_at": expires},
            Key(partition, f"{SOURCE_PREFIX}{{source}}", escape=True),
            {"token": "", "since": "", "expires_at": None, **unswitched},
        ),
        subscription=entity(
            "Subscription",
            "A reader who gets copies of a source.",
            {reader: Id, "source": Id, "token": str, "reason": str} | switched,
            Key(f"{prefix}_SUBSCRIBERS#{{source}}", f"READER#{{{reader}}}", escape=True),
            unswitched,
        ),
        hint=entity(
            "Hint",
            "When a source was last active, and how often it posts.",
            {
                "source": Id,
                "last": str,
                "begun": Timestamp | None,
                "posts": int,
                "weight": float,
                "item_bytes": int,
                "wide": bool,
            }
            | head,
            Key(f"{prefix}_HINT#{{source}}", "HINT", escape=True),
            {"begun": None, "posts": 0, "weight": 0.0, "item_bytes": 0, "wide": False}
            | dict.fromkeys(head),
        ),
        reader=entity(
            "Reader",
            "How often somebody reads the feed, by samples, and what a page was like.",
            {
                reader: Id,
                "at": Timestamp,
                "seen": float,
                "days": float,
                "noise": float,
                "total": float,
                "window": float,
                "lively": int,
                "busy": dict[str, int],
                "want": list[str],
                "short": list[str] | None,
            },
            Key(partition, READER),
            {"window": 1.0, "lively": 0, "busy": {}, "want": [], "short": None},
        ),
        crowd=entity(
            "Crowd",
            "What readers are like: sums over looks at them, with fading weights.",
            {"name": Id, "looks": float, "rates": float, "squares": float, "noise": float},
            Key(f"{prefix}_CROWD#{{name}}", "CROWD"),
            {"looks": 0.0, "rates": 0.0, "squares": 0.0, "noise": 0.0},
        ),
        removed=entity(
            "Removed",
            "An activity that was deleted while copies of it may still be in feeds.",
            {"replica": int, "post": str, "expires_at": expires},
            Key(f"{prefix}_REMOVED#{{replica:02d}}", "{post}"),
            {"expires_at": None},
        )
        if removals
        else None,
        settlement=entity(
            "Settlement",
            "A removal whose copies were deleted, and will be once more.",
            {"name": Id, "due": Timestamp, "source": Id, "position": str, "expires_at": expires},
            Key(f"{prefix}_SETTLEMENTS#{{name}}", "{due:iso}#{source}#{position}", escape=True),
            {"expires_at": None},
        ),
        job=entity(
            "Job",
            "How far a fan-out has come.",
            {"job": Id, "progress": str, "expires_at": expires},
            Key(f"{prefix}_JOB#{{job}}", "JOB", escape=True),
            {"expires_at": None},
        ),
    )
