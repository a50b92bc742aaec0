"""The one read path of Query and Scan: a range of places, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import merge
from typing import Any, Final

import orjson

from keyfold_engine.engine import indexes
from keyfold_engine.engine.capacity import Capacity
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.lane import check, here
from keyfold_engine.engine.storage import Row, Session
from keyfold_engine.engine.tables import (
    IndexDefinition,
    TableDefinition,
    after,
    component,
    component_prefix,
)
from keyfold_engine.expressions.keys import KeySelection
from keyfold_engine.limits import KB, PAGE_BYTES
from keyfold_engine.values import Item
from keyfold_engine.values.size import item_size
from keyfold_engine.values.units import read_units

SLICE_ROWS: Final = 500
SLICE_BYTES: Final = 128 * KB


@dataclass(slots=True)
class Reading:
    """What to read: a range of a table or index, and how to shape each item."""

    table: TableDefinition
    index: IndexDefinition | None
    first: bytes
    end: bytes
    backward: bool = False
    limit: int | None = None
    matches: Callable[[Item], bool] | None = None
    # Shapes the answer's item from the stored one; None returns the stored bytes.
    shape: Callable[[Item], Item] | None = None
    counts_only: bool = False
    # Whether an index read also fetches the whole item from the table.
    fetches: bool = False


@dataclass(slots=True)
class ResultPage:
    """One page of an answer; `last` is the item to continue after, if there may be more."""

    items: list[Any] = field(default_factory=list)
    # The stored bytes of whole items, if they go into the answer unchanged.
    bodies: list[bytes] | None = None
    count: int = 0
    scanned: int = 0
    size: int = 0
    fetched: list[int] = field(default_factory=list)
    last: Item | None = None

    def listed(self) -> list[Any]:
        """The items, one by one."""
        return self.items if self.bodies is None else list(map(orjson.Fragment, self.bodies))

    def capacity(self, reading: Reading, *, consistent: bool) -> Capacity:
        units = read_units(self.size, consistent=consistent)
        if reading.index is None:
            return Capacity(reading.table.name, units)
        consumed = Capacity(reading.table.name)
        consumed.add_index(reading.index, units)
        consumed.table = sum(read_units(size, consistent=consistent) for size in self.fetched)
        return consumed


def read_page(database: Database, session: Session, reading: Reading) -> ResultPage:
    """Read until the range ends, the limit is reached or a megabyte has been read.

    A long page is read in slices, between which others may use the session. Like a page of DynamoDB
    it shows each item as committed, but not all of them at one moment.
    """
    past: dict[bytes, bytes | None] = {}
    if reading.index is not None and not reading.index.is_local:
        past = database.lag.past(reading.table)
    if reading.matches is None and reading.shape is None and not (reading.fetches or past):
        return _read_bodies(database, session, reading)
    page = ResultPage()
    last: bytes | None = None
    part = reading
    while last is None:
        found = _slice(session, part, past, reading.limit, page)
        database.commits.lend(session)
        try:
            last = _take(page, reading, found)
        finally:
            database.commits.take_again(session)
        if len(found) < SLICE_ROWS and sum(row[1] for row in found) < SLICE_BYTES:
            break
        part = _rest_after(part, found[-1][0])
    page.count = len(page.items)
    if last is not None:
        page.last = last_key(reading.table, reading.index, orjson.loads(last))
    if reading.counts_only:
        page.items = []
    return page


def _slice(
    session: Session,
    part: Reading,
    past: dict[bytes, bytes | None],
    limit: int | None,
    page: ResultPage,
) -> list[Row]:
    """The next rows of a page."""
    most = SLICE_ROWS if limit is None else min(SLICE_ROWS, limit - page.scanned)
    found: list[Row] = []
    size = 0
    rows = _rows(session, part, past)
    try:
        for row in rows:
            found.append(row)
            size += row[1]
            if len(found) == most or size >= SLICE_BYTES:
                break
    finally:
        _close(rows)
    return found


def _take(page: ResultPage, reading: Reading, found: list[Row]) -> bytes | None:
    """Add the items of the rows; returns the last body if it ends the page."""
    items, matches, shape = page.items, reading.matches, reading.shape
    size, scanned = page.size, page.scanned
    checked = here.lane
    last = None
    for _place, row_size, body, whole_size in found:
        if checked is not None:
            checked.check(len(body))
        scanned += 1
        size += row_size
        if reading.fetches:
            page.fetched.append(whole_size)
        item = orjson.loads(body)
        if matches is None or matches(item):
            items.append(orjson.Fragment(body) if shape is None else shape(item))
        if scanned == reading.limit or size >= PAGE_BYTES:
            last = body
            break
    page.size, page.scanned = size, scanned
    return last


def _rest_after(reading: Reading, place: bytes) -> Reading:
    """The rest of the range after a place."""
    if reading.backward:
        return replace(reading, end=place)
    return replace(reading, first=place + b"\0")


def _read_bodies(database: Database, session: Session, reading: Reading) -> ResultPage:
    """A page of whole items, whose bytes go into the answer unchanged."""
    table, index, limit = reading.table, reading.index, reading.limit or -1
    part = reading
    bodies: list[bytes] = []
    total = 0
    while True:
        left = limit - len(bodies)
        most = left if 0 <= left < SLICE_ROWS else SLICE_ROWS
        before = len(bodies)
        number = None if index is None else index.number
        for body, size in session.bodies(
            table.id, number, part.first, part.end, most, backward=part.backward
        ):
            bodies.append(body)
            total += size
            if total >= PAGE_BYTES:
                break
        count = len(bodies)
        if count - before < most or count == limit or total >= PAGE_BYTES:
            break
        check()
        database.commits.yield_session(session)
        key = last_key(table, index, orjson.loads(bodies[-1]))
        part = _rest_after(part, place_of(table, index, key))
    page = ResultPage(count=count, scanned=count, size=total)
    if count == limit or total >= PAGE_BYTES:
        page.last = last_key(table, index, orjson.loads(bodies[-1]))
    if not reading.counts_only:
        page.bodies = bodies
    return page


def last_key(table: TableDefinition, index: IndexDefinition | None, item: Item) -> Item:
    """The LastEvaluatedKey of an item."""
    key = table.schema.key_of(item)
    return key if index is None else {**index.schema.key_of(item), **key}


def place_of(table: TableDefinition, index: IndexDefinition | None, key: Item) -> bytes:
    """The place of a LastEvaluatedKey."""
    place = table.schema.place(key)
    return place if index is None else index.schema.place(key) + place


def key_range(selection: KeySelection, partition_place: bytes) -> tuple[bytes, bytes]:
    """The places that a key condition selects."""
    prefix = partition_place + b"".join(component(value) for value in selection.sort_equal)
    term = selection.range
    if term is None:
        return prefix, after(prefix)
    value = prefix + component(term.values[0])
    match term.operator:
        case "<":
            return prefix, value
        case "<=":
            return prefix, after(value)
        case ">":
            return after(value), after(prefix)
        case ">=":
            return value, after(prefix)
        case "BETWEEN":
            return value, after(prefix + component(term.values[1]))
        case _:
            beginning = prefix + component_prefix(term.values[0])
            return beginning, after(beginning)


def _rows(session: Session, reading: Reading, past: dict[bytes, bytes | None]) -> Iterator[Row]:
    index = reading.index
    number = None if index is None else index.number
    rows = session.rows(
        reading.table.id, number, reading.first, reading.end, backward=reading.backward
    )
    return _as_of(rows, past, reading, index) if past and index is not None else rows


def _as_of(
    rows: Iterator[Row], past: dict[bytes, bytes | None], reading: Reading, index: IndexDefinition
) -> Iterator[Row]:
    """The rows, with the old state of items whose change has not reached the index."""
    # An entry's place ends with its item's place.
    endings = {len(place) for place in past}

    def is_current(row: Row) -> bool:
        return not any(row[0][-length:] in past for length in endings)

    old: list[Row] = []
    for place, body in past.items():
        if body is None:
            continue
        item = orjson.loads(body)
        size = item_size(item)
        entry = indexes.entry(index, place, item, size)
        if entry is not None and reading.first <= entry.place < reading.end:
            old.append(Row(entry.place, entry.size, body, size))
    old.sort(key=lambda row: row.place, reverse=reading.backward)
    current = (row for row in rows if is_current(row))
    return merge(current, old, key=lambda row: row[0], reverse=reading.backward)


def _close(rows: Iterator[Any]) -> None:
    close = getattr(rows, "close", None)
    if close is not None:
        close()
