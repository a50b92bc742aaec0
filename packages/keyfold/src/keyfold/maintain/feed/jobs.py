"""Resumable work over all followers of a source."""

from __future__ import annotations

from collections.abc import Callable
from types import new_class
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from pydantic import ConfigDict

from keyfold.design import markers
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.markers import Id, Timestamp
from keyfold.design.table import Table
from keyfold.maintain.feed.edges import edges_to
from keyfold.runtime.batch import delete_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Step = Callable[[list[str]], Flow[bool]]
"""Processes some readers, and says whether to continue."""


def declare(name: str, table: Table) -> Any:
    """The entity that says how far work over many followers has come."""

    def body(namespace: dict[str, Any]) -> None:
        namespace["__doc__"] = "How far a fan-out has come."
        namespace["__module__"] = __name__
        # Pydantic would search for field docstrings in sources that do not exist, which is slow.
        namespace["model_config"] = ConfigDict(use_attribute_docstrings=False)
        expires = Annotated[Timestamp | None, markers.Ttl()]
        namespace["__annotations__"] = {"job": Id, "progress": str, "expires_at": expires}
        namespace["key"] = Key(f"FEED_{name.upper()}_JOB#{{job}}", "JOB", escape=True)
        namespace["expires_at"] = None

    title = "".join(part.capitalize() for part in name.split("_"))
    made: type[Entity] = new_class(f"{title}Job", (Entity,), {"table": table}, body)
    made.__spec__.role = "support"
    return made


def for_all(context: Context, feed: Feed[Any], source: str, name: str, step: Step) -> Flow[None]:
    """Run the step for every follower, storing the progress.

    Only for long lists: short ones are repeated, which is harmless.
    """
    ref = feed.job.key(job=name)
    is_long = False
    found, start = yield from edges_to(context, feed.edges, source, None)
    while True:
        if start is not None and start[1] is not None and not is_long:
            is_long, saved = True, (yield from find(context, ref))
            if saved is not None:
                place = orjson.loads(saved.progress)
                found, start = yield from edges_to(context, feed.edges, source, place)
        readers = dict.fromkeys(feed.ends(edge)[0] for edge in found)
        if not (yield from step(list(readers))) or start is None:
            break
        if is_long:
            progress = orjson.dumps(start).decode()
            expiry = context.now() + feed.ttl
            job = feed.job(job=name, progress=progress, expires_at=expiry)
            yield from commit(context, [Put(job, absent=False)])
        found, start = yield from edges_to(context, feed.edges, source, start)
    if is_long:
        yield from delete_many(context, [ref])
