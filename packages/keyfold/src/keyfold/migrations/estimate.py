"""Estimates a migration's reads and writes from a page of each table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any, Final

from keyfold.design.schema import Index
from keyfold.migrations.backend import Backend, Item
from keyfold.migrations.direction import Direction, Uncopyable
from keyfold.migrations.in_place import InPlace
from keyfold.migrations.migration import Migration
from keyfold.migrations.ownership import address_text
from keyfold.migrations.progress import Progress, duration
from keyfold.migrations.state import key_text
from keyfold.migrations.table_scan import PAGE
from keyfold.migrations.wire_equality import equal
from keyfold.prices import prices
from keyfold_engine.limits import BATCH_GET_ITEMS, READ_UNIT_BYTES, TRANSACTION_ITEMS
from keyfold_engine.values.size import item_size
from keyfold_engine.values.units import entry_units, read_units, write_units

LOOKED_AT: Final = PAGE
"""The number of items per table that the estimate reads."""
_TWICE: Final = 2
"""The cost factor of a transaction."""
_NOTE: Final = 2
"""Units of a write's undo record, and of the check that nothing changed."""


@dataclass
class JobEstimate:
    """A phase's work on the items of one table."""

    phase: str
    table: str
    items: int = 0
    bytes: int = 0
    written: int = 0
    requests: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    shared: list[str] = field(default_factory=list)
    """Sampled items that would become one, in words."""

    @property
    def cost(self) -> float:
        """Dollars, on demand."""
        asked = prices()
        return (self.read_units * asked.read + self.write_units * asked.write) / 1e6

    def seconds(self, rate: float) -> float:
        return self.items / rate

    def words(self) -> str:
        writes = f", {self.written:,} items written" if self.written else ""
        return (
            f"{self.phase} {self.table}: {self.items:,} items, {self.bytes:,} bytes{writes}; about "
            f"{self.requests:,} requests, {self.read_units:,.0f} read units, "
            f"{self.write_units:,.0f} write units, ${self.cost:,.2f}"
            + "".join(f"\n  {two}" for two in self.shared)
        )

    def as_data(self) -> dict[str, Any]:
        return {**asdict(self), "cost": self.cost}


@dataclass
class _Looked:
    """A page of a table, and what its items become."""

    items: int = 0
    bytes: int = 0
    outputs: int = 0
    output_bytes: int = 0
    output_blocks: float = 0.0
    write_units: float = 0.0
    transacted: int = 0
    shared: list[str] = field(default_factory=list)


def estimate(migration: Migration, backend: Backend) -> list[JobEstimate]:
    """The cost of backfill and verify, by phase and table. Writes nothing."""
    known = backend.with_names_of(migration.tables)
    keys = {table.name: table.key_attributes for table in migration.tables}
    for table in (migration.followed.keys() - keys.keys()) & _there(known, migration.followed):
        keys[table] = known.key_attributes(table)
    direction = Direction(
        known,
        migration.routes("new"),
        migration.rewrites("backfill"),
        created=frozenset(migration.created),
        _keys=keys,
    )
    return [work for table in direction.sources for work in _work(migration, direction, table)]


def _there(backend: Backend, tables: Iterable[str]) -> set[str]:
    return {table for table in tables if backend.describe(table) is not None}


def _work(migration: Migration, direction: Direction, table: str) -> Iterator[JobEstimate]:
    described = direction.backend.describe(table)
    if described is None:
        return
    items = int(described.get("ItemCount", 0))
    size = int(described.get("TableSizeBytes", 0))
    request = {"TableName": direction.backend.physical(table), "Limit": LOOKED_AT}
    looked = _look(migration, direction, table, direction.backend.call("Scan", request)["Items"])
    items = max(items, looked.items)
    size = max(size, looked.bytes)
    share = items / looked.items if looked.items else 0.0
    pages, outputs = ceil(items / PAGE), round(looked.outputs * share)
    scanned = size / READ_UNIT_BYTES
    yield JobEstimate(
        "backfill",
        table,
        items,
        size,
        outputs,
        pages * 2 + ceil(looked.transacted * share / TRANSACTION_ITEMS),
        scanned,
        looked.write_units * share,
        looked.shared,
    )
    moved = any(move.forward.source == table for move in migration.moves)
    back = outputs if moved else 0
    compared = looked.output_blocks * share
    yield JobEstimate(
        "verify",
        table,
        items,
        size,
        0,
        pages + ceil(outputs / BATCH_GET_ITEMS) + ceil(back / PAGE) + ceil(back / BATCH_GET_ITEMS),
        scanned
        + compared
        + (looked.output_bytes * share / READ_UNIT_BYTES + items if moved else 0),
    )


