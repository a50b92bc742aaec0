"""Time to live: does data expire as intended, and are expired items treated as gone?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import AttributeSchema, EntitySchema, PatternSchema, TableSchema
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, Fix, rule
from keyfold.review.check.sample import item_name, moment

_DEADLINE = re.compile(r"expir|valid_?(until|to)|until|deadline", re.I)
"""Names of deadlines after which an item is obsolete."""
_REMOVAL = re.compile(r"delete|remove", re.I)
"""Names of times from which on an item counts as deleted, if they are its time to live."""
_TEXT = ("string", "id", "date")


@rule("Q12", "ttl-as-logic", "warning", "A pattern relies on expired items being gone")
def ttl_as_logic(facts: Reach) -> Iterator[Defect]:
    if facts.schema.enforced:
        return
    for entity in facts.schema.entities:
        if entity.ttl is None:
            continue
        stamps = [entity.ttl.attribute, *(a.name for a in entity.attributes)]
        deadlines = [name for name in dict.fromkeys(stamps) if _DEADLINE.search(name)]
        if _REMOVAL.search(entity.ttl.attribute):
            deadlines.insert(0, entity.ttl.attribute)
        for pattern in facts.schema.patterns if deadlines else ():
            compared = {entity.ttl.attribute, *deadlines} & {*fields_of(pattern.filter)}
            if entity.name in pattern.entities and not compared and not _only_keys(entity, pattern):
                yield Defect(
                    pattern,
                    f"treats every {entity.name} it reads as valid, but expired items stay "
                    "readable for up to two days",
                    f"Compare {deadlines[0]} with the current time in the filter, or after "
                    "the read.",
                    (entity,),
                    cause=f"expired {entity.name}",
                    evidence=steps_example(
                        f"{moment(1):%d %B, %H:%M}: {item_name(entity)} expires",
                        f"{moment(2):%d %B, %H:%M}: {pattern.name} returns it",
                        f"{moment(3):%d %B, %H:%M}: DynamoDB has deleted it by now",
                    ),
                )


def _only_keys(entity: EntitySchema, pattern: PatternSchema) -> bool:
    """Whether a pattern shows only keys, such as those of items to delete."""
    keyed = entity.key.fields if entity.key else ()
    return bool(pattern.shows) and set(pattern.shows) <= set(keyed)


@rule("W16", "ttl-never-expires", "error", "DynamoDB ignores the time to live")
def ttl_never_expires(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.ttl is None:
            continue
        table = facts.schema.by_table[entity.table]
        field = next((a for a in entity.attributes if a.name == entity.ttl.attribute), None)
        problem = _ttl_problem(table, entity) or not_seconds(field)
        if problem:
            yield Defect(
                entity,
                f"{problem}, so DynamoDB deletes nothing and reports nothing",
                "Store epoch seconds as a number, in the attribute that the table's TTL is on.",
                (table,),
                severity="warning" if table.ttl is None else None,
                fix=Fix("epoch_ms", "epoch") if field and field.stored == "epoch_ms" else None,
                evidence=_value_example(table, entity.ttl.attribute, field),
            )


def _value_example(table: TableSchema, name: str, field: AttributeSchema | None) -> Evidence:
    """An item's value, and what DynamoDB compares with the current time."""
    seconds = int(moment(1).timestamp())
    shown = moment(1).isoformat() if _is_text(field) else f"{seconds}"
    if field is not None and field.stored == "epoch_ms":
        shown = f"{seconds * 1000}"
    needed = "is what DynamoDB acts on" if table.ttl else "would count if TTL were on"
    return keys_example(
        f"an item that should expire on {moment(1):%d %B %Y}",
        (f"`{name} = {shown}`", "is stored"),
        (f"`{table.ttl or name} = {seconds}`", needed),
    )


def _ttl_problem(table: TableSchema, entity: EntitySchema) -> str:
    assert entity.ttl is not None, f"{entity.name} has no time to live"
    if table.ttl is None:
        return f"expires by {entity.ttl.attribute}, and TTL is not enabled on {table.name}"
    if table.ttl != entity.ttl.attribute:
        return f"expires by {entity.ttl.attribute}, and the TTL of {table.name} is on {table.ttl}"
    return ""


def not_seconds(attribute: AttributeSchema | None) -> str:
    if attribute is None:
        return ""
    if attribute.stored == "epoch_ms":
        return f"{attribute.name} holds milliseconds, which TTL takes as the year 50,000"
    if _is_text(attribute):
        return f"{attribute.name} is text, which TTL does not look at"
    return ""


def _is_text(attribute: AttributeSchema | None) -> bool:
    if attribute is None:
        return False
    written = attribute.type == "timestamp" and attribute.stored.startswith("iso")
    return written or attribute.type in _TEXT
