"""What a write costs, with its index entries, copies, counters and markers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from keyfold.design.schema import Effect, Entity, Index, Placement, Table
from keyfold.review.cost import sizes
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.reads import Path
from keyfold.review.cost.workload import WriteLoad
from keyfold.values.units import entry_units, write_units

IN_TRANSACTION = 2
"""A write inside a transaction costs so many times its units, except on global indexes."""
MARKER_UNITS = 1.0
APPEARS = ("create", "put")


@dataclass(frozen=True)
class Part:
    """Units on one table or index, for one entity."""

    path: Path
    entity: str
    units: float
    why: str = "item"
    """item, index, copy, counter, marker, cascade."""


@dataclass(frozen=True)
class Write:
    """One call of a write."""

    name: str
    parts: tuple[Part, ...] = field(default=())
    items: float = 0.0

    @property
    def units(self) -> float:
        return sum(part.units for part in self.parts)


def write(figures: Figures, load: WriteLoad) -> Write:
    """The cost of one call."""
    parts: list[Part] = []
    for effect in load.effects:
        times = figures.each(load) if effect.each else 1.0
        parts += (
            replace(part, units=part.units * times)
            for part in _effect(figures, effect, atomic=load.atomic)
        )
    items = sum(1 for part in parts if part.why != "index")
    return Write(load.name, tuple(parts), float(items))


def _effect(figures: Figures, effect: Effect, *, atomic: bool) -> Iterator[Part]:
    entity = figures.schema.by_entity.get(effect.entity)
    if entity is None:
        return
    own = list(single(figures, entity, effect))
    together = list(_together(figures, entity, effect))
    for part in (*own, *together):
        yield _in_transaction(figures, part) if atomic or together else part
    yield from _later(figures, entity, effect)


def _in_transaction(figures: Figures, part: Part) -> Part:
    table = figures.schema.by_table[part.path.table]
    index = table.index(part.path.index) if part.path.index else None
    if index is not None and not index.local:
        return part
    return replace(part, units=part.units * IN_TRANSACTION)


def single(figures: Figures, entity: Entity, effect: Effect, why: str = "item") -> Iterator[Part]:
    """One item with its index entries, outside a transaction."""
    table = figures.schema.by_table[entity.table]
    yield Part(Path(table.name), entity.name, write_units(figures.item_bytes(entity)), why)
    for placement in entity.placements:
        index = table.index(placement.index)
        if index is None:
            continue
        units = _entry(figures, entity, table, index, placement, effect)
        units *= figures.share(entity, placement)
        if units:
            yield Part(Path(table.name, index.name), entity.name, units, "index")


def _entry(
    figures: Figures,
    entity: Entity,
    table: Table,
    index: Index,
    placement: Placement,
    effect: Effect,
) -> float:
    size = figures.entry_bytes(entity, index)
    if effect.action in APPEARS:
        return entry_units(None, size, moved=True, changed=True)
    if effect.action == "delete":
        return entry_units(size, None, moved=True, changed=True)
    touched = set(effect.fields)
    moved = bool(touched & {*placement.key.fields, *placement.when})
    names = {a.field: a.name for a in entity.attributes}
    held = sizes.projected(table, index, {*names.values()})
    stamped = {f for f in (entity.version, "updated_at", "updatedAt") if f in names}
    changed = {names.get(f, f) for f in (touched or set(names)) | stamped}
    whole = index.projection == "ALL" or bool(changed & held)
    if not touched and index.projection == "KEYS_ONLY":
        whole = False
    return entry_units(size, size, moved=moved, changed=whole)


def _together(figures: Figures, entity: Entity, effect: Effect) -> Iterator[Part]:
    """What joins the write in its transaction."""
    yield from _copies(figures, entity, effect, "transaction")
    yield from _counters(figures, entity, effect, "transaction")
    yield from _cascades(figures, entity, effect)
    for unique in entity.uniques:
        if unique.by != "marker":
            continue
        if effect.action in (*APPEARS, "delete"):
            markers = 1.0
        else:
            markers = 2.0 if set(effect.fields) & set(unique.fields) else 0.0
        if markers:
            yield Part(Path(entity.table), entity.name, markers * MARKER_UNITS, "marker")


def _later(figures: Figures, entity: Entity, effect: Effect) -> Iterator[Part]:
    """What the stream's consumer writes: each effect in a transaction with its own marker."""
    copies = _copies(figures, entity, effect, "stream")
    counters = _counters(figures, entity, effect, "stream")
    for part in (*copies, *counters):
        yield _in_transaction(figures, part)
        if part.why != "index":
            yield Part(part.path, part.entity, MARKER_UNITS * IN_TRANSACTION, "marker")


def _cascades(figures: Figures, entity: Entity, effect: Effect) -> Iterator[Part]:
    """What goes with a deleted item."""
    if effect.action != "delete":
        return
    for consumer in figures.schema.consumers:
        if consumer.entities != (entity.name,) or consumer.events != ("REMOVE",):
            continue
        for gone in consumer.effects:
            child = figures.schema.by_entity.get(gone.entity)
            if child is None or gone.action != "delete" or not gone.each:
                continue
            count = figures.items(child) / max(figures.items(entity), 1.0)
            for part in single(figures, child, gone, "cascade"):
                yield replace(part, units=part.units * count)


def _copies(figures: Figures, entity: Entity, effect: Effect, sync: str) -> Iterator[Part]:
    for pointer in figures.schema.entities:
        copy = pointer.copy
        if copy is None or copy.of != entity.name or copy.sync != sync:
            continue
        if (
            effect.action == "update"
            and effect.fields
            and not set(effect.fields) & set(copy.fields)
        ):
            continue
        count = figures.copies(pointer)
        alike = replace(effect, entity=pointer.name)
        for part in single(figures, pointer, alike, "copy"):
            yield replace(part, units=part.units * count)


def _counters(figures: Figures, entity: Entity, effect: Effect, sync: str) -> Iterator[Part]:
    if effect.action == "update" and not any(
        field in counter.where
        for counter in figures.schema.counters
        for field in effect.fields
        if counter.counts == entity.name
    ):
        return
    touched: set[str] = set()
    for counter in figures.schema.counters:
        if counter.counts != entity.name or counter.sync != sync or counter.target in touched:
            continue
        target = figures.schema.by_entity.get(counter.target)
        if target is not None:
            # Counters of one target are one update of it.
            touched.add(counter.target)
            counted = Effect("update", target.name, fields=(counter.attribute,))
            yield from single(figures, target, counted, "counter")
            if target is not entity:
                yield from _together(figures, target, counted)