def _look(migration: Migration, direction: Direction, table: str, items: list[Item]) -> _Looked:
    found = _Looked(len(items), sum(map(item_size, items)))
    tables = {one.name: one for one in migration.tables}
    live = direction.backend.live(table)
    here = [] if live is None else [*live.indexes]
    here += [
        each.part
        for each in migration.changes
        if each.adds and each.table == table and isinstance(each.part, Index)
    ]
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for item in items:
        try:
            changed = InPlace(direction, table).apply(item)
            addressed = direction.outputs(table, item)
        except Uncopyable:
            continue  # verify reports it.
        outputs, source = addressed.values(), (table, key_text(direction.key_of(table, item)))
        for address, output in addressed.items():
            other = source if output.claim else first.setdefault(address, source)
            if other != source and output.moved:
                found.shared.append(
                    f"{address_text(other)} and {address_text(source)} would be one item"
                )
        if changed is None or not equal(changed, item):
            found.outputs += 1
            found.write_units += _TWICE * write_units(item_size(changed or item)) + _NOTE
            key = direction.key_of(table, item)
            found.write_units += sum(_index_units(one, key, item, changed) for one in here)
            found.transacted += TRANSACTION_ITEMS  # Each is written alone.
        for output in outputs:
            size = item_size(output.item)
            found.outputs += 1
            found.output_bytes += size
            found.output_blocks += read_units(size, consistent=True)
            found.write_units += _TWICE * write_units(size)
            made = tables.get(output.table)
            if made is not None:
                for index in made.indexes:
                    units = _index_units(index, made.key_attributes, None, output.item)
                    found.write_units += units
            stays = output.table not in migration.created
            found.write_units += _NOTE if stays else 0
            found.transacted += 2 if stays else 1
        if outputs:
            found.write_units += _NOTE
            found.transacted += 1
    return found


def _index_units(
    index: Index, key: Iterable[str], before: Item | None, after: Item | None
) -> float:
    """Units of an item's change for an index entry."""
    old, new = (index.entry(key, one) for one in (before, after))
    sizes = [None if one is None else item_size(one) for one in (old, new)]
    moved = old and new and any(old[name] != new[name] for name in index.key_attributes)
    return entry_units(*sizes, moved=bool(moved), changed=old != new)


def words_of(work: Iterable[JobEstimate], rate: float) -> Iterator[str]:
    """An estimate in lines; with a rate, including the duration of scans."""
    total = JobEstimate("all", "")
    for each in work:
        yield each.words()
        total.requests += each.requests
        total.read_units += each.read_units
        total.write_units += each.write_units
        total.items += each.items
    took = f", {duration(total.seconds(rate))} at {rate:,.0f} items a second" if rate else ""
    yield (
        f"in all: about {total.requests:,} requests, {total.read_units:,.0f} read units, "
        f"{total.write_units:,.0f} write units, ${total.cost:,.2f} on demand{took}"
    )


def compared(work: Iterable[JobEstimate], done: Mapping[str, Progress]) -> Iterator[str]:
    """Estimates beside actual figures, for the jobs of a run."""
    for each in work:
        took = done.get(f"{each.phase} {each.table}")
        if took is None:
            continue
        yield (
            f"{took.job}: {took.done:,} items (expected {each.items:,}), "
            f"{took.write_units:,.0f} write units (expected {each.write_units:,.0f}), "
            f"{_followed_words(took)}{duration(took.seconds)}"
        )


def _followed_words(took: Progress) -> str:
    if not took.followed_units:
        return ""
    part = f"{took.followed_units:,.0f} of them"
    share = "all" if took.followed_units == took.write_units else part
    return f"{share} for changes that the stream brought, "
