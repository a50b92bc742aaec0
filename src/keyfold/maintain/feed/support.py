"""The support items of a feed, in the table of its items.

- `Source`: in the reader's own feed partition, one for each source that must be pulled (`pull`)
  or hidden (`gone`). A source without one is pushed: its copies in the feed count.
- `Subscription`: a reader who gets copies of a source that most others pull; `subscribers` lists
  it from the source's side.
- `State`: whether a source pushes, and what it is being switched to.
- `Hint`: when a source was last active, never too early.
- `Removed`: activities that were deleted while copies of them may still be in feeds.
- `Job`: how far a fan-out has come.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import new_class
from typing import Annotated, Any, Literal

from keyfold.design import markers
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.markers import Id, Timestamp
from keyfold.design.table import Table
from keyfold.maintain.edge import Edge, Mirror

SourceState = Literal["pull", "gone"]
Mode = Literal["pull", "push"]
SOURCE_PREFIX = "SOURCE#"
SUBSCRIPTION_PREFIX = "SUBSCRIPTION#"
REPLICAS = 4
"""Copies of the removed list, so that no partition is read by every reader of every feed."""


@dataclass(frozen=True)
class Support:
    """The support entities of one feed: classes made with its declaration."""

    source: Any
    subscription: Any
    state: Any
    hint: Any
    removed: Any
    job: Any


def declare(name: str, table: Table, partition: str, reader: str) -> Support:
    """Declare the support entities; `partition` is the items' partition template."""
    expires = Annotated[Timestamp | None, markers.Ttl()]
    title = "".join(part.capitalize() for part in name.split("_"))

    def entity(
        kind: str,
        doc: str,
        fields: dict[str, Any],
        key: Key,
        subscribers: Mirror | None = None,
    ) -> type[Entity]:
        def body(namespace: dict[str, Any]) -> None:
            namespace["__doc__"] = doc
            namespace["__module__"] = __name__
            namespace["__annotations__"] = {k: v for k, v in fields.items() if k != "expires_at"}
            if "expires_at" in fields:
                namespace["__annotations__"]["expires_at"] = expires
                namespace["expires_at"] = None
            namespace["key"] = key
            if subscribers is not None:
                namespace["subscribers"] = subscribers

        kinds = (Entity if subscribers is None else Edge,)
        made: type[Entity] = new_class(f"{title}{kind}", kinds, {"table": table}, body)
        made.__spec__.role = "support"
        if subscribers is not None:
            subscribers.entity.__spec__.role = "support"
        return made

    prefix = f"FEED_{name.upper()}"
    return Support(
        source=entity(
            "Source",
            "A source that a reader's feed pulls or hides.",
            {reader: Id, "source": Id, "state": SourceState, "expires_at": None},
            Key(partition, f"{SOURCE_PREFIX}{{source}}", escape=True),
        ),
        subscription=entity(
            "Subscription",
            "A reader who gets copies of a source that most others pull.",
            {reader: Id, "source": Id},
            Key(partition, f"{SUBSCRIPTION_PREFIX}{{source}}", escape=True),
            Mirror(f"{prefix}_SUBSCRIBERS#{{source}}", f"READER#{{{reader}}}", escape=True),
        ),
        state=entity(
            "State",
            "Whether a source pushes its activities to its followers' feeds.",
            {"source": Id, "mode": Mode, "pushing": bool, "reason": str, "changed_at": Timestamp},
            Key(f"{prefix}_STATE#{{source}}", "STATE", escape=True),
        ),
        hint=entity(
            "Hint",
            "When a source was last active.",
            {"source": Id, "last": str},
            Key(f"{prefix}_HINT#{{source}}", "HINT", escape=True),
        ),
        removed=entity(
            "Removed",
            "An activity that was deleted while copies of it may still be in feeds.",
            {"replica": int, "source": Id, "position": str, "expires_at": None},
            Key(f"{prefix}_REMOVED#{{replica:02d}}", "{position}#{source}", escape=True),
        ),
        job=entity(
            "Job",
            "How far a fan-out has come.",
            {"job": Id, "progress": str, "expires_at": None},
            Key(f"{prefix}_JOB#{{job}}", "JOB", escape=True),
        ),
    )
