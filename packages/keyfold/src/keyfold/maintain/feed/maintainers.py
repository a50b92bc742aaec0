"""The stream's work for a feed: one maintainer per kind of item."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from keyfold.design import flow
from keyfold.design.entity import Entity
from keyfold.design.follows import COPIES_AT_ONCE, Follows
from keyfold.design.predicate import FieldComparison, FieldPath
from keyfold.design.source import Silence
from keyfold.errors import AlreadyExists, ConditionFailed, NotFound
from keyfold.maintain.address import raw
from keyfold.maintain.drift import Drift
from keyfold.maintain.feed.contents import copies_of
from keyfold.maintain.feed.counts import hint
from keyfold.maintain.feed.decisions import begin, consider, reason_of
from keyfold.maintain.feed.edges import FOLLOWERS_AT_ONCE
from keyfold.maintain.feed.fan_out import fan_out
from keyfold.maintain.feed.head_audit import HeadAudit
from keyfold.maintain.feed.heads import entry_of, head_of, lengthen, refresh
from keyfold.maintain.feed.jobs import for_all
from keyfold.maintain.feed.removal_work import carry_out, settle
from keyfold.maintain.feed.switch import pull, push
from keyfold.maintain.feed.verification import Verifying, fix
from keyfold.maintain.job import StreamWork
from keyfold.maintain.structure import Audited
from keyfold.runtime.changes import Set
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Check, Delete, Intent, Put, Update
from keyfold.runtime.reads import find
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed


class FeedMaintainer(StreamWork):
    """Reconciles a feed with the current state; repeated records are harmless."""

    kind = "feed work"
    sync: Literal["stream"] = "stream"

    def __init__(self, feed: Feed[Any], source: type[Entity]) -> None:
        self.feed, self.source = feed, source
        self.label = f"feed {feed.name} {source.__name__}"

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.source.__spec__.fields)

    @property
    def follows(self) -> Follows:
        return Follows(
            name=self.label,
            kind=self.kind,
            source=self.source.__name__,
            target=self.feed.item.__name__,
            fact="job",
            fields=tuple(sorted(self.fields)),
            sync=self.sync,
            at_once=FOLLOWERS_AT_ONCE,
            place=self.feed.place,
        )


class Activities(FeedMaintainer, Audited):
    """A new or changed activity goes to the feeds that rely on copies."""

    kind = "feed"

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
            mode="hybrid",
            cap=feed.cap,
            support=tuple(
                (role, made.__name__) for role, made in vars(feed.support).items() if made
            ),
            replicas=feed.removed.replicas if feed.removed else None,
            listed=feed.removed.entries if feed.removed else None,
            heads=feed.heads or None,
            settled_after=feed.removed.settled_after.total_seconds() if feed.removed else None,
            trimmed_by="TTL and a window on read",
            description=(
                f"Up to {feed.cap} items of the last {feed.ttl.days} days, from "
                f"{' and '.join(edge.__name__ for edge in feed.edges)}."
            ),
            place=feed.place,
            silences=(Silence("S6", "a policy by cost decides who is copied, page by page"),),
        )

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if new is None:
            return
        source = getattr(new, self.feed.source_field)
        if old is not None and self.feed.copy(old, source) == self.feed.copy(new, source):
            return  # The change is not visible in feeds.
        ref = self.feed.support.hint.key(source=source)
        known = yield from find(context, ref, consistent=False)
        if old is None and (known is None or known.last < self.feed.position(new)):
            # An activity written without the feed has no hint yet.
            yield from hint(context, self.feed, new)
        yield from fan_out(context, self.feed, new, known)


class Edges(FeedMaintainer):
    """A follow adds the source, an unfollow removes it."""

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        edge = new or old
        assert edge is not None, "a change has an item before or after"
        reader, source = self.feed.ends(edge)
        if (yield from raw(context, edge.ref())) is None:
            around = yield from find(context, self.feed.source_ref(reader, source))
            if around is None or around.state != "gone":
                gone = self.feed.edges[self.source].absence(reader, source)
                with suppress(ConditionFailed):
                    yield from commit(context, [self.feed.hiding(reader, source), gone])
            return
        if old is not None:
            return
        # An edge written without the feed has no mark, and possibly no copies.
        mark = self.feed.source_item(reader, source, "pull")
        if (yield from find(context, mark.ref())) is None:
            if (yield from find(context, self.feed.subscription_ref(reader, source))) is not None:
                return
            with suppress(AlreadyExists, ConditionFailed, NotFound):
                yield from commit(context, [Put(mark), Check(edge.ref())])
        yield from begin(context, self.feed, reader, source)


class Sources(FeedMaintainer):
    """Deletes a hidden source's copies; its mark expires when none can be left."""

    def reconcile(self, context: Context, old: Entity | None, new: Any | None) -> Flow[None]:
        if new is None or new.state != "gone":
            return
        present = yield from find(context, new.ref())
        if present is None or present.state != "gone":
            return
        reader = getattr(new, self.feed.reader_field)
        endings: list[Intent] = []
        subscription = yield from find(context, self.feed.subscription_ref(reader, new.source))
        if subscription is not None:
            endings.append(Delete(subscription.ref()))
        copies = yield from copies_of(context, self.feed, reader, new.source)
        endings += [Delete(copy.ref()) for copy in copies]
        gone = FieldComparison(FieldPath(("state",)), "=", "gone")
        # A reader who follows again may rely on these very copies.
        with suppress(ConditionFailed, NotFound):
            for start in range(0, len(endings), COPIES_AT_ONCE):
                some = endings[start : start + COPIES_AT_ONCE]
                yield from commit(context, [Check(new.ref(), gone), *some])
            if present.expires_at is None:
                yield from self._leave_out(context, reader, new.source)
                expiry = {"expires_at": Set(context.now() + self.feed.ttl)}
                yield from commit(context, [Update(new.ref(), expiry, gone)])

    def _leave_out(self, context: Context, reader: str, source: str) -> Flow[None]:
        """Remove the source from what the last sampled page noted about its reader."""
        person = yield from find(context, self.feed.reader_ref(reader))
        if person is None or source not in {*person.busy, *person.want, *(person.short or ())}:
            return
        changes = {
            "busy": {one: posts for one, posts in person.busy.items() if one != source},
            "want": [one for one in person.want if one != source],
            "short": [one for one in person.short or () if one != source] or None,
        }
        same = FieldComparison(FieldPath(("at",)), "=", person.at)
        # A later sample does not show what is hidden.
        with suppress(ConditionFailed):
            without = person.model_copy(update=changes)
            yield from commit(context, [Put(without, absent=False, condition=same)])


