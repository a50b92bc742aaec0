"""An alternative's recommendation for each table: keep, re-key, split, add or drop, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.design.schema import (
    EntitySchema,
    Index,
    PatternSchema,
    Placement,
    Schema,
    TableSchema,
)
from keyfold_workbench.advise.advice import Alternative
from keyfold_workbench.cost.bill import HotKey

HOT = 0.8


@dataclass(frozen=True)
class Recommendation:
    """One change, or the recommendation to keep."""

    verb: str
    """keep, re-key, split, copy, add or drop index, local index, project, sparse, shard."""
    words: str


def for_table(before: Alternative, after: Alternative, table: TableSchema) -> list[Recommendation]:
    """All changes for the entities of one table."""
    found = list(_changes(before, after, table))
    found += _hot_keys(before, after, table)
    return found or [Recommendation("keep", f"{table.name} stays as it is.")]


def _changes(
    before: Alternative, after: Alternative, table: TableSchema
) -> Iterator[Recommendation]:
    old, new = before.schema, after.schema
    entities = old.entities_of(table.name)
    moved = [e for e in entities if new.by_entity[e.name].table != table.name]
    stays = [e for e in entities if e not in moved]
    if len(entities) > 1 and moved:
        homes = ", ".join(f"{e.name} in {new.by_entity[e.name].table}" for e in moved)
        rest = f"; {', '.join(e.name for e in stays)} stays" if stays else ""
        yield Recommendation(
            "split", f"Nothing reads them together: {homes}{rest}, each under its own key."
        )
    for entity in entities:
        now = new.by_entity[entity.name]
        choice = after.choices.get(entity.name)
        if now.key != entity.key and choice is not None and choice.rekeyed:
            yield Recommendation("re-key", _new_key_words(after, entity, now))
        yield from _copies(old, new, entity)
    yield from _indexes(old, new, entities, table)


def _new_key_words(after: Alternative, entity: EntitySchema, now: EntitySchema) -> str:
    choice = after.choices[entity.name]
    served = [demand.name for demand, access in choice.paths if access.kind == "base"]
    ordered = [d.order for d, access in choice.paths if access.kind == "base" and d.order]
    order = f", in the order of {ordered[0]}" if ordered else ""
    return f"{entity.name} under `{now.key}`: the key serves {', '.join(served)}{order}."


def _copies(old: Schema, new: Schema, entity: EntitySchema) -> Iterator[Recommendation]:
    for pointer in new.entities:
        if pointer.name in old.by_entity or not pointer.copy or pointer.copy.of != entity.name:
            continue
        served = [p.name for p in new.patterns if p.entities == (pointer.name,)]
        lost = [name for name in served if old.by_pattern[name].index is None]
        why = "stays consistent" if lost else "can be consistent, unlike an index"
        yield Recommendation(
            "copy",
            f"{pointer.name} under `{pointer.key}`, written in the same transaction: "
            f"{', '.join(served)} {why}.",
        )


def _indexes(
    old: Schema, new: Schema, entities: tuple[EntitySchema, ...], table: TableSchema
) -> Iterator[Recommendation]:
    homes = {new.by_entity[e.name].table for e in entities} & set(new.by_table)
    after = {i.name: (new.by_table[home], i) for home in homes for i in new.by_table[home].indexes}
    before = {index.name: index for index in table.indexes}
    replaced: set[str] = set()
    for name, index in before.items():
        heirs = [i for _, i in after.values() if i.name not in before and _succeeds(i, index)]
        if name not in after and heirs:
            replaced.add(heirs[0].name)
            yield Recommendation("project", _projection_words(index, heirs[0]))
        elif name not in after:
            why = _why_dropped(old, table, index)
            yield Recommendation("drop index", f"{name}: {why}")
        elif after[name][1].projection != index.projection:
            yield Recommendation("project", _projection_words(index, after[name][1]))
    known = {t.name for t in old.tables if t is not table}
    for name, (home, index) in after.items():
        if name not in before and name not in replaced and home.name not in known:
            verb = "local index" if index.local else "add index"
            yield Recommendation(verb, f"{name} on {home.name}, for {_readers(new, home, index)}.")
    for entity in entities:
        for placement in new.by_entity[entity.name].placements:
            was = [p for p in entity.placements if p.index == placement.index]
            lists = [p.name for p in new.patterns if _lists(old, p, entity, placement)]
            if lists and placement.index in before:
                yield Recommendation(
                    "add index",
                    f"{entity.name} in {placement.index} under `{placement.key}`, for "
                    f"{', '.join(lists)}, which reads the whole table today.",
                )
            if placement.note and was and not was[0].note:
                yield Recommendation(
                    "sparse",
                    f"{placement.index} with {entity.name} only where "
                    f"{placement.note}; no pattern reads the others.",
                )


def _lists(old: Schema, pattern: PatternSchema, entity: EntitySchema, placement: Placement) -> bool:
    """Whether a pattern that scans today would read these items from an index."""
    mine = pattern.index == placement.index and pattern.entities == (entity.name,)
    return mine and old.by_pattern[pattern.name].kind == "scan"


def _succeeds(new: Index, old: Index) -> bool:
    """Whether an index is a narrower version of another."""
    same = (new.partition, new.sort) == (old.partition, old.sort)
    return same and new.projection != old.projection


def _projection_words(old: Index, new: Index) -> str:
    held = ", ".join(new.included) or "only the keys"
    name = old.name if old.name == new.name else f"{new.name} instead of {old.name}"
    return (
        f"{name} holds {held}: its readers need no more, and updates of other fields no longer "
        "write to it."
    )


def _why_dropped(schema: Schema, table: TableSchema, index: Index) -> str:
    readers = _readers(schema, table, index)
    return f"a key serves {readers} now." if readers else "no pattern reads it."


def _readers(schema: Schema, table: TableSchema, index: Index) -> str:
    return ", ".join(
        p.name for p in schema.patterns if (p.table, p.index) == (table.name, index.name)
    )


def _hot_keys(
    before: Alternative, after: Alternative, table: TableSchema
) -> Iterator[Recommendation]:
    entities = before.schema.entities_of(table.name)
    homes = {table.name} | {after.schema.by_entity[e.name].table for e in entities}
    for hot in after.bill.hot:
        if hot.path.table in homes and hot.share >= HOT:
            yield Recommendation("shard", _shard(hot))


def _shard(hot: HotKey) -> str:
    if hot.shards == 1:
        return (
            f"`{hot.key}` of {hot.path} reaches {hot.share:.0%} of a partition's "
            f"{hot.limit:,} {hot.kind} units a second at its peak: watch it."
        )
    need = (
        f"`{hot.key}` of {hot.path} needs {hot.units:,.0f} {hot.kind} units a second at its peak, "
        f"and a partition takes {hot.limit:,}"
    )
    if hot.kind == "read":
        return f"{need}: cache the result, or keep {hot.shards} copies under numbered keys."
    return (
        f"{need}: spread it over {hot.shards} with a shard number in the key. Readers then query "
        f"{hot.shards} partitions."
    )
