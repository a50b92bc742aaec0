"""What the stream's consumer does after a write: reads, writes, and markers that it did."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from keyfold.design.schema import ConsumerSchema, Effect, EntitySchema
from keyfold.review.cost import feeds
from keyfold.review.cost.figures import Figures
from keyfold.review.cost.item import APPEARS, checked, listed, looked_up
from keyfold.review.cost.kept import Cascade, CopiedField
from keyfold.review.cost.part import SUPPORT, Part, Store, called, in_transaction, times
from keyfold.review.cost.reads import read
from keyfold.review.cost.together import (
    FITS,
    MARKER_UNITS,
    children,
    committed,
    counts,
    is_shown,
    moved_counters,
)

COPIES_AT_ONCE = 49
ITEMS_AT_ONCE = 20
"""So many items a consumer writes in one transaction, with one check of what they follow."""
_EVENTS = {"create": "INSERT", "put": "INSERT", "delete": "REMOVE"}


def follow(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    *,
    expired: bool = False,
    gone: frozenset[str] = frozenset(),
) -> Iterator[Part]:
    """What follows from one write; an expiry has no transaction that others could join.

    Counters on what is gone with the item are not kept any more.
    """
    syncs = ("stream", "transaction") if expired else ("stream",)
    for sync in syncs:
        yield from _copies(figures, entity, effect, sync)
    yield from _counters(figures, entity, effect, syncs, gone)
    for cascade in figures.kept.cascades[entity.name]:
        if effect.action == "delete":
            yield from _cascade(figures, cascade, expired=expired)
    for cascade in figures.kept.parents[entity.name]:
        if effect.action in APPEARS and not cascade.joins:
            yield looked_up(figures, cascade.parent, "cascade")
    for copied in figures.kept.copied[entity.name]:
        yield from _copied(figures, copied, effect)
    for copied in figures.kept.origins[entity.name]:
        if effect.action in APPEARS or {*effect.fields} & {*copied.effect.fields}:
            yield looked_up(figures, copied.origin, "copied field")
    for consumer in figures.kept.processors[entity.name]:
        yield from _processor(figures, consumer, effect)
    if expired:
        yield from _freed(figures, entity)
    else:
        yield from feeds.follow(figures, entity, effect)


def _marker(count: float = 1.0) -> Part:
    return Part(SUPPORT, "", MARKER_UNITS * count, "processed marker")


def _copies(figures: Figures, entity: EntitySchema, effect: Effect, sync: str) -> Iterator[Part]:
    """Copies are brought to the present state, which is read and checked."""
    for pointer in figures.kept.copies[entity.name]:
        copy = pointer.copy
        assert copy is not None, f"{pointer.name} is not a copy"
        if copy.sync != sync or not is_shown(effect, (*copy.fields, copy.each)):
            continue
        count, gone = figures.copies(pointer), effect.action == "delete"
        if not count:
            continue
        yield looked_up(figures, entity, "copy", gone=gone)
        guards = times([checked(figures, entity, gone=gone)], ceil(count / COPIES_AT_ONCE))
        alike = Effect(effect.action, pointer.name, fields=effect.fields)
        made = times(called(committed(figures, pointer, alike, "copy"), "copy"), count)
        yield from in_transaction([*guards, *made])


def _counters(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    syncs: tuple[str, ...],
    gone: frozenset[str],
) -> Iterator[Part]:
    found = [c for sync in syncs for c in moved_counters(figures, entity, effect, sync)]
    if not found:
        return
    for counter in found:
        if counter.target in gone:
            target = figures.schema.by_entity[counter.target]
            yield looked_up(figures, target, "counter", gone=True)
    held = counts(figures, effect, [c for c in found if c.target not in gone])
    yield from in_transaction([*held, _marker(len(found))])


def _cascade(figures: Figures, cascade: Cascade, *, expired: bool) -> Iterator[Part]:
    """Sweep up what is left of a parent that is gone."""
    stream = figures.schema.by_table[cascade.parent.table].stream
    if cascade.joins and not stream:
        return
    count = children(figures, cascade.parent, cascade.child)
    if cascade.joins and count <= FITS and not expired:
        count = 0.0
    yield looked_up(figures, cascade.parent, "cascade", gone=True)
    yield listed(figures, cascade.child, count, "cascade", cascade.index)
    if count:
        yield from in_transaction(_swept(figures, cascade, count))


def _swept(figures: Figures, cascade: Cascade, count: float) -> Iterator[Part]:
    guard = checked(figures, cascade.parent, gone=True)
    yield from times([guard], ceil(count / ITEMS_AT_ONCE))
    gone = frozenset({cascade.parent.name})
    parts = committed(figures, cascade.child, cascade.effect, "cascade", gone)
    yield from times(called(parts, "cascade"), count)


def _copied(figures: Figures, copied: CopiedField, effect: Effect) -> Iterator[Part]:
    """A new value goes to all items that show it; a new origin has none yet."""
    if effect.action == "delete" or not is_shown(effect, copied.watches):
        return
    new = effect.action in APPEARS
    count = 0.0 if new else children(figures, copied.origin, copied.child)
    yield looked_up(figures, copied.origin, "copied field")
    yield listed(figures, copied.child, count, "copied field", copied.index)
    if count:
        parts = committed(figures, copied.child, copied.effect, "copied field")
        guards = times([checked(figures, copied.origin)], ceil(count / ITEMS_AT_ONCE))
        made = times(called(parts, "copied field"), count)
        yield from in_transaction([*guards, *made])


def _processor(figures: Figures, consumer: ConsumerSchema, effect: Effect) -> Iterator[Part]:
    """A function of the design's own: what it is stated to read, write and announce."""
    event = _EVENTS.get(effect.action, "MODIFY")
    if event not in (consumer.events or (event,)):
        return
    if consumer.watches and not is_shown(effect, consumer.watches):
        return
    load = figures.consumer(consumer)
    for name in load.reads:
        once = read(figures, figures.schema.by_pattern[name])
        yield Part(once.path, "", once.total * load.share, "processor", True)
    made: list[Part] = []
    for each in (*_own_effects(figures, consumer), *load.writes):
        entity = figures.schema.by_entity.get(each.entity)
        if entity is not None:
            made += called(committed(figures, entity, each, "processor"), "processor")
    made += times([Part(SUPPORT, "", MARKER_UNITS, "outbox")], load.events)
    if not consumer.exactly_once:
        yield from times(made, load.share)
        return
    yield Part(SUPPORT, "", MARKER_UNITS, "processed marker", True)
    if not made:
        yield _marker()
        return
    yield from times(in_transaction([*made, _marker()]), load.share)
    yield from times([_marker()], 1 - load.share)
    # An event leaves the outbox when its sinks have it.
    yield from times([Part(SUPPORT, "", MARKER_UNITS, "outbox")], load.events * load.share)


def _own_effects(figures: Figures, consumer: ConsumerSchema) -> Iterator[Effect]:
    """What the design says a consumer does, without what a counter or a copy says already."""
    kept = {counter.target for counter in figures.schema.counters}
    kept |= {e.name for e in figures.schema.entities if e.copy and e.copy.sync == "stream"}
    kept |= {feed.item for feed in figures.schema.feeds}
    for effect in consumer.effects:
        if effect.entity not in kept:
            yield effect


def _freed(figures: Figures, entity: EntitySchema) -> Iterator[Part]:
    """The unique values of an expired item are free again."""
    for unique in entity.uniques:
        if unique.by == "marker":
            yield looked_up(figures, entity, "unique", gone=True)
            marker = Part(Store(entity.table), "", MARKER_UNITS, "unique")
            guard = checked(figures, entity, gone=True)
            yield from in_transaction([guard, marker])
