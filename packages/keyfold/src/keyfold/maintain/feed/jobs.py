"""Resumable work over all followers of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import orjson

from keyfold.maintain.feed.edges import FollowEdges, edges_to
from keyfold.runtime.batch import delete_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Step = Callable[[list[Any]], Flow[bool]]
"""Processes some edges, and says whether to continue."""


def for_all(
    context: Context,
    feed: Feed[Any],
    source: str,
    name: str,
    step: Step,
    edges: Iterable[FollowEdges],
) -> Flow[None]:
    """Run the step for every edge of these kinds, storing the progress.

    Only for long lists: short ones are repeated, which is harmless.
    """
    edges = list(edges)
    ref = feed.support.job.key(job=name)
    is_long = False
    found, start = yield from edges_to(context, edges, source, None)
    while True:
        if start is not None and start[1] is not None and not is_long:
            is_long, saved = True, (yield from find(context, ref))
            if saved is not None:
                place = orjson.loads(saved.progress)
                found, start = yield from edges_to(context, edges, source, place)
        if not (yield from step(found)) or start is None:
            break
        if is_long:
            progress = orjson.dumps(start).decode()
            expiry = context.now() + feed.ttl
            job = feed.support.job(job=name, progress=progress, expires_at=expiry)
            yield from commit(context, [Put(job, absent=False)])
        found, start = yield from edges_to(context, edges, source, start)
    if is_long:
        yield from delete_many(context, [ref])
