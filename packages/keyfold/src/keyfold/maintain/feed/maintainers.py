"""The stream's work for a feed: copies of activities, and flags set by thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from keyfold.design import flow
from keyfold.design.entity import Entity
from keyfold.design.follows import Follows
from keyfold.design.source import Silence
from keyfold.errors import AlreadyExists
from keyfold.maintain.drift import Drift
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.maintain.feed.fan_out import copy_to_all, delete_from_all, is_copied
from keyfold.maintain.feed.flag import Flag, Threshold
from keyfold.maintain.feed.verification import Verifying, fix
from keyfold.maintain.job import StreamWork
from keyfold.maintain.structure import Audited
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Put
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed


class Activities(StreamWork, Audited):
    """A new or changed activity of a flagged author goes to all followers, a deleted one leaves."""

    kind = "feed"
    sync: Literal["stream"] = "stream"

    def __init__(self, feed: Feed[Any]) -> None:
        self.feed, self.source = feed, feed.activity
        self.label = f"feed {feed.name} {feed.activity.__name__}"

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.source.__spec__.fields)

    @property
    def follows(self) -> Follows:
        return replace(
            self.record(self.feed.item.__name__, "job"),
            sync=self.sync if self.feed.push is not None else "none",
            at_once=FOLLOWERS_AT_ONCE,
            place=self.feed.place,
        )

    def audit(self, context: Context) -> Verifying:
        return Verifying(context, self.feed, self.label)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        yield from fix(context, self.feed, drift)

    def describe(self) -> flow.FeedSchema:
        feed = self.feed
        return flow.FeedSchema(
            name=feed.name,
            post=feed.activity.__name__,
            item=feed.item.__name__,
            edge=next(iter(feed.edges)).__name__,
            edges=tuple(edge.__name__ for edge in feed.edges) if len(feed.edges) > 1 else (),
            mode="fan_in" if feed.push is None else "hybrid",
            cap=feed.cap,
            flag="" if feed.push is None else feed.push.entity.__name__,
            listed_on=tuple(
                edge.sources.declared.index
                for edge in feed.edges.values()
                if edge.sources.declared.index is not None
            ),
            trimmed_by="TTL and a window on read",
            description=(
                f"Up to {feed.cap} items of the last {feed.ttl.days} days, from "
                f"{' and '.join(edge.__name__ for edge in feed.edges)}."
            ),
            place=feed.place,
            silences=(Silence("S6", "the flag of an author decides what is copied"),),
        )

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        activity = new or old
        assert activity is not None, "a change has an item before or after"
        source = getattr(activity, self.feed.source_field)
        if old and new and self.feed.copy(old, source) == self.feed.copy(new, source):
            return  # The change is not visible in feeds.
        if not (yield from is_copied(context, self.feed, source, self.feed.position(activity))):
            return
        if new is None:
            yield from delete_from_all(context, self.feed, activity)
        else:
            yield from copy_to_all(context, self.feed, activity)


class Thresholds(StreamWork):
    """A number that is high enough sets its author's flag, if the author has none."""

    kind = "feed flag"
    sync: Literal["stream"] = "stream"

    def __init__(self, feed: Feed[Any], flag: Flag, threshold: Threshold) -> None:
        self.feed, self.flag, self.threshold = feed, flag, threshold
        self.source = threshold.entity
        self.label = f"feed {feed.name} {self.source.__name__}.{threshold.number}"

    @property
    def fields(self) -> frozenset[str]:
        return frozenset({self.threshold.number})

    @property
    def follows(self) -> Follows:
        return replace(
            self.record(self.flag.entity.__name__, "job"),
            fields=(self.threshold.number,),
            place=self.feed.place,
        )

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        del old  # what it was does not matter
        reached = self.threshold.least
        if new is None or getattr(new, self.threshold.number) < reached:
            return
        [author] = self.source.__spec__.key.address
        ref = self.flag.ref(getattr(new, author))
        present = yield from find(context, new.ref())
        if present is None or getattr(present, self.threshold.number) < reached:
            return
        if (yield from find(context, ref)) is None:
            values = {**ref.values, self.flag.enabled: True, **self.threshold.sets}
            with suppress(AlreadyExists):
                yield from commit(context, [Put(self.flag.entity(**values))])


def of(feed: Feed[Any]) -> Iterator[StreamWork]:
    """All maintainers of a feed."""
    yield Activities(feed)
    if feed.push is not None:
        for threshold in feed.push.thresholds:
            yield Thresholds(feed, feed.push, threshold)