class Readers(FeedMaintainer):
    """A sampled page proposes what to push to its reader, and lists heads that were too short."""

    def reconcile(self, context: Context, old: Entity | None, new: Any | None) -> Flow[None]:
        if new is None:
            return
        yield from consider(context, self.feed, new)
        if self.feed.heads and new.short:
            yield from lengthen(context, self.feed, new.short)


class Promotions(FeedMaintainer):
    """A promotion flag overrides the policy for all followers."""

    def reconcile(self, context: Context, old: Entity | None, new: Any | None) -> Flow[None]:
        if new is None:
            return
        feed, source = self.feed, self.feed.promoted(new)

        def each(edges: list[Any]) -> Flow[bool]:
            flag = yield from find(context, new.ref())
            if flag is None or flag.fanout_enabled != new.fanout_enabled:
                return False
            for edge in edges:
                reader, _ = feed.ends(edge)
                if flag.fanout_enabled:
                    yield from push(context, feed, reader, source, reason_of(flag))
                else:
                    yield from pull(context, feed, reader, source)
            return True

        name = f"{'push' if new.fanout_enabled else 'pull'} {source}"
        yield from for_all(context, feed, source, name, each, feed.edges.values())


class Removals(FeedMaintainer):
    """Deletes the copies of a deleted activity, then its entry in the removed list, if any.

    This also handles activities deleted without the feed.
    """

    def __init__(self, feed: Feed[Any]) -> None:
        super().__init__(feed, feed.activity)
        self.label = f"feed {feed.name} removals"

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if old is not None and new is None:
            source = getattr(old, self.feed.source_field)
            yield from carry_out(context, self.feed, source, self.feed.position(old))


class Settlements(FeedMaintainer):
    """A removal is settled when its settlement is deleted or expires."""

    def reconcile(self, context: Context, old: Any | None, new: Entity | None) -> Flow[None]:
        if old is not None and new is None:
            yield from settle(context, self.feed, old.source, old.position)


class Heads(FeedMaintainer, Audited):
    """Keeps a source's newest activities in its head.

    Those posted through the feed are already there. Deleted ones are removed with their copies.
    """

    kind = "feed heads"

    def __init__(self, feed: Feed[Any]) -> None:
        super().__init__(feed, feed.activity)
        self.label = f"feed {feed.name} heads"

    @property
    def follows(self) -> Follows:
        return replace(
            super().follows,
            target=self.feed.support.hint.__name__,
            fact="best",
            fields=tuple(sorted(self.feed.copied)),
            writes=("head",),
            by=self.feed.time_field,
        )

    def audit(self, context: Context) -> HeadAudit:
        return HeadAudit(self.feed, self.label)

    def fix(self, context: Context, drift: Drift) -> Flow[None]:
        assert drift.subject is not None, "a head's drift knows its hint"
        yield from refresh(context, self.feed, drift.subject.values["source"])

    def reconcile(self, context: Context, old: Entity | None, new: Entity | None) -> Flow[None]:
        if new is None:
            return
        source = getattr(new, self.feed.source_field)
        shown = entry_of(self.feed, new)
        if old is None:
            ref = self.feed.support.hint.key(source=source)
            head = head_of(self.feed, (yield from find(context, ref, consistent=False)))
            if head is not None and (shown in head.entries or self.feed.position(new) < head.since):
                return
        elif entry_of(self.feed, old) == shown:
            return  # what changed is not shown
        yield from refresh(context, self.feed, source)


def of(feed: Feed[Any]) -> Iterator[FeedMaintainer]:
    """All maintainers of a feed."""
    yield Activities(feed, feed.activity)
    if feed.heads:
        yield Heads(feed)
    for edge in feed.edges:
        yield Edges(feed, edge)
    yield Sources(feed, feed.support.source)
    yield Readers(feed, feed.support.reader)
    yield Removals(feed)
    yield Settlements(feed, feed.support.settlement)
    if feed.promotion is not None:
        yield Promotions(feed, feed.promotion)
