"""W, continued: do items, transactions and batches stay within DynamoDB's limits?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, OperationSchema
from keyfold_engine.limits import (
    BATCH_WRITE_ITEMS,
    ITEM_BYTES,
    MB,
    TRANSACTION_BYTES,
    TRANSACTION_ITEMS,
    WRITE_UNIT_BYTES,
)
from keyfold.review.check.evidence import steps_example, sum_example
from keyfold.review.check.reach import GROWING, Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import item_name
from keyfold.review.draft.names import words

ELEMENT = 40
"""Bytes of an id in a list or set."""


def _collections(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema]]:
    """Lists and sets with one element for each of something unbounded."""
    for entity, attribute in facts.all_attributes():
        if attribute.type in GROWING and attribute.mutable and attribute.refers:
            yield entity, attribute


@rule("W6", "unbounded-attribute", "error", "A list, set or map can grow without bound")
def unbounded_attribute(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        if attribute.max_items is None:
            yield Defect(
                entity,
                f"{attribute.field} gains an element for each {attribute.refers}, and nothing "
                "limits it; an item ends at 400 KB, and every write pays for the whole item",
                f"Keep one item for each {attribute.refers}, or state the maximum (max N).",
                subject=f"{entity.name}.{attribute.field}",
                evidence=sum_example(
                    f"one {entity.name}",
                    [(f"ids of {attribute.refers}", ITEM_BYTES // ELEMENT, ELEMENT)],
                    "the next one is refused",
                    "bytes",
                ),
            )

    for entity, attribute in () if facts.schema.enforced else facts.all_attributes():
        if not _is_pile(attribute):
            continue
        yield Defect(
            entity,
            f"how many elements can {attribute.field} have? An item ends at 400 KB, and every "
            "write pays for the whole item",
            "State the maximum (max N), or keep one item for each element.",
            subject=f"{entity.name}.{attribute.field}",
            severity="question",
            cause="how many elements lists hold",
        )
    for entity, attribute, period in _growing_attributes(facts):
        said = bool(_EACH_TIME.search(attribute.description))
        a_year = _A_YEAR[period]
        yield Defect(
            entity,
            f"{attribute.field} gains an entry each {period}, and every write pays for the whole "
            "item"
            if said
            else f"does {attribute.field} gain an entry each {period}? Then every write pays for "
            "the whole item",
            f"Keep one item for each {period}, or state the maximum number of entries.",
            subject=f"{entity.name}.{attribute.field}",
            severity="warning" if said else "question",
            evidence=sum_example(
                f"one {entity.name} after a year",
                [("entries", a_year, ELEMENT)],
                f"a write costs {-(-a_year * ELEMENT // WRITE_UNIT_BYTES)} units, and an item "
                f"takes {ITEM_BYTES:,}",
                "bytes",
            ),
        )


_PILES = {
    "comments",
    "events",
    "followers",
    "history",
    "likes",
    "log",
    "logs",
    "members",
    "messages",
}
_PILES |= {"notifications", "orders", "posts", "reactions", "replies", "transactions", "views"}
"""Names of what people and programs add to for ever."""


def _is_pile(attribute: AttributeSchema) -> bool:
    """Whether a list or set without a bound is called like something that grows."""
    free = not (attribute.max_items or attribute.refers or attribute.values)
    named = words(attribute.field)[-1] in _PILES
    return attribute.type in GROWING and attribute.mutable and free and named


_A_YEAR = {"hour": 8_760, "day": 365, "week": 52}
_PERIODS = {"hourly": "hour", "daily": "day", "weekly": "week"}
_EACH_TIME = re.compile(r"\b(?:each|every|per|an?)\s+(hour|day|week)\b", re.I)


def _growing_attributes(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema, str]]:
    """Unbounded maps and lists that grow over time, by name or description."""
    for entity, attribute in facts.all_attributes():
        if attribute.type not in ("map", "list") or attribute.max_items or attribute.refers:
            continue
        said = _EACH_TIME.search(attribute.description)
        named = (_PERIODS[word] for word in words(attribute.field) if word in _PERIODS)
        period = said[1].lower() if said else next(named, "")
        if period and attribute.mutable:
            yield entity, attribute, period


@rule("W7", "list-as-set", "warning", "Concurrent additions to a list are lost")
def list_as_set(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        # A bounded list is one that is ordered as a whole.
        if attribute.type == "list" and attribute.max_items is None:
            yield Defect(
                entity,
                f"{attribute.field} is a list of ids: an addition reads, changes and writes the "
                "whole list, and two concurrent additions lose one or store it twice",
                "Use a string set with ADD and DELETE.",
                subject=f"{entity.name}.{attribute.field}",
                evidence=steps_example(
                    f"A reads {attribute.field} of {item_name(entity)}: [x]",
                    "B reads it: [x]",
                    "A writes [x, a]",
                    "B writes [x, b]",
                    so="a is lost",
                ),
            )


@rule("W14", "item-too-large", "error", "An item can exceed 400 KB")
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
            f"an item can be {whole:,} bytes ({why}), but DynamoDB allows {ITEM_BYTES:,}",
            "Keep the elements as items of their own, or the large value in S3 with its key here.",
            evidence=sum_example(
                f"one {entity.name}", _terms(entity), f"an item takes {ITEM_BYTES:,}", "bytes"
            ),
        )


def _terms(entity: EntitySchema) -> list[tuple[str, float, float]]:
    """What makes an item large: its fields, or its stated size."""
    bounded = [(a.field, a.max_items, _element(a)) for a in entity.attributes if a.max_items]
    summed = sum(count * each for _, count, each in bounded)
    stated = entity.bytes or 0
    return [*bounded] if summed >= stated else [("as stated", 1, stated)]


def _most_bytes(attribute: AttributeSchema) -> int:
    if attribute.max_items is None:
        return 0
    return attribute.max_items * _element(attribute)


def _element(attribute: AttributeSchema) -> int:
    return 1 if attribute.type in ("string", "binary") else ELEMENT


@rule("W17", "request-too-large", "error", "A request exceeds DynamoDB's limits")
def request_too_large(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        if operation.batch is not None and operation.batch > BATCH_WRITE_ITEMS:
            yield Defect(
                operation,
                f"writes {operation.batch:,} items in one BatchWriteItem, which allows "
                f"{BATCH_WRITE_ITEMS}",
                f"Send batches of {BATCH_WRITE_ITEMS}, and send unprocessed items again.",
                evidence=sum_example(
                    "one request",
                    [("items", operation.batch, 1)],
                    f"{-(-operation.batch // BATCH_WRITE_ITEMS)} requests of {BATCH_WRITE_ITEMS} "
                    "hold them",
                    "items",
                ),
            )
        if operation.atomic:
            yield from _transaction(facts, operation)


def _transaction(facts: Reach, operation: OperationSchema) -> Iterator[Defect]:
    items, size, open_ = 0, 0, ""
    counted: list[tuple[str, float, float]] = []
    weighed: list[tuple[str, float, float]] = []
    for effect in operation.effects:
        entity = facts.schema.by_entity.get(effect.entity)
        count = _items_of_each(facts, entity) if effect.each and entity else 1
        if count is None:
            open_ = effect.entity
            continue
        items += count
        each = entity.bytes or 0 if entity else 0
        size += count * each
        counted.append((f"{effect.action} {effect.entity}", count, 1))
        weighed.append((f"{effect.action} {effect.entity}", count, each))
    remedy = (
        "Write the main item in the transaction, and the rest from the stream, in repeatable steps."
    )
    if items > TRANSACTION_ITEMS or size > TRANSACTION_BYTES:
        yield Defect(
            operation,
            f"writes up to {items:,} items{f' and {size / MB:,.1f} MB' if size else ''} in one "
            f"transaction, which allows {TRANSACTION_ITEMS} items and 4 MB",
            remedy,
            evidence=sum_example(
                "one call", counted, f"one transaction takes {TRANSACTION_ITEMS}", "items"
            )
            if items > TRANSACTION_ITEMS
            else sum_example(
                "one call", weighed, f"one transaction takes {TRANSACTION_BYTES:,}", "bytes"
            ),
        )
    elif open_:
        yield Defect(
            operation,
            f"how many {open_} can there be? One transaction allows {TRANSACTION_ITEMS} items",
            f"State per_partition of {open_}, or: {remedy[:1].lower()}{remedy[1:]}",
            severity="question",
            evidence=sum_example(
                "one call",
                [*counted, (f"each {open_}", TRANSACTION_ITEMS, 1)],
                f"one transaction takes {TRANSACTION_ITEMS}",
                "items",
            ),
        )


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
