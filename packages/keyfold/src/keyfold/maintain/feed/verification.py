"""Verifies the copies of a feed against its activities, follows and flags, and repairs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import apsw
import orjson

from keyfold.design.address import Ref
from keyfold.design.entity import Entity
from keyfold.errors import Undecodable
from keyfold.maintain.address import WireRef, raw
from keyfold.maintain.drift import Drift, differences
from keyfold.maintain.feed.fan_out import is_copied
from keyfold.maintain.feed.page import boundaries
from keyfold.maintain.reconcile import unchanged_check
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Flow
from keyfold.runtime.intent import Check, Delete, Put
from keyfold.runtime.writes import commit

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

_SCHEMA: Final = """
CREATE TABLE edges (reader TEXT, source TEXT, since TEXT);
CREATE TABLE flags (source TEXT PRIMARY KEY, since TEXT) WITHOUT ROWID;
CREATE TABLE activities (source TEXT, position TEXT, digest BLOB,
                         PRIMARY KEY (source, position)) WITHOUT ROWID;
CREATE TABLE copies (reader TEXT, position TEXT, source TEXT, digest BLOB,
                     PRIMARY KEY (reader, position)) WITHOUT ROWID;
"""
# A copy counts from the later of the flag and the follow; what is older is not looked at.
_DOUBTFUL: Final = """
SELECT e.reader, e.source, a.position FROM edges e JOIN flags f USING (source)
JOIN activities a ON a.source = e.source AND a.position >= MAX(e.since, f.since)
LEFT JOIN copies c ON c.reader = e.reader AND c.position = a.position
WHERE c.digest IS NOT a.digest
UNION
SELECT c.reader, c.source, c.position FROM copies c
JOIN edges e ON e.reader = c.reader AND e.source = c.source
JOIN flags f ON f.source = c.source
LEFT JOIN activities a ON a.source = c.source AND a.position = c.position
WHERE c.position >= MAX(e.since, f.since) AND a.digest IS NULL
"""
_WAITING: Final = 4_000

Item = dict[str, Any]
Row = tuple[Any, ...]


class Verifying:
    """The items of one feed, as a scan finds them in any order, in a file that SQLite removes."""

    def __init__(self, context: Context, feed: Feed[Any], label: str) -> None:
        self.feed, self._label, self._oldest = feed, label, feed.oldest(context.now())
        self._database = apsw.Connection("")
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            self._database.execute(f"PRAGMA {pragma}").fetchall()
        self._database.execute(_SCHEMA)
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
        self._notes: dict[type[Entity], Callable[[Any], None]] = {}
        if feed.push is not None:
            self._notes = {
                feed.activity: self._note_activity,
                feed.item: self._note_copy,
                feed.push.entity: self._note_flag,
                **dict.fromkeys(feed.edges, self._note_edge),
            }

    def close(self) -> None:
        self._database.close()

    def note(self, entity: Entity) -> None:
        noted = self._notes.get(type(entity))
        if noted is not None:
            noted(entity)

    def wrong(self, context: Context, found: Callable[[Drift], Flow[None]]) -> Flow[None]:
        """Report what is still wrong: suspects are checked again."""
        feed, table = self.feed, self.feed.item.__table__.name
        for reader, source, position in self._doubtful_copies():
            try:
                copy = yield from _look(context, feed, reader, source, position)
            except Undecodable:
                continue  # It is reported itself.
            if copy is not None:
                expected, there = differences(copy.wanted, copy.found)
                pair = Ref(feed.item, {feed.reader_field: reader, feed.source_field: source})
                yield from found(Drift("feed", self._label, table, copy.key, expected, there, pair))

    def _doubtful_copies(self) -> Iterator[tuple[str, str, str]]:
        """Reader, source and position of missing, wrong or superfluous copies."""
        self._flush()
        yield from self._database.execute(_DOUBTFUL)

    def _add(self, table: str, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)
        self._waiting += 1
        if self._waiting >= _WAITING:
            self._flush()

    def _flush(self) -> None:
        with self._database:
            for table, rows in self._rows.items():
                places = ", ".join("?" * len(rows[0]))
                statement = f"INSERT OR REPLACE INTO {table} VALUES ({places})"
                self._database.executemany(statement, rows)
        self._rows, self._waiting = {}, 0

    def _note_edge(self, edge: Entity) -> None:
        since = self.feed.edges[type(edge)].time_of(edge)
        if since is not None:
            self._add("edges", (*self.feed.ends(edge), self.feed.boundary(since, since)))

    def _note_flag(self, flag: Entity) -> None:
        assert self.feed.push is not None, "noted only where one is declared"
        since = self.feed.push.since_when(flag)
        if since is not None:
            [author] = flag.__spec__.key.address
            self._add("flags", (getattr(flag, author), self.feed.boundary(since, since)))

    def _note_activity(self, activity: Entity) -> None:
        position = self.feed.position(activity)
        if position >= self._oldest:
            source = getattr(activity, self.feed.source_field)
            # A copy's content does not depend on its reader.
            shown = self._digest(self.feed.copy(activity, source))
            self._add("activities", (source, position, shown))

    def _note_copy(self, copy: Entity) -> None:
        position = self.feed.position(copy)
        if position >= self._oldest:
            reader, source = (
                getattr(copy, field) for field in (self.feed.reader_field, self.feed.source_field)
            )
            self._add("copies", (reader, position, source, self._digest(copy)))

    def _digest(self, copy: Entity) -> bytes:
        attributes = copy.__spec__.attributes_of(copy.__dict__)
        attributes.pop(copy.__spec__.fields[self.feed.reader_field].attribute, None)
        text = orjson.dumps(attributes, option=orjson.OPT_SORT_KEYS)
        return blake2b(text, digest_size=16).digest()


def fix(context: Context, feed: Feed[Any], drift: Drift) -> Flow[None]:
    """Repair one drift, based on the current state."""
    assert drift.subject is not None, "a feed's drift knows its reader and source"
    reader, source = (drift.subject.values[f] for f in (feed.reader_field, feed.source_field))
    position = drift.key[feed.item.__spec__.key.attributes[1].attribute]["S"]
    copy = yield from _look(context, feed, reader, source, position)
    if copy is None:
        return
    if copy.wanted is not None:
        activity = _activity_ref(feed, copy.wanted)
        yield from commit(context, [Put(copy.wanted, absent=False), Check(activity)])
    elif copy.found is not None:
        gone = unchanged_check(_activity_ref(feed, copy.found), None, frozenset())
        yield from commit(context, [Delete(copy.found.ref()), gone])


@dataclass(frozen=True)
class _WrongCopy:
    """A copy, expected and found."""

    key: Item
    wanted: Entity | None
    found: Entity | None


def _look(
    context: Context, feed: Feed[Any], reader: str, source: str, position: str
) -> Flow[_WrongCopy | None]:
    """What is wrong now with a copy that a reader sees; None if nothing is."""
    if not (yield from is_copied(context, feed, source, position)):
        return None
    since = {}
    for edge in feed.edges.values():
        item = yield from raw(context, edge.ref(reader, source))
        if item is not None:
            since[source] = edge.time_of(edge.entity.__spec__.decode(item))
    boundary = (yield from boundaries(context, feed, since)).get(source)
    if boundary is None or position < boundary:
        return None
    partition, sort = feed.activity.__spec__.key.attributes
    rendered = partition.render({feed.source_field: source}, owner=feed.name)
    origin = {partition.attribute: rendered, sort.attribute: {"S": position}}
    key = feed.copy_key(reader, position)
    activity = yield from _decoded(context, feed.activity, origin)
    wanted = None if activity is None else feed.copy(activity, reader)
    found = yield from _decoded(context, feed.item, key)
    return None if wanted == found else _WrongCopy(key, wanted, found)


def _decoded(context: Context, entity: type[Entity], key: Item) -> Flow[Entity | None]:
    item = yield from raw(context, WireRef(entity, key))
    return None if item is None else entity.__spec__.decode(item)


def _activity_ref(feed: Feed[Any], copy: Entity) -> Ref[Any]:
    """A copy has the source and the sort key of its activity."""
    fields = feed.activity.__spec__.key.address
    return Ref(feed.activity, {field: getattr(copy, field) for field in fields})
