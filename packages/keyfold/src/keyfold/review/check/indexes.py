"""X: indexes. Is each worth its writes, complete, and used for what it can guarantee?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keyfold.design.schema import (
    EntitySchema,
    Index,
    PatternSchema,
    Placement,
    TableSchema,
)
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of, text_of, value_of
from keyfold.review.draft.names import words


def all_indexes(facts: Reach) -> Iterator[tuple[TableSchema, Index]]:
    for table in facts.schema.tables:
        for index in table.indexes:
            yield table, index


def all_placements(facts: Reach) -> Iterator[tuple[EntitySchema, Placement]]:
    for entity in facts.schema.entities:
        for placement in entity.placements:
            yield entity, placement


@rule(
    "X1", "two-values-one-index", "error", "One item would need two values for the same index key"
)
def two_values_one_index(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for attribute, held in facts.templates(entity).items():
            if len(held) > 1 and not _exclude_each_other(facts, entity):
                values = " and ".join(f"`{template}`" for template in held)
                yield Defect(
                    entity,
                    f"{attribute} of one {entity.name} would have to be {values} at once, but an "
                    "attribute has one value",
                    "Use another index, or a second item, for one of them.",
                    entity.placements,
                    subject=f"{entity.name}.{attribute}",
                    evidence=keys_example(
                        f"one {entity.name} needs",
                        *((f"{attribute} =", f"`{text_of(one, entity)}`") for one in held),
                    ),
                )


def _exclude_each_other(facts: Reach, entity: EntitySchema) -> bool:
    """Whether an item is in only one of its placements at a time."""
    by_index: dict[str, list[Placement]] = {}
    for placement in entity.placements:
        by_index.setdefault(placement.index, []).append(placement)
    return all(
        facts.excludes(entity, one, other)
        for placed in by_index.values()
        for one, other in combinations(placed, 2)
    ) and any(len(placed) > 1 for placed in by_index.values())


@rule("X2", "redundant-index", "warning", "Two indexes hold the same items in the same partitions")
def redundant_index(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for first, second in combinations(entity.placements, 2):
            if first.index == second.index or _shape(first) != _shape(second):
                continue
            if _leads_others(facts, entity, second) or _leads_others(facts, entity, first):
                continue
            yield Defect(
                second,
                f"both list `{first.key.partition}` by the same fields: every write pays for two "
                "indexes that answer the same query",
                f"Keep {first.index} and read everything from it.",
                (entity,),
                subject=f"{entity.name} on {first.index} and {second.index}",
                evidence=keys_example(
                    f"one {entity.name} is written to",
                    *((key_of(each.key, entity), f"in {each.index}") for each in (first, second)),
                ),
            )


def _leads_others(facts: Reach, entity: EntitySchema, placement: Placement) -> bool:
    """Whether a pattern reads it together with others: a parent before its children."""
    return any(
        len(pattern.entities) != 1
        for pattern in facts.schema.patterns
        if pattern.index == placement.index and pattern.table == entity.table
        if any(a.placement is placement for a in facts.reached(pattern))
    )


def _shape(placement: Placement) -> tuple[object, ...]:
    sort = placement.key.sort.fields if placement.key.sort else ()
    return placement.key.partition.text, sort, placement.when


@rule("X3", "index-unused", "warning", "No pattern reads an index")
def index_unused(facts: Reach) -> Iterator[Defect]:
    followed = {
        (effect.entity, effect.via_index)
        for consumer in facts.schema.consumers
        for effect in consumer.effects
        if effect.via_index
    }
    followed |= {(each.target, each.found) for each in facts.follows if each.found}
    followed |= {
        (name, placement.index)
        for feed in facts.schema.feeds
        for name in (feed.edge, *feed.edges, feed.post, feed.item)
        if name in facts.schema.by_entity
        for placement in facts.schema.by_entity[name].placements
    }
    followed |= {
        (effect.entity, effect.via_index)
        for operation in facts.schema.operations
        for effect in operation.effects
        if effect.via_index
    }
    for table, index in all_indexes(facts):
        readers = readers_of(facts, table, index)
        if not readers and not any(index.name == via for _, via in followed):
            yield Defect(
                index,
                "no access pattern reads it, and every write of its items pays for it",
                "Drop it, or declare the pattern that needs it.",
                (table,),
                evidence=_index_writes_example(facts, table, index),
            )
            continue
        read = {
            (id(a.placement), a.entity.name)
            for pattern in readers
            for a in facts.reached(pattern)
            if not pattern.entities or a.entity.name in pattern.entities
        }
        for entity, placement in facts.schema.placed_on(table.name, index.name):
            used = (id(placement), entity.name) in read or (entity.name, index.name) in followed
            if not used and not _is_unavoidable(table, index, entity):
                yield Defect(
                    placement,
                    f"no access pattern reads `{placement.key}`",
                    f"Leave {index.name}'s attributes off {entity.name}, or declare the pattern.",
                    (entity, index),
                    evidence=keys_example(
                        f"a write of one {entity.name} also writes",
                        (key_of(placement.key, entity), f"to {index.name}, which no pattern reads"),
                    ),
                )


def _is_unavoidable(table: TableSchema, index: Index, entity: EntitySchema) -> bool:
    """Whether an index uses only attributes that the item needs anyway, such as its own key."""
    own = {*table.key_attributes, *(a.name for a in entity.attributes if a.is_stored)}
    return own >= set(index.key_attributes)


def _index_writes_example(facts: Reach, table: TableSchema, index: Index) -> Evidence | None:
    """The entries that writes create in an index."""
    there = facts.appearances(table.name, index.name)
    rows = [(key_of(a.key, a.entity), a.entity.name) for a in there]
    return keys_example(f"entries of {index.name}", *dict.fromkeys(rows)) if rows else None


def readers_of(facts: Reach, table: TableSchema, index: Index) -> list[PatternSchema]:
    return [p for p in facts.schema.patterns if p.table == table.name and p.index == index.name]


@rule("X4", "not-sparse", "warning", "An index declared sparse holds every item")
def not_sparse(facts: Reach) -> Iterator[Defect]:
    for table, index in all_indexes(facts):
        entities = facts.schema.entities_of(table.name)
        if not index.sparse or not entities:
            continue
        whole = [
            a.entity.name
            for a in facts.appearances(table.name, index.name)
            if not _is_partial(a.entity, a.placement, a.key.fields)
        ]
        if all(entity.name in whole for entity in entities):
            yield Defect(
                index,
                f"is declared sparse, but every item of {table.name} has its key attributes",
                "Set the key attributes only on the items that the index should list, or remove "
                "`sparse`.",
                (table,),
                evidence=_index_writes_example(facts, table, index),
            )


def _is_partial(entity: EntitySchema, placement: Placement | None, fields: tuple[str, ...]) -> bool:
    if placement is not None and placement.is_partial:
        return True
    return any(f in entity.by_field and entity.by_field[f].optional for f in fields)


@rule(
    "X7",
    "consistency-regression",
    "warning",
    "A change turns a consistent read into an eventually consistent one",
)
def consistency_regression(facts: Reach) -> Iterator[Defect]:
    if facts.schema.before is None:
        return
    for pattern in facts.schema.patterns:
        was = facts.schema.before.by_pattern.get(pattern.name)
        if was is not None and was.index is None and pattern.index is not None:
            yield Defect(
                pattern,
                f"was read from {was.table} by its key and is now read through {pattern.index}, "
                "which lags behind",
                "Give callers the whole key so that they can read the table, or tell them that "
                "the read is now eventually consistent.",
                evidence=steps_example(
                    f"{', '.join(pattern.entities)} is written to {pattern.table}",
                    f"{pattern.name} reads {pattern.index} within a second, and finds it as it was",
                    so=f"a caller that read {was.table} saw its own write, and now does not",
                ),
            )


@rule(
    "X9",
    "mutable-index-key",
    "note",
    "Every change of a field in an index key costs two index writes",
)
def mutable_index_key(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity, placement in all_placements(facts):
        if placement.is_partial:
            continue  # Entering and leaving is the purpose of a sparse index.
        changing = [
            slot.field
            for slot in placement.key.slots
            if facts.changes(entity, slot.field) and not facts.is_moment(entity, slot)
        ]
        updated = {
            field for _, effect in facts.writes(entity.name, "update") for field in effect.fields
        }
        if set(changing) & updated:
            fields = ", ".join(dict.fromkeys(changing))
            yield Defect(
                placement,
                f"{fields} changes and is part of `{placement.key}`: each change deletes one "
                "index entry and writes another",
                f"Count two index writes for each change of {fields}.",
                (entity,),
                evidence=_move_example(entity, placement, changing[0]),
            )
        elif not facts.writes(entity.name, "update"):
            yield from _may_change(entity, placement, changing)


def _may_change(entity: EntitySchema, placement: Placement, fields: list[str]) -> Iterator[Defect]:
    """Whether it can change: a status does, stated or not."""
    for field in dict.fromkeys(fields):
        attribute = entity.by_field[field]
        named = words(field)[-1]
        if attribute.states or named in _STATES or (named == "state" and attribute.values):
            yield Defect(
                placement,
                f"what changes {field}? It is part of `{placement.key}`, and each change deletes "
                "one index entry and writes another",
                f"Declare the operation that changes {field}, or declare {field} as fixed.",
                (entity,),
                severity="question",
                cause=f"what changes {field}",
                evidence=_move_example(entity, placement, field),
            )


_STATES = {"status", "phase", "stage"}
"""Words for values that change during an item's life."""


def _move_example(entity: EntitySchema, placement: Placement, field: str) -> Evidence:
    """The two entries affected by one change."""
    slot = next(slot for slot in placement.key.slots if slot.field == field)
    old, new = (value_of(entity, slot, n) for n in (1, 2))
    return keys_example(
        f"{field} goes from {old} to {new}",
        ("deleted:", key_of(placement.key, entity, 1, {field: old})),
        ("written:", key_of(placement.key, entity, 1, {field: new})),
    )


@rule("X11", "same-partition-as-base", "note", "An index has the same partitions as the table")
def same_partition_as_base(facts: Reach) -> Iterator[Defect]:
    for entity, placement in all_placements(facts):
        index = facts.schema.by_table[entity.table].index(placement.index)
        if entity.key is None or index is None or index.local:
            continue
        if placement.key.partition == entity.key.partition:
            yield Defect(
                placement,
                f"`{placement.key.partition}` is the table's own partition: only the order differs",
                "Consider a local index, or a sort key that serves both orders.",
                (entity, index),
                evidence=keys_example(
                    f"one {entity.name}",
                    (key_of(entity.key, entity), f"in {entity.table}"),
                    (key_of(placement.key, entity), f"in {index.name}"),
                ),
            )
