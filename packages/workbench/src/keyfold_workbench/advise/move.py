"""The one-time cost of changing the design, and its payback time."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.design.schema import EntitySchema, Index, Schema
from keyfold_workbench.cost.bill import Bill
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.workload import Workload

PAYS_WITHIN = 12.0
"""A data move must pay for itself within this many months."""
SAME = 0.005
"""Dollars per month below which two bills are equal."""


@dataclass(frozen=True)
class DataMove:
    """The items that must be rewritten, and the cost."""

    items: float = 0.0
    dollars: float = 0.0
    entities: tuple[str, ...] = ()

    def payback(self, gain: float) -> float | None:
        """Months until a monthly gain has paid for it; None if never."""
        if gain < SAME:
            return None if self.dollars >= SAME or self.items else 0.0
        return self.dollars / gain


NOTHING = DataMove()


def move(before: Bill, after: Bill, workload: Workload) -> DataMove:
    """Items with another key, table, index or copy are rewritten."""
    figures = DesignNumbers(after.schema, workload)
    reads = writes = items = 0.0
    moved: list[str] = []
    for entity in after.schema.entities:
        old = before.schema.by_entity.get(entity.name)
        count = figures.items(entity)
        written = figures.write_units(entity)
        entries = _new_entries(before.schema, old, entity)
        if old is None or (old.table, old.key) != (entity.table, entity.key):
            reads += count * figures.read_units(entity, consistent=False)
            writes += count * written * (1 + len(entity.placements))
        elif entries:
            # DynamoDB fills a new index by itself, and charges the writes.
            writes += count * sum(
                figures.entry_units(entity, index, "create", moved=True, changed=True)
                for index in entries
            )
            composed = any(not p.key.partition.is_bare_field for p in entity.placements)
            writes += count * written if composed else 0.0
        else:
            continue
        items += count
        moved.append(entity.name)
    dollars = (reads * after.prices.read + writes * after.prices.write) / 1e6
    return DataMove(items, dollars, tuple(moved))


def _new_entries(before: Schema, old: EntitySchema | None, entity: EntitySchema) -> list[Index]:
    """The indexes in which an entity is new, or under another key."""
    table = None if old is None else before.by_table.get(old.table)
    known = [(p.index, p.key) for p in old.placements] if old and table else []
    return [
        Index(placement.index, "", projection="ALL")
        for placement in entity.placements
        if (placement.index, placement.key) not in known
    ]
