"""A scan's findings about a feed, stored on disk, and what seems wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import apsw
import orjson

from keyfold.design.entity import Entity
from keyfold.design.template import HIGHEST
from keyfold.maintain.feed.removed_list import name_of
from keyfold.runtime.context import Context

if TYPE_CHECKING:
    from keyfold.maintain.feed.declaration import Feed

_PAIRS: Final = "(reader TEXT, source TEXT, PRIMARY KEY (reader, source)) WITHOUT ROWID"
_SCHEMA: Final = f"""
CREATE TABLE edges {_PAIRS};
CREATE TABLE marks (reader TEXT, source TEXT, since TEXT,
                    PRIMARY KEY (reader, source)) WITHOUT ROWID;
CREATE TABLE subscriptions {_PAIRS};
CREATE TABLE removed (post TEXT, replica INTEGER, PRIMARY KEY (post, replica)) WITHOUT ROWID;
CREATE TABLE activities (source TEXT, position TEXT, digest BLOB,
                         PRIMARY KEY (source, position)) WITHOUT ROWID;
CREATE TABLE copies (reader TEXT, position TEXT, source TEXT, digest BLOB,
                     PRIMARY KEY (reader, position)) WITHOUT ROWID;
"""
_LISTED: Final = """
EXISTS (SELECT 1 FROM subscriptions s WHERE s.reader = e.reader AND s.source = e.source)
"""
_HIDDEN: Final = "m.reader = {0}.reader AND m.source = {0}.source AND m.since > {1}.position"
_MISSING: Final = f"""
SELECT e.reader, e.source, a.position FROM edges e JOIN activities a USING (source)
LEFT JOIN copies c ON c.reader = e.reader AND c.position = a.position
WHERE c.digest IS NOT a.digest AND {_LISTED}
AND NOT EXISTS (SELECT 1 FROM marks m WHERE {_HIDDEN.format("e", "a")})
"""
_EXTRA: Final = f"""
SELECT c.reader, c.source, c.position FROM copies c
WHERE NOT EXISTS (SELECT 1 FROM marks m WHERE {_HIDDEN.format("c", "c")})
AND NOT EXISTS (SELECT 1 FROM removed r WHERE r.post = name_of(c.source, c.position))
AND NOT EXISTS (SELECT 1 FROM edges e JOIN activities a USING (source)
    WHERE e.reader = c.reader AND e.source = c.source AND a.position = c.position)
"""
# Copies without a subscription, so that no new ones follow: the mark "push" does not help then.
_UNMARKED: Final = f"""
SELECT e.reader, e.source FROM edges e WHERE NOT {_LISTED}
AND NOT EXISTS (SELECT 1 FROM marks m
    WHERE m.reader = e.reader AND m.source = e.source AND m.since = :all)
"""
_UNEVEN: Final = """
SELECT post, MAX(replica) + 1 AS seen FROM removed GROUP BY post
HAVING COUNT(*) != :replicas OR seen > :replicas
"""
_WAITING: Final = 4_000

Row = tuple[Any, ...]


class ScannedRows:
    """A scan's rows, in any order, in a temporary file that SQLite removes."""

    def __init__(self, schema: str) -> None:
        self.database = apsw.Connection("")
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            self.database.execute(f"PRAGMA {pragma}").fetchall()
        self.database.execute(schema)
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0

    def add(self, table: str, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)
        self._waiting += 1
        if self._waiting >= _WAITING:
            self._flush()

    def select(self, query: str, given: Mapping[str, Any] | None = None) -> Iterator[Row]:
        self._flush()
        yield from self.database.execute(query, given or {})

    def close(self) -> None:
        self.database.close()

    def _flush(self) -> None:
        with self.database:
            for table, rows in self._rows.items():
                places = ", ".join("?" * len(rows[0]))
                self.database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)
        self._rows, self._waiting = {}, 0


class Audit:
    """The items of one feed, as a scan finds them in any order."""

    def __init__(self, context: Context, feed: Feed[Any]) -> None:
        self.feed = feed
        self._now = context.clock.now()
        self._oldest = feed.oldest(context.now())
        self._scanned = ScannedRows(_SCHEMA)
        self._scanned.database.create_scalar_function(
            "name_of", lambda *place: name_of(*map(str, place)), 2, deterministic=True
        )
        self._notes: dict[type[Entity], Callable[[Any], None]] = {
            feed.activity: self._note_activity,
            feed.item: self._note_copy,
            feed.support.source: self._note_mark,
            feed.support.subscription: self._note_subscription,
            feed.support.removed: self._note_removed,
            **dict.fromkeys(feed.edges, self._note_edge),
        }

    def close(self) -> None:
        self._scanned.close()

    def note(self, entity: Entity) -> None:
        noted = self._notes.get(type(entity))
        if noted is not None:
            noted(entity)

    def doubtful_copies(self) -> Iterator[tuple[str, str, str]]:
        """Reader, source and position of missing, wrong or superfluous copies."""
        yield from self._scanned.select(_MISSING)
        yield from self._scanned.select(_EXTRA)

    def unmarked(self) -> Iterator[tuple[str, str]]:
        """Readers and sources without copies who do not pull either."""
        yield from self._scanned.select(_UNMARKED, {"all": HIGHEST})

    def differing_removals(self) -> Iterator[tuple[str, int]]:
        """Entries that differ between replicas of the removed list, and how many to check."""
        replicas = self.feed.removed.replicas if self.feed.removed else 0
        for post, seen in self._scanned.select(_UNEVEN, {"replicas": replicas}):
            yield post, max(seen, replicas)

    def _note_edge(self, edge: Entity) -> None:
        self._scanned.add("edges", self.feed.ends(edge))

    def _note_mark(self, mark: Any) -> None:
        if mark.expires_at is None or mark.expires_at.timestamp() > self._now:
            since = mark.since if mark.state == "push" else HIGHEST
            self._scanned.add("marks", (getattr(mark, self.feed.reader_field), mark.source, since))

    def _note_subscription(self, one: Any) -> None:
        self._scanned.add("subscriptions", (getattr(one, self.feed.reader_field), one.source))

    def _note_removed(self, entry: Any) -> None:
        if entry.expires_at is None or entry.expires_at.timestamp() > self._now:
            self._scanned.add("removed", (entry.post, entry.replica))

    def _note_activity(self, activity: Entity) -> None:
        position = self.feed.position(activity)
        if position >= self._oldest:
            source = getattr(activity, self.feed.source_field)
            # A copy's content does not depend on its reader.
            shown = self._digest(self.feed.copy(activity, source))
            self._scanned.add("activities", (source, position, shown))

    def _note_copy(self, copy: Entity) -> None:
        position = self.feed.position(copy)
        if position >= self._oldest:
            reader, source = (
                getattr(copy, field) for field in (self.feed.reader_field, self.feed.source_field)
            )
            self._scanned.add("copies", (reader, position, source, self._digest(copy)))

    def _digest(self, copy: Entity) -> bytes:
        attributes = copy.__spec__.attributes_of(copy.__dict__)
        attributes.pop(copy.__spec__.fields[self.feed.reader_field].attribute, None)
        text = orjson.dumps(attributes, option=orjson.OPT_SORT_KEYS)
        return blake2b(text, digest_size=16).digest()
