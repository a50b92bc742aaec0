"""The contents of a design under a workload: numbers of items, sizes, distribution."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from math import ceil
from statistics import fmean

from keyfold.design.schema import EntitySchema, Index, Placement, Schema
from keyfold.design.template import Template
from keyfold_engine.values.units import entry_units, read_units, write_units
from keyfold_workbench.cost import sizes
from keyfold_workbench.cost.workload import EntityLoad, Workload

ITEMS = 10_000
COPIES = 3.0
HOT_FACTOR = 10.0
"""The most popular key is assumed to get this multiple of an average key's traffic."""
ALONE = ("email", "username", "handle", "slug")
"""Fields with about as many values as there are items, in most designs."""


class ItemNumbers:
    """The items of a design; records every assumption."""

    def __init__(self, schema: Schema, workload: Workload) -> None:
        self.schema, self.workload = schema, workload
        self._assumed: dict[str, None] = {}
        self._sizes: dict[str, dict[str, float]] = {}
        self._owners = {
            _letters(e.name) + "id": e for e in schema.entities if e.role == "canonical"
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(self._assumed)

    def assume(self, sentence: str) -> None:
        self._assumed[sentence] = None

    def load(self, entity: EntitySchema) -> EntityLoad:
        stated = self.workload.entities.get(entity.name)
        if stated is None and entity.copy is not None:
            source = self.schema.by_entity.get(entity.copy.of)
            # A copy of the whole item is as large and as varied as its source.
            if source is not None and set(entity.by_field) == set(source.by_field):
                return replace(self.load(source), items=None, copies=None, share={})
        return stated or EntityLoad()

    def items(self, entity: EntitySchema) -> float:
        stated = self.load(entity).items
        if stated is not None:
            return stated
        if entity.copy is not None and (source := self.schema.by_entity.get(entity.copy.of)):
            return self.items(source) * self.copies(entity)
        self.assume(f"{entity.name} has {ITEMS:,} items")
        return float(ITEMS)

    def copies(self, entity: EntitySchema) -> float:
        """How many items of a pointer one canonical item has."""
        assert entity.copy is not None, f"{entity.name} is not a pointer"
        stated = self.load(entity)
        if stated.copies is not None:
            return stated.copies
        source = self.schema.by_entity.get(entity.copy.of)
        if stated.items is not None and source is not None and self.load(source).items:
            return stated.items / self.items(source)
        if not entity.copy.each:
            return 1.0
        self.assume(f"each {entity.copy.of} has {COPIES:g} copies as {entity.name}")
        return COPIES

    def growth(self, entity: EntitySchema) -> float:
        return self.load(entity).growth or 0.0

    def attribute_bytes(self, entity: EntitySchema) -> dict[str, float]:
        """Bytes of every attribute; together they are the item's size."""
        if entity.name not in self._sizes:
            self._sizes[entity.name] = self._attribute_bytes(entity)
        return self._sizes[entity.name]

    def _attribute_bytes(self, entity: EntitySchema) -> dict[str, float]:
        load = self.load(entity)
        named = {a.field: a.name for a in entity.attributes}
        stated = {named.get(name, name): float(size) for name, size in load.attributes.items()}
        found: dict[str, float] = {**sizes.attributes(self.schema, entity), **stated}
        whole = load.bytes or entity.bytes
        if whole is None:
            if len(stated) < len(entity.attributes):
                about = round(sum(found.values()))
                self.assume(
                    f"an item of {entity.name} takes {about:,} bytes, estimated from its types"
                )
            return found
        open_ = {name: size for name, size in found.items() if name not in stated}
        rest, total = whole - sum(stated.values()), sum(open_.values())
        if total and rest > 0:
            found |= {name: size * rest / total for name, size in open_.items()}
        return found

    def item_bytes(self, entity: EntitySchema) -> int:
        stated = self.load(entity).bytes or entity.bytes
        return stated or ceil(sum(self.attribute_bytes(entity).values()) - 1e-6)

    def read_units(self, entity: EntitySchema, *, consistent: bool) -> float:
        """Units of reading one item, on average."""
        return fmean(read_units(size, consistent=consistent) for size in self.item_sizes(entity))

    def write_units(self, entity: EntitySchema) -> float:
        """Units of writing one item, on average."""
        saving = self.item_bytes(entity) - self.written_bytes(entity)
        return fmean(write_units(max(1, size - saving)) for size in self.item_sizes(entity))

    def many_read_units(self, entity: EntitySchema, count: float, *, consistent: bool) -> float:
        """Units of reading several items by one request."""
        size = ceil(count * self.item_bytes(entity) - 1e-6)
        return read_units(size, consistent=consistent)

    def entry_units(
        self, entity: EntitySchema, index: Index | None, action: str, *, moved: bool, changed: bool
    ) -> float:
        """Units of an index entry's change, on average; without an index, of a whole item."""
        sizes = self.entry_sizes(entity, index) if index else self.item_sizes(entity)
        return fmean(
            entry_units(
                None if action in ("create", "put") else size,
                None if action == "delete" else size,
                moved=moved,
                changed=changed,
            )
            for size in sizes
        )

    def entry_sizes(self, entity: EntitySchema, index: Index) -> tuple[int, ...]:
        """Sizes of index entries: one, or one per equal part of all items."""
        entry = self.entry_bytes(entity, index)
        if index.projection != "ALL":
            return (entry,)
        return self.item_sizes(entity)

    def item_sizes(self, entity: EntitySchema) -> tuple[int, ...]:
        """Sizes of items: one, or one per equal part of them."""
        spread = self.load(entity).sizes
        return (self.item_bytes(entity),) if spread is None else spread.slices

    def written_bytes(self, entity: EntitySchema) -> int:
        """The billed bytes of a write: an indexed vector counts four bytes per number."""
        saving = sizes.vector_saving(self.schema.by_table[entity.table], entity)
        return max(1, self.item_bytes(entity) - saving)

    def entry_bytes(self, entity: EntitySchema, index: Index) -> int:
        """Bytes of an item's entry in an index."""
        if index.projection == "ALL":
            return self.item_bytes(entity)
        held = self.attribute_bytes(entity)
        table = self.schema.by_table[entity.table]
        names = sizes.projected(table, index, set(held))
        return ceil(sum(held[name] for name in names) - 1e-6)

    def share(self, entity: EntitySchema, placement: Placement) -> float:
        """The share of an entity's items that an index holds."""
        shares = self.load(entity).share
        stated = shares.get(placement.index, shares.get(placement.name))
        if stated is not None:
            return stated
        if not placement.is_partial:
            return 1.0
        self.assume(f"half of all {entity.name} are in {placement.index}")
        return 0.5

    def distinct(self, entity: EntitySchema, fields: Iterable[str]) -> float:
        """The number of distinct values of a set of fields over an entity's items."""
        fields = tuple(fields)
        items = max(self.items(entity), 1.0)
        found = 1.0
        for field in dict.fromkeys(fields):
            found *= self._distinct(entity, field, items)
        return max(1.0, min(found, items))

    def _distinct(self, entity: EntitySchema, field: str, items: float) -> float:
        load = self.load(entity)
        if field in load.distinct:
            return load.distinct[field]
        key = entity.key
        if self.is_own_id(entity, field) or (key is not None and key.fields == (field,)):
            return items
        attribute = entity.by_field.get(field)
        if attribute is not None:
            if attribute.shards or attribute.values:
                return float(attribute.shards or len(attribute.values))
            if attribute.type == "boolean":
                return 2.0
            if attribute.type in ("timestamp", "date") or _letters(field) in ALONE:
                return items
            if attribute.refers in self.schema.by_entity:
                return self.items(self.schema.by_entity[attribute.refers])
        for ending, owner in self._owners.items():
            if owner is not entity and _letters(field).endswith(ending):
                return self.items(owner)
        assumed = max(1.0, items / 10)
        self.assume(f"{entity.name}.{field} has {assumed:,.0f} different values")
        return assumed

    def is_own_id(self, entity: EntitySchema, field: str) -> bool:
        """Whether a field alone identifies an entity's items."""
        if entity.copy is not None:
            return False
        attribute = entity.by_field.get(field)
        if attribute is not None and attribute.refers:
            return False
        if any(unique.fields == (field,) for unique in entity.uniques):
            return True
        stated = self.load(entity).distinct.get(field)
        if stated is not None:
            return stated >= max(self.items(entity), 1.0)
        if entity.key is not None and set(entity.key.fields) == {field}:
            return True
        own = _letters(entity.name)
        if _letters(field) not in (f"{own}id", f"{own}code"):
            return False
        self.assume(f"every {entity.name} has a different {field}")
        return True

    def matched(self, entity: EntitySchema, fields: Iterable[str]) -> float:
        """The number of items that share one value of these fields."""
        return self.items(entity) / self.distinct(entity, fields)

    def spreading(self, entity: EntitySchema, partition: Template) -> tuple[str, ...]:
        """The fields of a key over which the writes of one moment are spread: not its day."""
        days = [
            field
            for field in partition.fields
            if field not in self.load(entity).hottest
            and (attribute := entity.by_field.get(field)) is not None
            and not attribute.mutable
            and attribute.type in ("date", "timestamp")
            and (attribute.type == "date" or field in partition.buckets)
        ]
        if days:
            self.assume(f"all new {entity.name} go to the partition of the current {days[0]}")
        return tuple(field for field in partition.fields if field not in days)

    def hottest(self, entity: EntitySchema, fields: tuple[str, ...]) -> float:
        """The most popular partition's share of the traffic."""
        stated = self.load(entity).hottest
        spreading = [f for f in fields if self._is_shard(entity, f)]
        shards = self.distinct(entity, spreading)
        shares = [stated[field] for field in fields if field in stated]
        if shares:
            return min(shares) / shards
        values = self.distinct(entity, [f for f in fields if f not in spreading])
        self.assume(
            f"the busiest key gets {HOT_FACTOR:g} times the average traffic where no share "
            "(hottest) is stated"
        )
        return min(1.0, HOT_FACTOR / values) / shards

    def _is_shard(self, entity: EntitySchema, field: str) -> bool:
        attribute = entity.by_field.get(field)
        return attribute is not None and attribute.shards is not None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
