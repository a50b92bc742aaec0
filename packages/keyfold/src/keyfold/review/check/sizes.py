"""W, continued: do items, transactions and batches stay within DynamoDB's limits?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, OperationSchema
from keyfold.review.check.domains import ATTRIBUTES, ENTITIES, OPERATIONS
from keyfold.review.check.field_facts import PERIODS, field_facts, words_of
from keyfold.review.check.reach import GROWING, Reach
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import (
    BATCH_WRITE_ITEMS,
    ITEM_BYTES,
    MB,
    TRANSACTION_BYTES,
    TRANSACTION_ITEMS,
)

ELEMENT = 40
"""Bytes of an id in a list or set."""


def _collects(attribute: AttributeSchema) -> bool:
    """Whether it is an unbounded list or set with one element for each of something."""
    refers = attribute.type in GROWING and attribute.mutable and bool(attribute.refers)
    return refers and attribute.max_items is None


@rule("W6", ATTRIBUTES)
def unbounded_attribute(
    facts: Reach, entity: EntitySchema, attribute: AttributeSchema
) -> Iterator[Found]:
    if _collects(attribute):
        yield hit("each")
    if _is_pile(entity, attribute) and not facts.schema.enforced:
        yield hit("pile")
    if attribute.type in ("map", "list") and attribute.mutable and not _is_bounded(attribute):
        said = _EACH_TIME.search(attribute.description)
        named = (PERIODS[word] for word in words_of(attribute.field) if word in PERIODS)
        period = said[1].lower() if said else next(named, "")
        if period:
            yield hit("period", said=said, period=period)


def _is_bounded(attribute: AttributeSchema) -> bool:
    return bool(attribute.max_items or attribute.refers)


def _is_pile(entity: EntitySchema, attribute: AttributeSchema) -> bool:
    """Whether a list, set or map without a bound is called like something that grows."""
    free = attribute.mutable and not (_is_bounded(attribute) or attribute.values)
    if not free or attribute.type not in ("map", *GROWING):
        return False
    own = f"{words_of(entity.name)[-1]}s" == words_of(attribute.field)[-1]
    return own or field_facts(entity, attribute.field).holds == "pile"


_EACH_TIME = re.compile(r"\b(?:each|every|per|an?)\s+(hour|day|week)\b", re.I)


@rule("W7", ATTRIBUTES)
def list_as_set(attribute: AttributeSchema) -> bool:
    # A bounded list is one that is ordered as a whole.
    return attribute.type == "list" and _collects(attribute)


@rule("W14", ENTITIES)
def item_too_large(entity: EntitySchema) -> Iterator[Found]:
    large = {a.field: _most_bytes(a) for a in entity.attributes}
    whole = max(entity.bytes or 0, sum(large.values()))
    if whole <= ITEM_BYTES:
        if entity.bytes is None:
            yield from _files(entity)
        return
    field = max(large, key=lambda name: large[name], default="")
    most = large.get(field, 0)
    why = f"{field} alone can take {most:,} bytes" if most else "it says"
    yield hit("said", whole=whole, why=why, limit=ITEM_BYTES)


def _files(entity: EntitySchema) -> Iterator[Found]:
    for attribute in entity.attributes:
        if attribute.is_stored and field_facts(entity, attribute.field).holds == "file":
            yield hit("file", attribute=attribute)


def _most_bytes(attribute: AttributeSchema) -> int:
    each = 1 if attribute.type in ("string", "binary") else ELEMENT
    return (attribute.max_items or 0) * each


@rule("W17", OPERATIONS)
def request_too_large(facts: Reach, operation: OperationSchema) -> Iterator[Found]:
    if operation.batch is not None and operation.batch > BATCH_WRITE_ITEMS:
        yield hit("batch", allowed=BATCH_WRITE_ITEMS)
    if not operation.atomic:
        return
    items, size, open_ = 0, 0, ""
    for effect in operation.effects:
        entity = facts.schema.by_entity.get(effect.entity)
        count = _items_of_each(facts, entity) if effect.each and entity else 1
        if count is None:
            open_ = effect.entity
            continue
        items += count
        size += count * (entity.bytes or 0 if entity else 0)
    if items > TRANSACTION_ITEMS or size > TRANSACTION_BYTES:
        heavy = f" and {size / MB:,.1f} MB" if size else ""
        yield hit("transaction", items=items, heavy=heavy, allowed=TRANSACTION_ITEMS)
    elif open_:
        yield hit("open", entity=open_, allowed=TRANSACTION_ITEMS)


def _items_of_each(facts: Reach, entity: EntitySchema | None) -> int | None:
    """The number of items behind `each`: those of a partition, or of the list that names them."""
    if entity is None:
        return None
    if entity.per_partition is not None:
        return entity.per_partition
    copy = facts.copy(entity)
    source = facts.schema.by_entity.get(copy.source) if copy else None
    listed = source.by_field.get(copy.each) if source and copy else None
    return listed.max_items if listed else None
