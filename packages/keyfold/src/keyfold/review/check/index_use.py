"""X, continued: does an index hold what is read, and can it keep up with writes?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import (
    Effect,
    EntitySchema,
    Index,
    PatternSchema,
    TableSchema,
)
from keyfold.design.table import key_problems
from keyfold.review.check.domains import INDEX_PAIRS, INDEXES, READINGS, TABLES, UPDATES
from keyfold.review.check.indexes import readers_of
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import GB, ITEM_COLLECTION_BYTES


@rule("X10", INDEXES)
def projection_mismatch(facts: Reach, table: TableSchema, index: Index) -> Iterator[Found]:
    readers = readers_of(facts, table, index)
    for pattern in readers:
        unseen = _missing(facts, table, index, pattern, fields_of(pattern.filter))
        missing = _missing(facts, table, index, pattern, (*pattern.projection, *pattern.shows))
        case = "filters" if unseen else "shows" if missing else "keys"
        if case == "keys" and not _reads_whole(facts, table, index, pattern):
            continue
        yield hit(case, pattern=pattern, missing=unseen or missing)
    narrow = {name for pattern in readers for name in pattern.projection}
    if index.projection == "ALL" and readers and all(p.projection for p in readers):
        yield hit("all", included=sorted(narrow))


def _missing(
    facts: Reach, table: TableSchema, index: Index, pattern: PatternSchema, needed: Collection[str]
) -> list[str]:
    """What a pattern needs of its items and its index does not hold."""
    held = {*table.key_attributes, *index.key_attributes, *index.included}
    return [
        attribute.name
        for entity in _entities(facts, pattern)
        for attribute in entity.attributes
        if attribute.field in needed and attribute.is_stored and index.projection != "ALL"
        if attribute.name not in held and attribute.field not in _in_keys(entity)
    ]


def _reads_whole(facts: Reach, table: TableSchema, index: Index, pattern: PatternSchema) -> bool:
    keyed = pattern.projection or pattern.shows or pattern.kind in ("count", "exists")
    if index.projection != "KEYS_ONLY" or keyed:
        return False
    held = {*table.key_attributes, *index.key_attributes}
    return any(
        attribute.name not in held and attribute.field not in _in_keys(entity)
        for entity in _entities(facts, pattern)
        for attribute in entity.attributes
    )


def _entities(facts: Reach, pattern: PatternSchema) -> list[EntitySchema]:
    return [facts.schema.by_entity[n] for n in pattern.entities if n in facts.schema.by_entity]


def _in_keys(entity: EntitySchema) -> set[str]:
    """Fields that can be read from a key."""
    held = [entity.key, *(placement.key for placement in entity.placements)]
    return {field for key in held if key is not None for field in key.fields}


@rule("X16", TABLES)
def collection_too_large(facts: Reach, table: TableSchema) -> Iterator[Found]:
    local = [index for index in table.indexes if index.local]
    for entity in facts.entities_of(table.name) if local else ():
        if entity.per_partition is None or entity.bytes is None:
            if facts.is_growing(entity):
                yield hit("unknown", entity=entity, local=local[0])
            continue
        held = entity.per_partition * entity.bytes * (1 + len(local))
        if held > ITEM_COLLECTION_BYTES:
            yield hit(
                "large",
                entity=entity,
                local=local[0],
                indexes=local,
                gigabytes=held / GB,
            )


@rule("X17", READINGS)
def consistent_index_read(index: Index, pattern: PatternSchema) -> bool:
    return pattern.consistent and not index.local


@rule("X18", TABLES)
def index_repeats_key(table: TableSchema) -> Iterator[Found]:
    keyed: list[TableSchema | Index] = [table, *table.indexes]
    for n, first in enumerate(keyed):
        for second in table.indexes[n:]:
            if (first.partition, first.sort) == (second.partition, second.sort):
                yield hit("table" if first is table else "index", first=first, second=second)


@rule("X15", INDEX_PAIRS)
def shared_index_attribute(first: Index, second: Index) -> bool:
    local = first.local or second.local
    return not local and first.partition == second.partition


@rule("X22", TABLES)
def table_refused(table: TableSchema) -> Iterator[Found]:
    for message, remedy in key_problems(table):
        yield hit(problem=message.rstrip("."), remedy=remedy)


@rule("X19", UPDATES, enforced=False)
def index_key_not_written(facts: Reach, entity: EntitySchema, effect: Effect) -> Iterator[Found]:
    table = facts.schema.by_table[entity.table]
    for placement in entity.placements:
        index = table.index(placement.index)
        stale = {
            name: template
            for name, _, template in (index.templates(placement.key) if index else ())
            if name not in (*effect.fields, *table.key_attributes)
            and not (template.is_bare_field and template.fields[0] == name)
            and any(field in effect.fields for field in template.fields)
        }
        if stale:
            fields = dict.fromkeys(f for template in stale.values() for f in template.fields)
            written = [field for field in fields if field in effect.fields]
            yield hit(
                placement=placement,
                written=written,
                attributes=[*stale],
                stale=[f"{name} (`{one}`)" for name, one in stale.items()],
            )
