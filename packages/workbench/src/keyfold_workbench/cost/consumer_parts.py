"""The consumer's work after a write: reads, writes, and processed markers."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from keyfold.design.schema import ConsumerSchema, Effect, EntitySchema, Follows
from keyfold_workbench.cost import feeds
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.item import APPEARS, condition_check, item_read, items_query
from keyfold_workbench.cost.part import SUPPORT, Part, Store, for_purpose, in_transaction, times
from keyfold_workbench.cost.reads import read
from keyfold_workbench.cost.transaction_parts import (
    MARKER_UNITS,
    changed_amounts,
    children,
    copy_writes,
    counts,
    is_shown,
    item_transaction,
    job_effect,
)

EVENTS_OF = {"create": "INSERT", "put": "INSERT", "delete": "REMOVE"}


def follow(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    *,
    expired: bool = False,
    gone: frozenset[str] = frozenset(),
) -> Iterator[Part]:
    """The consequences of one write; an expiry has no transaction that others could join.

    Counters on items deleted with it are no longer maintained.
    """
    syncs = ("stream", "transaction") if expired else ("stream",)
    event = EVENTS_OF.get(effect.action, "MODIFY")
    for sync in syncs:
        yield from _copies(figures, entity, effect, sync)
    yield from _amounts(figures, entity, effect, syncs, gone)
    if event == "REMOVE":
        yield from _carry_over_counts(figures, entity)
    for job in figures.jobs(entity, event):
        if job.deletes:
            yield from _delete_children(figures, job, expired=expired)
        else:
            yield from _update_copied_fields(figures, job, effect)
    if effect.action in APPEARS:
        for need in figures.following(entity, "need"):
            # An item checked by its transaction is checked again only if an index lagged.
            if not need.joins and not _is_in_transaction(figures, entity, need):
                yield item_read(figures, figures.schema.by_entity[need.target], "cascade")
    for shown in figures.following(entity, "shown"):
        if effect.action in APPEARS or {*effect.fields} & {*shown.writes}:
            yield item_read(figures, figures.schema.by_entity[shown.target], "copied field")
    for consumer in figures.processors(entity):
        yield from _processor(figures, consumer, effect)
    if expired:
        yield from _release_unique_values(figures, entity)
    else:
        yield from feeds.follow(figures, entity, effect)


def _marker(count: float = 1.0) -> Part:
    return Part(SUPPORT, "", MARKER_UNITS * count, "processed marker")


def _copies(figures: Figures, entity: EntitySchema, effect: Effect, sync: str) -> Iterator[Part]:
    """Copies are reconciled with the current state, which is read and checked."""
    for copy in figures.following(entity, "copy"):
        if copy.sync != sync or not is_shown(effect, copy.fields):
            continue
        pointer = figures.schema.by_entity[copy.target]
        count, gone = figures.copies(pointer), effect.action == "delete"
        if not count:
            continue
        yield item_read(figures, entity, "copy", gone=gone)
        guards = times([condition_check(figures, entity, gone=gone)], ceil(count / copy.at_once))
        yield from in_transaction([*guards, *copy_writes(figures, copy, effect)])


def _amounts(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    syncs: tuple[str, ...],
    gone: frozenset[str],
) -> Iterator[Part]:
    found = [each for sync in syncs for each in changed_amounts(figures, entity, effect, sync)]
    if not found:
        return
    for amount in found:
        if amount.target in gone:
            target = figures.schema.by_entity[amount.target]
            yield item_read(figures, target, "counter", gone=True)
    held = counts(figures, effect, [each for each in found if each.target not in gone])
    yield from in_transaction([*held, _marker(len(found))])


def _carry_over_counts(figures: Figures, entity: EntitySchema) -> Iterator[Part]:
    """Counts of a deleted item are carried over to its successor, if there is one."""
    for amount in figures.schema.follows:
        kept = amount.fact == "amount" and amount.target == entity.name and amount.shards == 1
        source = figures.schema.by_entity.get(amount.source)
        if kept and amount.sync == "stream" and source is not None and figures.items(source):
            yield item_read(figures, entity, "counter", gone=True)
            yield from in_transaction([_marker()])  # One of several in its batch.


def _delete_children(figures: Figures, job: Follows, *, expired: bool) -> Iterator[Part]:
    """Deletes the remaining items of a deleted parent."""
    parent, child = figures.schema.by_entity[job.source], figures.schema.by_entity[job.target]
    if job.joins and not figures.schema.by_table[parent.table].stream:
        return
    count = children(figures, job)
    if job.joins and job.fits is not None and count <= job.fits and not expired:
        count = 0.0
    yield item_read(figures, parent, "cascade", gone=True)
    yield items_query(figures, child, count, "cascade", job.found or "")
    if count:
        guards = times([condition_check(figures, parent, gone=True)], ceil(count / job.at_once))
        parts = item_transaction(
            figures, child, job_effect(job), "cascade", frozenset({parent.name})
        )
        yield from in_transaction([*guards, *times(for_purpose(parts, "cascade"), count)])


def _update_copied_fields(figures: Figures, job: Follows, effect: Effect) -> Iterator[Part]:
    """Propagates a new value to all items that show it; a new origin has none yet."""
    if not is_shown(effect, job.fields):
        return
    origin, child = figures.schema.by_entity[job.source], figures.schema.by_entity[job.target]
    count = 0.0 if effect.action in APPEARS else children(figures, job)
    yield item_read(figures, origin, "copied field")
    yield items_query(figures, child, count, "copied field", job.found or "")
    if count:
        parts = item_transaction(figures, child, job_effect(job), "copied field")
        guards = times([condition_check(figures, origin)], ceil(count / job.at_once))
        yield from in_transaction([*guards, *times(for_purpose(parts, "copied field"), count)])


def _is_in_transaction(figures: Figures, entity: EntitySchema, need: Follows) -> bool:
    """Whether the transaction already includes it."""
    needs = figures.following(entity, "need")
    return any(each.joins and each.target == need.target for each in needs)


def _processor(figures: Figures, consumer: ConsumerSchema, effect: Effect) -> Iterator[Part]:
    """A user function: its stated reads, writes and events."""
    event = EVENTS_OF.get(effect.action, "MODIFY")
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
            made += for_purpose(item_transaction(figures, entity, each, "processor"), "processor")
    made += times([Part(SUPPORT, "", MARKER_UNITS, "outbox")], load.events)
    if not figures.schema.enforced:
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
    """A consumer's stated effects, without those of declared structures."""
    kept = {each.target for each in figures.schema.follows if each.fact == "amount"}
    copies = (each for each in figures.schema.follows if each.fact == "copy")
    kept |= {each.target for each in copies if each.sync == "stream"}
    kept |= {feed.item for feed in figures.schema.feeds}
    for effect in consumer.effects:
        if effect.entity not in kept:
            yield effect


def _release_unique_values(figures: Figures, entity: EntitySchema) -> Iterator[Part]:
    """Releases the unique values of an expired item."""
    for _ in figures.following(entity, "claim"):
        yield item_read(figures, entity, "unique", gone=True)
        marker = Part(Store(entity.table), "", MARKER_UNITS, "unique")
        guard = condition_check(figures, entity, gone=True)
        yield from in_transaction([guard, marker])
