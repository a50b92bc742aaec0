"""Writes of the short way, in steps: reading the request needs no file, `prepare` only reads the
file, and `store` only runs SQL, so that nothing is half done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from keyfold_engine.engine import capacity, indexes, streams, transactions
from keyfold_engine.engine.capacity import Capacity
from keyfold_engine.engine.direct.table import DirectTable, Entry
from keyfold_engine.engine.lane import SHORT_BYTES
from keyfold_engine.engine.storage import Session, StoredItem
from keyfold_engine.expressions.projection import project
from keyfold_engine.limits import ITEM_BYTES, TRANSACTION_BYTES
from keyfold_engine.values import Item
from keyfold_engine.values.normal import NormalItem, at_sight
from keyfold_engine.values.units import write_units

if TYPE_CHECKING:
    from keyfold_engine.engine.catalog import Catalog
    from keyfold_engine.engine.database import Database
    from keyfold_engine.expressions.evaluate import Test, Values
    from keyfold_engine.expressions.update import UpdatePlan

EMPTY: Final = b"{}"


class DirectCheck:
    """A condition on one item."""

    __slots__ = ("is_priced", "place", "size", "stored", "table", "test")

    def __init__(self, table: DirectTable, place: bytes, test: Test | None) -> None:
        self.table, self.place, self.test = table, place, test
        self.stored: StoredItem | None = None
        self.size = 0
        """The size of the item after the write."""
        self.is_priced = False
        """Whether the answer says what it consumes, so that it needs the old item."""

    def is_current(self, catalog: Catalog) -> bool:
        """Whether its table is still the one that it was read for."""
        definition = self.table.definition
        return catalog.cached(definition.name) is definition

    def prepare(self, session: Session) -> bool:
        """Read the old item and compute the new one; returns whether it can be done here."""
        stored = self.stored = session.find(self.table.id, self.place)
        old: Item | None = None
        if stored is not None:
            if len(stored.body) > SHORT_BYTES:
                return False
            old = orjson.loads(stored.body)
        # If the condition fails, the general way knows what to tell.
        return (self.test is None or self.test(old or {})) and self.change(old)

    def change(self, old: Item | None) -> bool:  # noqa: ARG002
        return True

    def largest(self) -> tuple[str, int]:
        """The table, and the larger of the sizes before and after."""
        before = 0 if self.stored is None else self.stored.size
        return self.table.definition.name, max(before, self.size)

    def price(self) -> None:
        self.is_priced = True

    def capacity(self) -> Capacity:
        """What it consumes, once it is prepared."""
        name, size = self.largest()
        return Capacity(name, write_units(size))

    def consumed(self, detail: str) -> Any:
        return self.capacity().answer(detail)

    def store(self, database: Database, session: Session) -> bytes:  # noqa: ARG002
        """Write; returns the answer."""
        return EMPTY


class DirectWrite(DirectCheck):
    """A write of one item."""

    __slots__ = ("body", "is_change", "item", "moves", "returns")

    def __init__(
        self, table: DirectTable, place: bytes, test: Test | None, item: Item, returns: str
    ) -> None:
        super().__init__(table, place, test)
        self.item, self.returns = item, returns
        """The item, or its key until it is known."""
        self.body: bytes | None = None
        self.is_change = True
        self.moves: list[tuple[int, Entry | None, Entry | None]] = []

    def capacity(self) -> Capacity:
        found, stored = super().capacity(), self.stored
        if self.table.indexes:
            # An update changes the old item itself.
            old = None if stored is None else orjson.loads(stored.body)
            size, new = 0 if stored is None else stored.size, None if self.body is None else self
            for change in indexes.changes(self.table.definition, self.place, old, size, new):
                found.add_index(change.index, change.units())
        return found

    def move(
        self, before: Sequence[Entry | None] | None, after: Sequence[Entry | None] | None
    ) -> None:
        """Note which index entries change."""
        none = self.table.no_entries
        for index, old, new in zip(self.table.indexes, before or none, after or none, strict=True):
            if old != new:
                self.moves.append((index.number, old, new))

    def store(self, database: Database, session: Session) -> bytes:
        table, stored, body = self.table, self.stored, self.body
        row = 0 if stored is None else stored.row
        if body is None:
            session.delete(table.id, row)
        else:
            expires = None if table.expiry is None else table.expiry(self.item)
            if stored is not None:
                session.replace(table.id, row, self.size, expires, body)
            elif table.is_blind:
                session.put(table.id, self.place, self.size, expires, body)
            else:
                row = session.insert(table.id, self.place, self.size, expires, body)
        for number, before, after in self.moves:
            if before is not None and (after is None or before[0] != after[0]):
                session.delete_entry(table.id, number, before[0])
            if after is not None:
                session.insert_entry(table.id, number, *after, row)
        if table.has_stream and self.is_change:
            new = None if body is None else (self.size, body)
            streams.record(database, session, table.definition, self.place, self.item, stored, new)
        return self.answer()

    def answer(self) -> bytes:
        if self.returns == "NONE":
            return EMPTY
        if self.returns == "ALL_OLD":
            body = None if self.stored is None else self.stored.body
        else:
            body = self.body
        return EMPTY if body is None else b'{"Attributes":%b}' % body


class DirectPut(DirectWrite):
    """A put of a valid item, with its entries."""

    __slots__ = ("entries",)

    def __init__(
        self, table: DirectTable, place: bytes, test: Test | None, item: NormalItem, returns: str
    ) -> None:
        super().__init__(table, place, test, item, returns)
        self.size, self.body = item.size, orjson.dumps(item)
        self.entries = table.entries(item, place)

    def prepare(self, session: Session) -> bool:
        is_blind = self.table.is_blind and not self.is_priced
        if is_blind and self.test is None and self.returns == "NONE":
            return True
        return super().prepare(session)

    def change(self, old: Item | None) -> bool:
        table, item = self.table, self.item
        if old is None:
            self.move(None, self.entries)
            return True
        if table.indexes and not table.keeps_entries(old, item):
            self.move(table.entries(old, self.place), self.entries)
        self.is_change = not table.has_stream or old != item
        return True


class DirectDelete(DirectWrite):
    """A deletion."""

    __slots__ = ()

    def change(self, old: Item | None) -> bool:
        if old is None:
            return True
        self.item = old
        if self.table.indexes:
            self.move(self.table.entries(old, self.place), None)
        return True

    def store(self, database: Database, session: Session) -> bytes:
        return EMPTY if self.stored is None else super().store(database, session)


class DirectUpdate(DirectWrite):
    """An update of whole attributes that are no keys of the table."""

    __slots__ = ("plan", "values")

    plan: UpdatePlan
    values: Values

    def change(self, old: Item | None) -> bool:
        table, plan, stored = self.table, self.plan, self.stored
        before = None
        moves = old is None or table.has_parts or not plan.roots.isdisjoint(table.index_names)
        if old is None or stored is None:
            item = at_sight(self.item)
            if item is None or plan.only_takes_away:
                return False
            self.item, self.size = item, item.size
        else:
            self.item, self.size = old, stored.size
            if moves:
                before = table.entries(old, self.place)
        self.size += plan.edit(self.item, self.values)
        if moves:
            self.move(before, table.entries(self.item, self.place))
        self.body = orjson.dumps(self.item)
        self.is_change = stored is None or stored.body != self.body
        return self.size <= ITEM_BYTES

    def answer(self) -> bytes:
        if self.returns == "UPDATED_NEW":
            found = project(self.plan.paths, self.item)
            return b'{"Attributes":%b}' % orjson.dumps(found) if found else EMPTY
        return super().answer()


class DirectBatch:
    """The writes of a batch."""

    __slots__ = ("_writes",)

    transacted = False

    def __init__(self, writes: Sequence[DirectCheck]) -> None:
        self._writes = writes

    def is_current(self, catalog: Catalog) -> bool:
        return all(each.is_current(catalog) for each in self._writes)

    def prepare(self, session: Session) -> bool:
        return all(each.prepare(session) for each in self._writes)

    def price(self) -> None:
        for each in self._writes:
            each.price()

    def consumed(self, detail: str) -> Any:
        consumed = (each.capacity() for each in self._writes)
        return capacity.of_writes(consumed, detail, transacted=self.transacted)

    def store(self, database: Database, session: Session) -> bytes:
        for each in self._writes:
            each.store(database, session)
        return b'{"UnprocessedItems":{}}'


class DirectTransaction(DirectBatch):
    """The writes of a transaction."""

    __slots__ = ("_digest", "_token")

    transacted = True

    def __init__(self, writes: Sequence[DirectCheck], token: str = "", digest: bytes = b"") -> None:
        super().__init__(writes)
        self._token, self._digest = token, digest

    def prepare(self, session: Session) -> bool:
        if self._token and session.token(self._token) is not None:
            return False
        return (
            super().prepare(session)
            and sum([each.size for each in self._writes]) <= TRANSACTION_BYTES
        )

    def store(self, database: Database, session: Session) -> bytes:
        super().store(database, session)
        if self._token:
            cost = transactions.replay_cost([each.largest() for each in self._writes])
            transactions.remember(database, session, self._token, self._digest, cost)
        return EMPTY


class Priced:
    """A write whose answer says what it consumes."""

    __slots__ = ("_consumed", "_detail", "_work")

    def __init__(self, work: DirectCheck | DirectBatch, detail: str) -> None:
        self._work, self._detail = work, detail
        self._consumed = b""
        work.price()

    def is_current(self, catalog: Catalog) -> bool:
        return self._work.is_current(catalog)

    def prepare(self, session: Session) -> bool:
        if not self._work.prepare(session):
            return False
        self._consumed = orjson.dumps(self._work.consumed(self._detail))
        return True

    def store(self, database: Database, session: Session) -> bytes:
        return with_capacity(self._work.store(database, session), self._consumed)


def with_capacity(answer: bytes, consumed: bytes) -> bytes:
    """An answer that also says what it consumed."""
    before = answer[:-1] + b"," if answer != EMPTY else answer[:-1]
    return b'%b"ConsumedCapacity":%b}' % (before, consumed)
