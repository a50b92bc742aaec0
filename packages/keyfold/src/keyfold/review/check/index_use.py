"""X, continued: does an index hold what is read, and can it keep up with writes?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations

from keyfold.design.condition import fields_of
from keyfold.design.schema import AttributeSchema, EntitySchema, Index, PatternSchema, TableSchema
from keyfold.design.table import key_problems
from keyfold.design.template import Template
from keyfold_engine.limits import BATCH_GET_ITEMS, GB, ITEM_COLLECTION_BYTES
from keyfold.review.check.answer import wanted_entries
from keyfold.review.check.evidence import Evidence, keys_example, steps_example, sum_example
from keyfold.review.check.indexes import all_indexes, readers_of
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, Fix, rule
from keyfold.review.check.sample import field_value, key_of, text_of


@rule(
    "X10",
    "projection-mismatch",
    "warning",
    "An index projects more, or less, than its patterns read",
)
def projection_mismatch(facts: Reach) -> Iterator[Defect]:
    for table, index in all_indexes(facts):
        readers = readers_of(facts, table, index)
        for pattern in readers:
            unseen = _missing(facts, table, index, pattern, fields_of(pattern.filter))
            missing = _missing(facts, table, index, pattern, (*pattern.projection, *pattern.shows))
            if unseen:
                yield Defect(
                    pattern,
                    f"filters by {', '.join(unseen)}, which {index.name} ({index.projection}) does "
                    "not project: no item passes the filter",
                    "Include these attributes in the index.",
                    (index,),
                    severity="error",
                    evidence=_unprojected_example(facts, index, pattern, unseen[0]),
                )
            elif missing:
                yield Defect(
                    pattern,
                    f"shows {', '.join(missing)}, which {index.name} ({index.projection}) does not "
                    "project: every row needs a second read",
                    "Include these attributes in the index.",
                    (index,),
                    evidence=_second_read_example(facts, index, pattern, missing[0]),
                )
            elif index.projection == "KEYS_ONLY" and _reads_whole(facts, table, index, pattern):
                yield Defect(
                    pattern,
                    f"reads items through {index.name}, which holds only their keys: every row "
                    "needs another read from the table",
                    "Project what the list shows, or state that it shows only keys (`shows`).",
                    (index,),
                    evidence=_second_read_example(facts, index, pattern, "the rest"),
                )
        narrow = {name for pattern in readers for name in pattern.projection}
        if index.projection == "ALL" and readers and all(p.projection for p in readers):
            included = ", ".join(sorted(narrow))
            yield Defect(
                index,
                f"projects ALL, but its patterns read only {included}",
                f"Project INCLUDE {included}: changes of other attributes then cost nothing in "
                "this index.",
                (table,),
                fix=_narrowing(index, included),
                evidence=_unread_attributes_example(facts, table, index, narrow),
            )


def _unprojected_example(
    facts: Reach, index: Index, pattern: PatternSchema, field: str
) -> Evidence | None:
    """What a filter looks at: an entry that lacks the field."""
    there = wanted_entries(facts, pattern)
    if not there:
        return None
    row = (key_of(there[0].key, there[0].entity), f"has no {field}: left out")
    return keys_example(f"entries of {index.name}", row, so="the answer is empty")


def _second_read_example(
    facts: Reach, index: Index, pattern: PatternSchema, what: str
) -> Evidence | None:
    """A row of an index, and the read that follows it."""
    there = wanted_entries(facts, pattern)
    if not there:
        return None
    row, entity = there[0], there[0].entity
    rows = pattern.limit or BATCH_GET_ITEMS
    base = f" at {key_of(entity.key, entity)}" if entity.key else ""
    return steps_example(
        f"one query of {index.name} returns {rows:,} rows such as {key_of(row.key, entity)}",
        f"{rows:,} reads of {pattern.table}{base} bring {what}",
    )


def _unread_attributes_example(
    facts: Reach, table: TableSchema, index: Index, narrow: set[str]
) -> Evidence | None:
    """What each entry stores but no reader uses."""
    keys = {*table.key_attributes, *index.key_attributes}
    rows = [
        (
            entity.name,
            ", ".join(a.name for a in entity.attributes if a.name not in narrow | keys),
        )
        for entity, _ in facts.schema.placed_on(table.name, index.name)
    ]
    useful = [(name, carried) for name, carried in rows if carried]
    return (
        keys_example("entries hold attributes that no pattern reads", *useful) if useful else None
    )


def _narrowing(index: Index, included: str) -> Fix:
    key = f"[{', '.join(index.key_attributes)}]"
    return Fix(f"key: {key}}}", f"key: {key}, projection: INCLUDE, included: [{included}]}}")


def _missing(
    facts: Reach,
    table: TableSchema,
    index: Index,
    pattern: PatternSchema,
    needed: Collection[str],
) -> list[str]:
    """What a pattern needs of its items and its index does not hold."""
    keys = {*table.key_attributes, *index.key_attributes}
    return [
        attribute.name
        for entity in _entities(facts, pattern)
        for attribute in entity.attributes
        if attribute.field in needed
        and not _is_projected(attribute, index, keys)
        and attribute.field not in _in_keys(entity)
    ]


def _reads_whole(facts: Reach, table: TableSchema, index: Index, pattern: PatternSchema) -> bool:
    if pattern.projection or pattern.shows or pattern.kind in ("count", "exists"):
        return False
    keys = {*table.key_attributes, *index.key_attributes}
    return any(
        attribute.name not in keys and attribute.field not in _in_keys(entity)
        for entity in _entities(facts, pattern)
        for attribute in entity.attributes
    )


def _entities(facts: Reach, pattern: PatternSchema) -> list[EntitySchema]:
    return [facts.schema.by_entity[n] for n in pattern.entities if n in facts.schema.by_entity]


def _in_keys(entity: EntitySchema) -> set[str]:
    """Fields that can be read from a key."""
    keys = [entity.key, *(placement.key for placement in entity.placements)]
    return {field for key in keys if key is not None for field in key.fields}


def _is_projected(attribute: AttributeSchema, index: Index, keys: set[str]) -> bool:
    if index.projection == "ALL" or attribute.name in keys or not attribute.is_stored:
        return True
    return index.projection == "INCLUDE" and attribute.name in index.included


@rule(
    "X16",
    "collection-too-large",
    "error",
    "A table with a local index limits each partition to 10 GB",
)
def collection_too_large(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        local = [index for index in table.indexes if index.local]
        if not local:
            continue
        for entity in facts.schema.entities_of(table.name):
            if entity.per_partition is None or entity.bytes is None:
                if facts.is_growing(entity):
                    yield Defect(
                        entity,
                        f"how large can one partition of {table.name} get? With "
                        f"{local[0].name}, which is local, it must stay under 10 GB",
                        "State per_partition and bytes, or make the index a global one.",
                        (local[0], table),
                        severity="question",
                    )
                continue
            held = entity.per_partition * entity.bytes * (1 + len(local))
            if held > ITEM_COLLECTION_BYTES:
                yield Defect(
                    entity,
                    f"{entity.per_partition:,} items of {entity.bytes:,} bytes with their entries "
                    f"in {', '.join(index.name for index in local)} are {held / GB:,.0f} GB in one "
                    "partition; a table with a local index allows 10 GB, and then rejects writes",
                    "Make the index a global one, or spread the partition.",
                    (local[0], table),
                    evidence=sum_example(
                        "one partition",
                        (
                            (where, entity.per_partition, entity.bytes)
                            for where in (table.name, *(index.name for index in local))
                        ),
                        f"it takes {ITEM_COLLECTION_BYTES:,}",
                        "bytes",
                    ),
                )


@rule(
    "X17", "consistent-index-read", "error", "A pattern asks a global index for a consistent read"
)
def consistent_index_read(facts: Reach) -> Iterator[Defect]:
    for table, index in all_indexes(facts):
        for pattern in readers_of(facts, table, index):
            if pattern.consistent and not index.local:
                yield Defect(
                    pattern,
                    f"asks for a consistent read of {index.name}, which DynamoDB refuses: a global "
                    "index lags behind its table",
                    "Read the table by its key, or use an eventually consistent read.",
                    (index,),
                    evidence=steps_example(
                        f"{pattern.name} asks {index.name} with ConsistentRead=true",
                        "DynamoDB answers ValidationException: consistent reads are not supported "
                        "on global secondary indexes",
                    ),
                )


@rule(
    "X18",
    "index-repeats-key",
    "warning",
    "An index repeats the key of the table or of another index",
)
def index_repeats_key(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        for index in table.indexes:
            if (index.partition, index.sort) == (table.partition, table.sort):
                yield Defect(
                    index,
                    f"has the same key as {table.name}: every item is stored and written twice",
                    f"Drop the index, and read {table.name}.",
                    (table,),
                    evidence=_same_key_example(facts, table, None, index.name),
                )
        for first, second in combinations(table.indexes, 2):
            if (first.partition, first.sort) == (second.partition, second.sort):
                yield Defect(
                    second,
                    f"both have the key {' and '.join(first.key_attributes)}: "
                    "every write pays for both",
                    f"Keep {first.name}, and let it project what both project.",
                    (first, table),
                    subject=f"{first.name} and {second.name}",
                    evidence=_same_key_example(facts, table, first.name, second.name),
                )


def _same_key_example(
    facts: Reach, table: TableSchema, one: str | None, other: str
) -> Evidence | None:
    """One item's key in two places with the same content."""
    there = facts.appearances(table.name, other)
    if not there:
        return None
    shown = key_of(there[0].key, there[0].entity)
    name = there[0].entity.name
    return keys_example(f"one {name}", (shown, f"in {one or table.name}"), (shown, f"in {other}"))


