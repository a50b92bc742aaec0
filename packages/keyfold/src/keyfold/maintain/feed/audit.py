"""A scan's findings about a feed, stored on disk, and which copies seem wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import apsw
import orjson

from keyfold.design.entity import Entity

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

Row = tuple[Any, ...]


class Audit:
    """The items of one feed, as a scan finds them in any order, in a file that SQLite removes."""

    def __init__(self, feed: Feed[Any], oldest: str) -> None:
        self.feed, self._oldest = feed, oldest
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

    def doubtful_copies(self) -> Iterator[tuple[str, str, str]]:
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
