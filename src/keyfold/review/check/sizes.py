"""W, continued: do items, transactions and batches stay within what DynamoDB takes?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, OperationSchema
from keyfold.limits import (
    BATCH_WRITE_ITEMS,
    ITEM_BYTES,
    MB,
    TRANSACTION_BYTES,
    TRANSACTION_ITEMS,
)
from keyfold.review.check.reach import GROWING, Reach
from keyfold.review.check.rule import Defect, rule

ELEMENT = 40
"""Bytes of an id in a list or set."""


def _collections(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema]]:
    """Lists and sets with one element for each of something that has no bound."""
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            if attribute.type in GROWING and attribute.mutable and attribute.refers:
                yield entity, attribute


@rule("W6", "unbounded-attribute", "error", "A list or set that can grow to 400 KB")
def unbounded_attribute(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        if attribute.max_items is None:
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"{attribute.field} gains an element for each {attribute.refers}, and nothing "
                "stops it before 400 KB; every write pays for all of it",
                f"Keep one item for each {attribute.refers}, or state the most there can be.",
            )


@rule("W7", "list-as-set", "warning", "A list used as a set loses concurrent additions")
def list_as_set(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        # A list with a bound is one that somebody puts in order as a whole.
        if attribute.type == "list" and attribute.max_items is None:
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"{attribute.field} is a list of ids: adding one reads, changes and writes it all, "
                "and two at once lose one or store it twice",
                "Use a string set with ADD and DELETE.",
            )


@rule("W14", "item-too-large", "error", "An item that can grow past 400 KB")
def item_too_large(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        large = {a.field: _most_bytes(a) for a in entity.attributes}
        whole = max(entity.bytes or 0, sum(large.values()))
        if whole <= ITEM_BYTES:
            continue
        field = max(large, key=lambda name: large[name], default="")
        why = (
            f"{field} alone can take {large[field]:,} bytes"
            if field and large[field]
            else "it says"
        )
        yield Defect(
            entity,
            entity.name,
            f"an item can be {whole:,} bytes ({why}), and DynamoDB takes {ITEM_BYTES:,}",
            "Keep the elements as items of their own, or the large value in S3 with its key here.",
        )


def _most_bytes(attribute: AttributeSchema) -> int:
    if attribute.max_items is None:
        return 0
    return attribute.max_items * (1 if attribute.type in ("string", "binary") else ELEMENT)


@rule("W17", "request-too-large", "error", "More in one request than DynamoDB takes")
def request_too_large(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        if operation.batch is not None and operation.batch > BATCH_WRITE_ITEMS:
            yield Defect(
                operation,
                operation.name,
                f"writes {operation.batch:,} items in one BatchWriteItem, which takes "
                f"{BATCH_WRITE_ITEMS}",
                f"Send batches of {BATCH_WRITE_ITEMS}, and again what comes back unprocessed.",
            )
        if operation.atomic:
            yield from _transaction(facts, operation)


def _transaction(facts: Reach, operation: OperationSchema) -> Iterator[Defect]:
    items, size, open_ = 0, 0, ""
    for effect in operation.effects:
        entity = facts.schema.by_entity.get(effect.entity)
        count = _each(facts, entity) if effect.each and entity else 1
        if count is None:
            open_ = effect.entity
            continue
        items += count
        size += count * (entity.bytes or 0 if entity else 0)
    remedy = (
        "Write the main item in the transaction and let the stream bring the rest about, in steps "
        "that can be repeated."
    )
    if items > TRANSACTION_ITEMS or size > TRANSACTION_BYTES:
        yield Defect(
            operation,
            operation.name,
            f"writes up to {items:,} items and {size / MB:,.1f} MB in one transaction, which takes "
            f"{TRANSACTION_ITEMS} items and 4 MB",
            remedy,
        )
    elif open_:
        yield Defect(
            operation,
            operation.name,
            f"how many {open_} can there be? One transaction takes {TRANSACTION_ITEMS} items",
            f"State per_partition of {open_}, or: {remedy[:1].lower()}{remedy[1:]}",
            severity="question",
        )


def _each(facts: Reach, entity: EntitySchema | None) -> int | None:
    """How many items `each` stands for: the partition they are in, or the list that names them."""
    if entity is None:
        return None
    if entity.per_partition is not None:
        return entity.per_partition
    copy = facts.copy(entity)
    source = facts.schema.by_entity.get(copy.source) if copy else None
    listed = source.by_field.get(copy.each) if source and copy else None
    return listed.max_items if listed else None