@rule("X22", "table-refused", "error", "DynamoDB refuses the keys of a table or index")
def table_refused(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        for message, suggestion in key_problems(table):
            yield Defect(
                table,
                message.rstrip("."),
                suggestion,
                evidence=keys_example(
                    "CreateTable with these keys",
                    (f"`{table.key_text}`", table.name),
                    *((f"`{index.key_text}`", index.name) for index in table.indexes),
                    so="is answered with a ValidationException",
                ),
            )


@rule(
    "X19",
    "index-key-not-written",
    "warning",
    "A write changes one part of an index key and not the rest",
)
def index_key_not_written(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity in facts.schema.entities:
        table = facts.schema.by_table[entity.table]
        for operation, effect in facts.writes(entity.name, "update"):
            for placement in entity.placements:
                index = table.index(placement.index)
                if index is None:
                    continue
                stale = {
                    name: template
                    for name, _, template in index.templates(placement.key)
                    if name not in (*effect.fields, *table.key_attributes)
                    and not (template.is_bare_field and template.fields[0] == name)
                    and any(field in effect.fields for field in template.fields)
                }
                if not stale:
                    continue
                fields = (field for template in stale.values() for field in template.fields)
                written = [field for field in dict.fromkeys(fields) if field in effect.fields]
                keys = ", ".join(f"{name} (`{template}`)" for name, template in stale.items())
                yield Defect(
                    operation,
                    f"writes {', '.join(written)} and not {keys}: {placement.index} still lists "
                    "the item under the old key",
                    f"Write {' and '.join(stale)} in the same update.",
                    (placement, entity),
                    subject=f"{operation.name} on {entity.name}",
                    evidence=_stale_key_example(entity, *next(iter(stale.items())), written[0]),
                )


def _stale_key_example(entity: EntitySchema, name: str, template: Template, field: str) -> Evidence:
    """An item after the update: the field is new, the index key is not."""
    old, new = (field_value(entity.by_field.get(field), field, n) for n in (1, 2))
    return keys_example(
        f"after {field} goes from {old} to {new}",
        (f"{name} = `{text_of(template, entity, 1, {field: old})}`", "is on the item"),
        (f"{name} = `{text_of(template, entity, 1, {field: new})}`", "is where it is looked for"),
    )
