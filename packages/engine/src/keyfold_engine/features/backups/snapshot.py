"""A table at one moment, read in parts, so that others wait for one part at most.

For a file, a snapshot is a read transaction. In memory all share one connection: it is taken for
one part at a time, and until the snapshot ends, writes save what they replace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from keyfold_engine.engine import leftovers
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import RecoveryUnavailable, TableNotFound
from keyfold_engine.features.backups import copies as backups
from keyfold_engine.features.backups import storage

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database

# Items may be large.
_ROWS_PER_PART = 20

T = TypeVar("T")
C = TypeVar("C")
Find = Callable[[Session], TableDefinition]
Part = Callable[[Session, C], tuple[list[T], C | None]]
"""The next results after a place, and where to continue."""
Place = tuple[float, int]
"""A position in the history: time and sequence."""
Changed = tuple[bytes, float, bytes | None]
"""An item that changed in a window: place, last change, body before the first."""


class ChangeInWindow(NamedTuple):
    """An item that changed in a window: its last change, and its bodies before and after."""

    at: float
    old: bytes | None
    new: bytes | None


class TableSnapshot:
    """Reads one table as it was when the snapshot began."""

    def __init__(
        self,
        database: Database,
        table: TableDefinition,
        session: Session | None,
        kept: int | None = None,
        last: int = storage.LAST_SEQUENCE,
    ) -> None:
        self.table = table
        self._database, self._session = database, session
        self._reads_history = False
        self.kept = kept
        """The number of the tree where writes keep what they replace."""
        self._last = last
        """The last change in the table's history that belongs to the snapshot."""

    def bodies(self) -> Iterator[bytes]:
        """The items, by place."""
        return (body for _, body in self._in_parts(self._items, b""))

    def bodies_at(self, moment: float) -> Iterator[bytes]:
        """The items in a past state: first those that still exist, then those deleted since."""
        since = nextafter(moment, inf)
        self._reads_history = True
        if next(self._in_parts(self._changed(since, inf), (since, -1)), None) is None:
            yield from self.bodies()
            return
        yield from self._in_parts(self._past_items(moment), b"")
        yield from self._in_parts(self._deleted(since), (since, -1))

    def changes(self, start: float, end: float) -> Iterator[ChangeInWindow]:
        """Each item that changed from `start` until before `end`, with its last change."""
        before_end = nextafter(end, 0.0)
        changed = self._changed(start, end)
        self._reads_history = True

        def part(session: Session, after: Place) -> tuple[list[ChangeInWindow], Place | None]:
            found, further = changed(session, after)
            return [
                ChangeInWindow(at, old, self._at(session, place, before_end))
                for place, at, old in found
            ], further

        return self._in_parts(part, (start, -1))

    def _in_parts(self, part: Part[C, T], start: C) -> Iterator[T]:
        """The results of all parts, each continuing after the one before."""
        after: C | None = start
        while after is not None:
            if self._session is not None:
                found, after = part(self._session, after)
            else:
                with self._database.read() as session:
                    self._check(session)
                    found, after = part(session, after)
            yield from found
            self._database.commits.let_writers_run()

    def _check(self, session: Session) -> None:
        """Refuse if the table or its history was dropped between two parts."""
        table, now = self.table, self._database.catalog.load(session, self.table.name)
        if now is None or now.definition["TableId"] != table.definition["TableId"]:
            raise TableNotFound(f"Table {table.name} was deleted while it was read")
        if self._reads_history and not backups.keeps_history(now):
            raise RecoveryUnavailable(
                f"Point in time recovery of table '{table.name}' was disabled while it was read"
            )

    def _items(
        self, session: Session, after: bytes
    ) -> tuple[list[tuple[bytes, bytes]], bytes | None]:
        """Place and body of the next items: saved ones take precedence over current ones."""
        rows = session.items_from(self.table.id, after, _ROWS_PER_PART)
        there: dict[bytes, bytes | None] = {place: body for place, _, body in rows}
        end = rows[-1][0] if len(rows) == _ROWS_PER_PART else None
        if self.kept is not None:
            kept = storage.kept_after(session, self.kept, after, _ROWS_PER_PART)
            if len(kept) == _ROWS_PER_PART:
                end = kept[-1][0] if end is None else min(end, kept[-1][0])
            there.update(kept)
        found = sorted(
            (place, body)
            for place, body in there.items()
            if body is not None and (end is None or place <= end)
        )
        return found, end

    def _past_items(self, moment: float) -> Part[bytes, bytes]:
        def part(session: Session, after: bytes) -> tuple[list[bytes], bytes | None]:
            rows, end = self._items(session, after)
            found: list[bytes] = []
            for place, body in rows:
                past = storage.past_item(session, self.table.id, moment, place, self._last)
                before = body if past is None else past[1]
                if before is not None:
                    found.append(before)
            return found, end

        return part

    def _deleted(self, since: float) -> Part[Place, bytes]:
        changed = self._changed(since, inf)

        def part(session: Session, after: Place) -> tuple[list[bytes], Place | None]:
            found, further = changed(session, after)
            return [
                old
                for place, _, old in found
                if old is not None and self._body(session, place) is None
            ], further

        return part

    def _changed(self, start: float, end: float) -> Part[Place, Changed]:
        def part(session: Session, after: Place) -> tuple[list[Changed], Place | None]:
            rows = storage.changed_between(
                session, self.table.id, start, end, after, self._last, _ROWS_PER_PART
            )
            found = [(place, at, old) for at, _, place, is_last, old in rows if is_last]
            return found, rows[-1][:2] if len(rows) == _ROWS_PER_PART else None

        return part

    def _at(self, session: Session, place: bytes, moment: float) -> bytes | None:
        past = storage.past_item(session, self.table.id, moment, place, self._last)
        return self._body(session, place) if past is None else past[1]

    def _body(self, session: Session, place: bytes) -> bytes | None:
        if self.kept is not None:
            kept = storage.saved_body(session, self.kept, place)
            if kept is not None:
                return kept[0]
        stored = session.find(self.table.id, place)
        return None if stored is None else stored.body


@contextmanager
def take(database: Database, find: Find) -> Iterator[TableSnapshot]:
    """A snapshot of the table that `find` returns."""
    if not database.commits.shares_connection:
        with database.snapshot() as session:
            yield TableSnapshot(database, find(session), session)
        return

    def begin(session: Session) -> TableSnapshot:
        table = find(session)
        number = backups.begin_to_keep(database, session, table)
        last = (
            storage.last_change(session, table.id)
            if backups.keeps_history(table)
            else storage.LAST_SEQUENCE
        )
        return TableSnapshot(database, table, None, number, last)

    snapshot = database.write(begin)
    try:
        yield snapshot
    finally:
        database.write(lambda session: _end(database, session, snapshot))
        leftovers.clear(database)


def _end(database: Database, session: Session, snapshot: TableSnapshot) -> None:
    assert snapshot.kept is not None
    storage.drop_backup(session, snapshot.kept)
    now = database.catalog.load(session, snapshot.table.name)
    if now is not None and snapshot.kept in backups.kept_by(now):
        backups.end_to_keep(database, session, now, snapshot.kept)
