"""What joins a write in its transaction, and what has to be read for that."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import CounterSchema, Effect, EntitySchema
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.item import APPEARS, checked, listed, looked_up, written
from keyfold.review.cost.part import Part, Store, Why, called, times

MARKER_UNITS = 1.0
"""Markers, counts and event entries take less than a kilobyte."""
FITS = 40
"""So many items are deleted in their parent's own transaction."""
REPLICAS = 4
"""The copies of a feed's list of removed posts."""


def committed(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    why: Why = "item",
    gone: frozenset[str] = frozenset(),
) -> list[Part]:
    """One item and all that is written with it; what is gone in the same breath is not counted."""
    joined = list(_joined(figures, entity, effect, gone))
    parts = [*written(figures, entity, effect, why), *joined]
    replaced = effect.action in ("delete", "put") and figures.kept.is_maintained(entity)
    follows = effect.action not in APPEARS and any(part.why != "feed" for part in joined)
    if replaced or follows:
        parts.append(looked_up(figures, entity, why))
    return parts


def is_alone(parts: list[Part]) -> bool:
    """Whether one request without a transaction writes these."""
    return sum(1 for part in parts if not part.reading and part.why != "index") <= 1


def _joined(
    figures: Figures, entity: EntitySchema, effect: Effect, gone: frozenset[str]
) -> Iterator[Part]:
    yield from _copies(figures, entity, effect)
    moved = moved_counters(figures, entity, effect, "transaction")
    counted = [counter for counter in moved if counter.target not in gone]
    yield from counts(figures, effect, counted)
    yield from _uniques(entity, effect)
    yield from _cascades(figures, entity, effect, gone)
    yield from _parents(figures, entity, effect, counted)
    yield from _feeds(figures, entity, effect)


def _copies(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """The copies that a write of their canonical changes."""
    for pointer in figures.kept.copies[entity.name]:
        copy = pointer.copy
        assert copy is not None, f"{pointer.name} is not a copy"
        if copy.sync != "transaction" or not is_shown(effect, (*copy.fields, copy.each)):
            continue
        alike = Effect(effect.action, pointer.name, fields=effect.fields)
        parts = called(committed(figures, pointer, alike, "copy"), "copy")
        yield from times(parts, figures.copies(pointer))


def is_shown(effect: Effect, fields: tuple[str, ...]) -> bool:
    """Whether a write changes one of these fields; one that does not say which changes all."""
    return effect.action != "update" or not effect.fields or bool({*effect.fields} & {*fields})


def moved_counters(
    figures: Figures, entity: EntitySchema, effect: Effect, sync: str
) -> Iterator[CounterSchema]:
    """The counters that a write changes."""
    for counter in figures.kept.counters[entity.name]:
        moved = effect.action != "update" or any(
            field in fields_of(counter.where) or field == counter.sums or field in counter.via
            for field in effect.fields
        )
        if moved and counter.sync == sync:
            yield counter


def counts(figures: Figures, effect: Effect, counters: list[CounterSchema]) -> Iterator[Part]:
    """The holders of counters; those that one item holds are one update."""
    holders: dict[tuple[str, tuple[str, ...]], list[CounterSchema]] = {}
    for counter in counters:
        target = figures.schema.by_entity[counter.target]
        if counter.shards > 1:
            yield Part(Store(target.table), "", MARKER_UNITS, "counter")
        else:
            holders.setdefault((counter.target, counter.via), []).append(counter)
    for (name, _), held in holders.items():
        target = figures.schema.by_entity[name]
        fields = tuple(counter.attribute for counter in held)
        counted = Effect("update", name, fields=fields)
        parts = list(called(committed(figures, target, counted, "counter"), "counter"))
        yield from parts
        falls = effect.action not in APPEARS and not all(counter.creates for counter in held)
        if falls and not any(part.reading for part in parts):
            # A count that falls must not make its holder, so that is looked at.
            yield looked_up(figures, target, "counter")


def _uniques(entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    for unique in entity.uniques:
        if unique.by != "marker":
            continue
        if effect.action in (*APPEARS, "delete"):
            markers = 1.0
        else:
            markers = 2.0 if {*effect.fields} & {*unique.fields} else 0.0
        if markers:
            yield Part(Store(entity.table), "", markers * MARKER_UNITS, "unique")


def children(figures: Figures, parent: EntitySchema, child: EntitySchema) -> float:
    """How many items one parent has."""
    return figures.items(child) / max(figures.items(parent), 1.0)


def _cascades(
    figures: Figures, entity: EntitySchema, effect: Effect, gone: frozenset[str]
) -> Iterator[Part]:
    """What goes with a deleted item."""
    if effect.action != "delete":
        return
    for cascade in figures.kept.cascades[entity.name]:
        if not cascade.joins or cascade.child.name in gone:
            continue
        count = children(figures, entity, cascade.child)
        yield listed(figures, cascade.child, count, "cascade", cascade.index)
        if count <= FITS:
            parts = committed(
                figures, cascade.child, cascade.effect, "cascade", gone | {entity.name}
            )
            yield from times(called(parts, "cascade"), count)


def _parents(
    figures: Figures, entity: EntitySchema, effect: Effect, counted: list[CounterSchema]
) -> Iterator[Part]:
    """New items check that their parent is there, unless they write to it anyway."""
    if effect.action not in APPEARS:
        return
    met = {(counter.target, counter.via) for counter in counted if counter.shards == 1}
    written_to = [name for name, _ in met]
    for cascade in figures.kept.parents[entity.name]:
        if not cascade.joins:
            continue
        if cascade.parent.name in written_to:
            written_to.remove(cascade.parent.name)
        else:
            yield checked(figures, cascade.parent)


def _feeds(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """What a feed notes down together with a follow or the removal of a post."""
    for feed in figures.kept.edges[entity.name]:
        source = figures.support(feed, "Source")
        if source is not None and effect.action in (*APPEARS, "delete"):
            yield from written(figures, source, Effect("put", source.name), "feed")
    for feed in figures.kept.posts[entity.name]:
        removed = figures.support(feed, "Removed")
        if removed is not None and effect.action == "delete":
            parts = written(figures, removed, Effect("put", removed.name), "feed")
            yield from times(parts, REPLICAS)
