"""Work over all followers of a source that goes on where an earlier attempt stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import orjson

from keyfold.maintain.feed.edges import FollowEdges, followers
from keyfold.runtime.batch import delete_many
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

Step = Callable[[list[str]], Flow[bool]]
"""Does something for some readers, and says whether to go on."""


def for_all_followers(
    context: Context,
    feed: Feed[Any],
    source: str,
    name: str,
    step: Step,
    edges: Iterable[FollowEdges] | None = None,
) -> Flow[bool]:
    """Take the step for every follower, or for those by some edges, remembering how far it came.

    Gives False when a step ended it.
    """
    edges = list(feed.edges.values() if edges is None else edges)
    ref = feed.support.job.key(job=name)
    saved = yield from find(context, ref)
    start = orjson.loads(saved.progress) if saved is not None else None
    remembered = saved is not None
    while True:
        readers, start = yield from followers(context, edges, source, start)
        wanted = yield from step(readers)
        if start is None or not wanted:
            break
        progress = orjson.dumps(start).decode()
        expiry = context.now() + feed.ttl
        job = feed.support.job(job=name, progress=progress, expires_at=expiry)
        yield from commit(context, [Put(job, absent=False)])
        remembered = True
    if remembered:
        yield from delete_many(context, [ref])
    return wanted
