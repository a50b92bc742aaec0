"""`Feed`: activities written once, read newest first by everybody who follows their sources."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from datetime import datetime, timedelta
from typing import Any, Generic, NoReturn, TypeVar, overload

from keyfold.design import codes
from keyfold.design.declaration import declared_at, refuse
from keyfold.design.entity import Entity
from keyfold.design.keys import Key
from keyfold.design.read import Page
from keyfold.design.source import caller
from keyfold.maintain.feed import edges, jobs
from keyfold.maintain.feed.flag import MARGIN, Flag
from keyfold.runtime.async_db import AsyncDb
from keyfold.runtime.db import Db
from keyfold.runtime.flow import Flow

I = TypeVar("I", bound=Entity)  # noqa: E741 - the item of a feed


class Feed(Generic[I]):
    """A feed for each reader.

    `activity` has its source in the partition and the time and an id in the sort key; `item` is
    the copy in a reader's partition, with the same sort key; `edge` is who follows whom, with a
    key `followers` that lists it from the source's side, and one with the reader alone in the
    partition. Several kinds of edges, or another name of that key, are given as
    `edge={Follow: "followers", GroupMember: "key"}`. Activities are read from their authors; those
    of authors with the flag `push` are copied by the stream. Follows, unfollows and activities are
    ordinary writes of those entities.
    """

    def __init__(
        self,
        name: str,
        *,
        activity: type[Entity],
        edge: type[Entity] | Mapping[type[Entity], str],
        item: type[I],
        push: Flag | None = None,
        cap: int = 1000,
        ttl: timedelta = timedelta(days=30),
    ) -> None:
        self.name, self.activity, self.item = name, activity, item
        self.push, self.cap, self.ttl = push, cap, ttl
        self.place = caller()
        with declared_at(self.place, f"feed {name}"):
            self.source_field = self._only(activity, "partition")
            self.reader_field = self._only(item, "partition")
            self.edges = edges.declare(edge)
            self.time_field = self._time_field()
            self.copied = tuple(f for f in item.__spec__.fields if f in activity.__spec__.fields)
            self._check()
        self.design = item.__table__.design
        self.job: Any = jobs.declare(name, item.__table__) if push is not None else None
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

    def ends(self, edge: Entity) -> tuple[str, str]:
        """The reader and the source of an edge."""
        declared = self.edges[type(edge)]
        return getattr(edge, declared.reader), getattr(edge, declared.source)

    @property
    def prefix(self) -> str:
        """The common prefix of all positions."""
        sort = self.activity.__spec__.key.templates.sort
        assert sort is not None, "checked when declared"
        return sort.literal_prefix

    def at(self, time: datetime) -> str:
        """The position of a moment: before all activities of then and later."""
        sort = self.activity.__spec__.key.attributes[1].template
        return sort.render_prefix({self.time_field: time}, owner=self.name)

    def oldest(self, now: datetime) -> str:
        """The position before which nothing is shown."""
        return self.at(now - self.ttl)

    def boundary(self, flagged: datetime, followed: datetime) -> str:
        """The position from which on a reader's copies of a source are complete."""
        return self.at(max(flagged, followed) + MARGIN)

    def position(self, activity: Entity) -> str:
        """An activity's position in time: the text of its sort key."""
        key: Key = activity.__spec__.key
        return key.attributes[1].render(activity.__dict__, owner=activity.__spec__.name)["S"]

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
            _refuse(
                f"the sort key of {self.activity.__name__} does not begin with a time.",
                'Declare it as Key("ACTIVITY#{actor_id}", "TS#{created_at:iso}#{activity_id}").',
            )
        return sort.fields[0]

    def _only(self, entity: type[Entity], part: str) -> str:
        template = getattr(entity.__spec__.key.templates, part)
        if template is None or len(template.fields) != 1:
            _refuse(
                f"the {part} key of {entity.__name__} must have one field.",
                "A feed needs to know which field is the source and which the reader.",
            )
        found: str = template.fields[0]
        return found

    def _check(self) -> None:
        activity, item = self.activity.__spec__, self.item.__spec__
        ours, theirs = item.key.templates.sort, activity.key.templates.sort
        if ours is None or theirs is None or ours.text != theirs.text:
            _refuse(
                f"{item.name} is sorted by {ours}, {activity.name} by {theirs}.",
                "Give both the same sort template, so that they have the same order.",
            )
        if theirs is None or not theirs.literal_prefix:
            _refuse(
                f"{item.name} cannot be distinguished from what the feed stores beside it.",
                'Begin its sort key with a text of its own: "TS#{created_at:iso}#{activity_id}".',
            )
        if self.source_field not in self.copied:
            _refuse(
                f"{item.name} has no field for its source.",
                f"Give it the field {self.source_field} of {activity.name}.",
            )
        if item.ttl is None:
            _refuse(
                f"{item.name} never expires.",
                "Give it a field Annotated[Timestamp | None, Ttl()] = None.",
            )
        self._check_limits()

    def _check_limits(self) -> None:
        if type(self.cap) is not int or self.cap < 1:
            _refuse(f"cap must be at least 1, not {self.cap!r}.", "Give cap=1000.")
        if self.ttl <= timedelta(0):
            _refuse(f"ttl must be greater than 0, not {self.ttl}.", "Give ttl=timedelta(days=30).")
        if self.push is not None:
            if self.push.fault is not None:
                _refuse(*self.push.fault)
            for edge in self.edges.values():
                if not edge.since:
                    _refuse(
                        f"{edge.entity.__name__} does not say since when somebody follows.",
                        "Give it created_at: Annotated[Timestamp | None, Created()] = None.",
                    )


def _refuse(message: str, suggestion: str) -> NoReturn:
    refuse(codes.MARKER_MISUSED, message, suggestion)
