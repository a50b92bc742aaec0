"""`Feed`: activities written once, read newest first by everybody who follows their sources."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar, overload

from keyfold.design import codes
from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.design.formats import iso
from keyfold.design.keys import Key
from keyfold.design.place import caller
from keyfold.design.read import Page
from keyfold.errors import DeclarationError
from keyfold.maintain.feed import edges, removed_list, support_items
from keyfold.maintain.feed.policy import Decision, FeedPolicy
from keyfold.maintain.feed.reach import FeedReach
from keyfold.maintain.feed.removed_list import RemovedList
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Delete, Intent, Put

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed
A = TypeVar("A", bound=Entity)
MOST_HEADS: Final = 50
"""A page never needs more of one source than it shows."""
RESERVED = ("", support_items.SOURCE_PREFIX, support_items.READER)


class Feed(Generic[I]):
    """A feed for each reader.

    `activity` has its source in the partition and the time and an id in the sort key; `item` is
    the copy in a reader's partition, with the same sort key; `edge` is who follows whom, with a
    key `followers` that lists it from the source's side. Several kinds of edges, or another name
    of that key, are given as `edge={Follow: "followers", GroupMember: "key"}`. `policy` decides who
    gets copies; with None only promotion flags do. `removed` configures the list of removed
    activities; None is for callers that read the activities of a page anyway, and skip missing
    ones. `heads` is the maximum number of a source's newest activities in one item, so that a page
    reads those of a hundred pulled sources with one request; 0 keeps none.
    """

    def __init__(
        self,
        name: str,
        *,
        activity: type[Entity],
        edge: type[Entity] | Mapping[type[Entity], str],
        item: type[I],
        promotion: type[Entity] | None = None,
        cap: int = 1000,
        ttl: timedelta = timedelta(days=30),
        policy: FeedPolicy | None = FeedPolicy(),  # noqa: B008 - it is frozen
        removed: RemovedList | None = RemovedList(),  # noqa: B008 - it is frozen
        heads: int = 0,
    ) -> None:
        self.name, self.activity, self.item = name, activity, item
        self.promotion, self.cap, self.ttl, self.policy = promotion, cap, ttl, policy
        self.removed, self.heads = removed, heads
        self.place = caller()
        self.source_field = self._only(activity, "partition")
        self.reader_field = self._only(item, "partition")
        self.edges = edges.declare(edge, f"{self.place} feed {name}")
        self.time_field = self._time_field()
        self.copied = tuple(f for f in item.__spec__.fields if f in activity.__spec__.fields)
        self._check()
        partition = item.__spec__.key.templates.partition.text
        self.support = support_items.declare(
            name,
            item.__table__,
            partition,
            self.reader_field,
            removals=removed is not None,
        )
        subscription = self.support.subscription
        self.subscribed = edges.FollowEdges(
            subscription, self.reader_field, "source", subscription.key
        )
        self.design = item.__table__.design
        self._maintain()

    def _maintain(self) -> None:
        from keyfold.maintain.feed import maintainers

        for maintainer in maintainers.of(self):
            self.design.maintain(maintainer)

    @overload
    def page(
        self, db: Db, reader: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[I]: ...
    @overload
    def page(
        self, db: AsyncDb, reader: str, *, limit: int = 50, cursor: str | None = None
    ) -> Awaitable[Page[I]]: ...
    def page(
        self, db: Db | AsyncDb, reader: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[I] | Awaitable[Page[I]]:
        """A reader's feed, newest first."""
        from keyfold.maintain.feed.page import read_page

        flow: Flow[Page[I]] = read_page(db.context, self, reader, limit, cursor)
        return db.run(flow, f"feed {self.name}")

    @overload
    def post(self, db: Db, activity: A, *more: Intent) -> A: ...
    @overload
    def post(self, db: AsyncDb, activity: A, *more: Intent) -> Awaitable[A]: ...
    def post(self, db: Db | AsyncDb, activity: A, *more: Intent) -> A | Awaitable[A]:
        """Write an activity; the stream copies it to those feeds that get copies.

        Your own checks and writes join its transaction.
        """
        from keyfold.maintain.feed.fan_out import post

        return db.run(post(db.context, self, activity, more), f"feed {self.name} post")

    @overload
    def explain(self, db: Db, reader: str, source: str) -> Decision: ...
    @overload
    def explain(self, db: AsyncDb, reader: str, source: str) -> Awaitable[Decision]: ...
    def explain(self, db: Db | AsyncDb, reader: str, source: str) -> Decision | Awaitable[Decision]:
        """Whether a reader gets copies of a source or pulls it, and why."""
        from keyfold.maintain.feed.decisions import explain

        return db.run(explain(db.context, self, reader, source))

    @overload
    def reach(self, db: Db, source: str) -> FeedReach: ...
    @overload
    def reach(self, db: AsyncDb, source: str) -> Awaitable[FeedReach]: ...
    def reach(self, db: Db | AsyncDb, source: str) -> FeedReach | Awaitable[FeedReach]:
        """How a source's posts reach its followers, and why."""
        from keyfold.maintain.feed.reach import reach

        return db.run(reach(db.context, self, source))

    @overload
    def renew(self, db: Db) -> int: ...
    @overload
    def renew(self, db: AsyncDb) -> Awaitable[int]: ...
    def renew(self, db: Db | AsyncDb) -> int | Awaitable[int]:
        """Rebuild all copies, after a consumer was down for longer than the stream's retention."""
        from keyfold.maintain.feed.switch import renew

        return db.run(renew(db.context, self), f"feed {self.name} renew")

    def following(self, edge: Entity) -> list[Intent]:
        """The writes of a new follow, for `db.transact`."""
        reader, source = self.ends(edge)
        return [Put(edge), Put(self.source_item(reader, source, "pull"), absent=False)]

    def unfollowing(self, edge: Entity) -> list[Intent]:
        """The writes of an unfollow: the source's activities are hidden at once."""
        reader, source = self.ends(edge)
        return [Delete(edge.ref(), must_exist=True), self.hiding(reader, source)]

    def hiding(self, reader: str, source: str) -> Put:
        """Hide a source from a feed."""
        return Put(self.source_item(reader, source, "gone"), absent=False)

    def removing(self, activity: Entity) -> list[Intent]:
        """The writes that remove an activity from every feed at once.

        Without a removed list, it disappears when the consumer processes it.
        """
        listed = [Put(entry, absent=False) for entry in removed_list.entries_of(self, activity)]
        return [Delete(activity.ref(), must_exist=True), *listed]

    def forgetting(self, who: str) -> list[Intent]:
        """The writes that delete the counts of a user who left."""
        hint: Ref[Any] = Ref(self.support.hint, {"source": who})
        return [Delete(self.reader_ref(who)), Delete(hint)]

    def ends(self, edge: Entity) -> tuple[str, str]:
        """The reader and the source of an edge."""
        declared = self.edges[type(edge)]
        return getattr(edge, declared.reader), getattr(edge, declared.source)

    def source_item(self, reader: str, source: str, state: support_items.SourceState) -> Entity:
        item: Entity = self.support.source(
            **{self.reader_field: reader},
            source=source,
            state=state,
            token=support_items.new_token(),
        )
        return item

    def reader_ref(self, reader: str) -> Ref[Any]:
        return Ref(self.support.reader, {self.reader_field: reader})

    def promotion_ref(self, source: str) -> Ref[Any]:
        assert self.promotion is not None, "asked only where one is declared"
        [field] = self.promotion.__spec__.key.templates.partition.fields
        return Ref(self.promotion, {field: source})

    def promoted(self, flag: Entity) -> str:
        """The source of a promotion flag."""
        source: str = getattr(flag, flag.__spec__.key.templates.partition.fields[0])
        return source

    @property
    def chosen_policy(self) -> FeedPolicy:
        """The policy, or the default one if it is switched off."""
        return self.policy or FeedPolicy()

    def source_ref(self, reader: str, source: str) -> Ref[Any]:
        return Ref(self.support.source, {self.reader_field: reader, "source": source})

    def subscription_ref(self, reader: str, source: str) -> Ref[Any]:
        return self.subscribed.ref(reader, source)

    @property
    def prefix(self) -> str:
        """The common prefix of all positions."""
        sort = self.activity.__spec__.key.templates.sort
        assert sort is not None, "checked when declared"
        return sort.literal_prefix

    def oldest(self, now: datetime) -> str:
        """The position before which nothing is shown."""
        return self.prefix + iso(now - self.ttl)

    def position(self, activity: Entity) -> str:
        """An activity's position in time: the text of its sort key."""
        key: Key = activity.__spec__.key
        return key.attributes[1].render(activity.__dict__, owner=activity.__spec__.name)["S"]

    def activity_key(self, source: str, position: str) -> dict[str, Any]:
        """The key of a copy's activity."""
        partition, sort = self.activity.__spec__.key.attributes
        rendered = partition.render({self.source_field: source}, owner=self.name)
        return {partition.attribute: rendered, sort.attribute: {"S": position}}

    def copy_key(self, reader: str, position: str) -> dict[str, Any]:
        """The key of a reader's copy of an activity, whether or not it exists."""
        partition, sort = self.item.__spec__.key.attributes
        rendered = partition.render({self.reader_field: reader}, owner=self.name)
        return {partition.attribute: rendered, sort.attribute: {"S": position}}

    def copy(self, activity: Entity, reader: str) -> I:
        """A reader's copy of an activity."""
        values = {name: getattr(activity, name) for name in self.copied}
        values[self.reader_field] = reader
        expiry = self.item.__spec__.ttl
        assert expiry is not None, "checked when declared"
        values[expiry.name] = getattr(activity, self.time_field) + self.ttl
        return self.item(**values)

    def _time_field(self) -> str:
        sort = self.activity.__spec__.key.templates.sort
        fields = self.activity.__spec__.fields
        if sort is None or not sort.fields or fields[sort.fields[0]].kind != "timestamp":
            self._refuse(
                f"the sort key of {self.activity.__name__} does not begin with a time.",
                'Declare it as Key("ACTIVITY#{actor_id}", "TS#{created_at:iso}#{activity_id}").',
            )
        assert sort is not None
        return sort.fields[0]

    def _only(self, entity: type[Entity], part: str) -> str:
        template = getattr(entity.__spec__.key.templates, part)
        if template is None or len(template.fields) != 1:
            self._refuse(
                f"the {part} key of {entity.__name__} must have one field.",
                "A feed needs to know which field is the source and which the reader.",
            )
        found: str = template.fields[0]
        return found

    def _check(self) -> None:
        activity, item = self.activity.__spec__, self.item.__spec__
        ours, theirs = item.key.templates.sort, activity.key.templates.sort
        if ours is None or theirs is None or ours.text != theirs.text:
            self._refuse(
                f"{item.name} is sorted by {ours}, {activity.name} by {theirs}.",
                "Give both the same sort template, so that they have the same order.",
            )
        if theirs is None or theirs.literal_prefix in RESERVED:
            self._refuse(
                f"{item.name} cannot be distinguished from what the feed stores beside it.",
                'Begin its sort key with a text of its own: "TS#{created_at:iso}#{activity_id}".',
            )
        if self.source_field not in self.copied:
            self._refuse(
                f"{item.name} has no field for its source.",
                f"Give it the field {self.source_field} of {activity.name}.",
            )
        if item.ttl is None:
            self._refuse(
                f"{item.name} never expires.",
                "Give it a field Annotated[Timestamp | None, Ttl()] = None.",
            )
        if self.removed is not None and self.removed.faults:
            self._refuse(self.removed.faults, "Give it as RemovedList(replicas=16, entries=40).")
        if type(self.heads) is not int or not 0 <= self.heads <= MOST_HEADS:
            self._refuse(
                f"heads must be 0 to {MOST_HEADS}, not {self.heads!r}.",
                "Twelve are enough for nearly all pages: heads=12.",
            )
        self._check_limits()

    def _check_limits(self) -> None:
        if type(self.cap) is not int or self.cap < 1:
            self._refuse(f"cap must be at least 1, not {self.cap!r}.", "Give cap=1000.")
        if self.ttl <= timedelta(0):
            self._refuse(
                f"ttl must be greater than 0, not {self.ttl}.", "Give ttl=timedelta(days=30)."
            )
        if self.policy is not None and not isinstance(self.policy, FeedPolicy):
            self._refuse(
                f"policy must be a FeedPolicy or None, not {self.policy!r}.",
                "Give policy=FeedPolicy(); with policy=None, only promotion flags decide.",
            )
        if self.policy is not None and self.policy.faults:
            self._refuse(self.policy.faults, "FeedPolicy() has measured defaults.")

    def _refuse(self, message: str, suggestion: str) -> None:
        raise DeclarationError(
            codes.MARKER_MISUSED,
            message,
            place=f"{self.place} feed {self.name}",
            suggestion=suggestion,
        )
