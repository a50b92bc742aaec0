"""What joins a write's transaction, and what must be read for that."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Effect, EntitySchema, Follows
from keyfold_workbench.cost.figures import Figures
from keyfold_workbench.cost.item import APPEARS, condition_check, item_read, item_write, items_query
from keyfold_workbench.cost.part import Part, Store, Why, for_purpose, times

MARKER_UNITS = 1.0
"""Markers, counts and event entries are smaller than a kilobyte."""


def item_transaction(
    figures: Figures,
    entity: EntitySchema,
    effect: Effect,
    why: Why = "item",
    gone: frozenset[str] = frozenset(),
) -> list[Part]:
    """One item and everything written with it; items deleted in the same transaction are not
    counted.
    """
    joined = list(_join(figures, entity, effect, gone))
    parts = [*item_write(figures, entity, effect, why), *joined]
    replaced = effect.action in ("delete", "put") and figures.joins(entity)
    follows = effect.action not in APPEARS and any(part.why != "feed" for part in joined)
    if replaced or follows:
        parts.append(item_read(figures, entity, why))
    return parts


def is_alone(parts: list[Part]) -> bool:
    """Whether a single request without a transaction suffices."""
    return sum(1 for part in parts if not part.reading and part.why != "index") <= 1


def _join(
    figures: Figures, entity: EntitySchema, effect: Effect, gone: frozenset[str]
) -> Iterator[Part]:
    yield from _copies(figures, entity, effect)
    moved = changed_amounts(figures, entity, effect, "transaction")
    # Shards are separate items, which are not deleted with the holder.
    counted = [each for each in moved if each.target not in gone or each.shards > 1]
    yield from counts(figures, effect, counted)
    yield from _claims(figures, entity, effect)
    yield from _jobs(figures, entity, effect, gone)
    yield from _needs(figures, entity, effect, counted)


def _copies(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    """The copies that a write of their canonical changes."""
    for copy in figures.following(entity, "copy"):
        if copy.joins and is_shown(effect, copy.fields):
            yield from copy_writes(figures, copy, effect)


def copy_writes(figures: Figures, copy: Follows, effect: Effect) -> Iterator[Part]:
    """All copies of one item, written as it was."""
    pointer = figures.schema.by_entity[copy.target]
    alike = Effect(effect.action, pointer.name, fields=effect.fields)
    parts = for_purpose(item_transaction(figures, pointer, alike, "copy"), "copy")
    return times(parts, figures.copies(pointer))


def is_shown(effect: Effect, fields: tuple[str, ...]) -> bool:
    """Whether a write changes one of these fields; one that names none changes all."""
    return effect.action != "update" or not effect.fields or bool({*effect.fields} & {*fields})


def changed_amounts(
    figures: Figures, entity: EntitySchema, effect: Effect, sync: str
) -> Iterator[Follows]:
    """The amounts that a write changes."""
    for amount in figures.following(entity, "amount"):
        moved = effect.action != "update" or bool({*effect.fields} & {*amount.fields})
        if moved and amount.sync == sync:
            yield amount


def counts(figures: Figures, effect: Effect, amounts: list[Follows]) -> Iterator[Part]:
    """The holders of amounts; those on one item are one update."""
    holders: dict[tuple[str, tuple[tuple[str, str], ...]], list[Follows]] = {}
    for amount in amounts:
        target = figures.schema.by_entity[amount.target]
        if amount.shards > 1:
            yield Part(Store(target.table), "", MARKER_UNITS, "counter")
        else:
            holders.setdefault((amount.target, amount.via), []).append(amount)
    for (name, _), held in holders.items():
        target = figures.schema.by_entity[name]
        fields = tuple(field for amount in held for field in amount.writes)
        counted = Effect("update", name, fields=fields)
        parts = list(for_purpose(item_transaction(figures, target, counted, "counter"), "counter"))
        yield from parts
        falls = effect.action not in APPEARS and not all(amount.creates for amount in held)
        if falls and not any(part.reading for part in parts):
            # A decreasing count must not create its holder, so the holder is read.
            yield item_read(figures, target, "counter")


def _claims(figures: Figures, entity: EntitySchema, effect: Effect) -> Iterator[Part]:
    for claim in figures.following(entity, "claim"):
        if effect.action in (*APPEARS, "delete"):
            markers = 1.0
        else:
            markers = 2.0 if {*effect.fields} & {*claim.fields} else 0.0
        if markers:
            yield Part(Store(entity.table), "", markers * MARKER_UNITS, "unique")


def children(figures: Figures, job: Follows) -> float:
    """How many items a job finds per source item."""
    source, target = figures.schema.by_entity[job.source], figures.schema.by_entity[job.target]
    return figures.items(target) / max(figures.items(source), 1.0)


def job_effect(job: Follows) -> Effect:
    """What a job does to each of its items."""
    if job.deletes:
        return Effect("delete", job.target)
    return Effect("update", job.target, fields=job.writes)


def _jobs(
    figures: Figures, entity: EntitySchema, effect: Effect, gone: frozenset[str]
) -> Iterator[Part]:
    """What is deleted with an item, as far as its transaction has room."""
    if effect.action != "delete":
        return
    for job in figures.jobs(entity, "REMOVE"):
        if not job.joins or job.target in gone:
            continue
        count, child = children(figures, job), figures.schema.by_entity[job.target]
        yield items_query(figures, child, count, "cascade", job.found or "")
        if job.fits is not None and count <= job.fits:
            parts = item_transaction(
                figures, child, job_effect(job), "cascade", gone | {entity.name}
            )
            yield from times(for_purpose(parts, "cascade"), count)
        if _is_rechecked(figures, job):
            yield item_read(figures, entity, "cascade", gone=True)
            yield items_query(figures, child, 0.0, "cascade", job.found or "")


def _is_rechecked(figures: Figures, job: Follows) -> bool:
    """Whether neither a stream nor a number reveals concurrent additions."""
    schema = figures.schema
    counted = any(
        each.fact == "amount"
        and (each.source, each.target) == (job.target, job.source)
        and each.joins
        and each.shards == 1
        for each in schema.follows
    )
    return not counted and not schema.by_table[schema.by_entity[job.source].table].stream


def _needs(
    figures: Figures, entity: EntitySchema, effect: Effect, counted: list[Follows]
) -> Iterator[Part]:
    """New items check that their parents exist, unless they write to them anyway."""
    if effect.action not in APPEARS:
        return
    met = {(amount.target, amount.via) for amount in counted if amount.shards == 1}
    written_to = [name for name, _ in met]
    for need in figures.following(entity, "need"):
        if not need.joins:
            continue
        if need.target in written_to:
            written_to.remove(need.target)
        else:
            yield condition_check(figures, figures.schema.by_entity[need.target])
