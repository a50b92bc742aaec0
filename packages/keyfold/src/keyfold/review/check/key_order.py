"""K, continued: times and numbers in keys. Are they unique, and do they sort correctly?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Placement
from keyfold.design.template import Slot, Template
from keyfold.review.check.domains import ENTITIES, KEYS
from keyfold.review.check.field_facts import WORDS, field_facts, means, words_of
from keyfold.review.check.reach import RANGES, Reach, is_own_id, slots
from keyfold.review.check.rule import Found, hit, rule

NUMBERS = ("number", "decimal")


@rule("K7", ENTITIES)
def timestamp_no_tiebreak(facts: Reach, entity: EntitySchema) -> Found | None:
    if entity.key is None:
        return None
    parts = tuple(entity.key.slots)
    if any(not facts.is_moment(entity, slot) for slot in parts):
        parts = slots(entity.key.sort) if entity.key.sort else ()
        if _is_alone(entity, entity.key) or _is_reference(facts, entity, entity.key):
            return None
    moments = [slot for slot in parts if facts.is_moment(entity, slot)]
    shared = moments or [slot for slot in parts if _is_measured(entity, slot)]
    if not shared:
        return _one_of_each_period(facts, entity, parts)
    after = parts[parts.index(shared[-1]) + 1 :]
    others = [slot for slot in parts if slot not in shared]
    # A role or a kind behind the time tells few items apart.
    told = any(field_facts(entity, slot.field, slot).variety != "few" for slot in after)
    if told or any(_is_own(facts, entity, slot) for slot in others):
        return None
    made = facts.writes(entity.name, "create", "put")
    return hit(
        "refused" if made and all(effect.guarded for _, effect in made) else "lost",
        same="time" if moments else "amount",
        field=shared[-1].field,
    )


def _one_of_each_period(
    facts: Reach, entity: EntitySchema, parts: tuple[Slot, ...]
) -> Found | None:
    """A key of a day, of items that something else tells apart."""
    periods = [s for s in parts if field_facts(entity, s.field, s).variety == "period"]
    others = [slot for slot in parts if slot not in periods]
    if entity.role != "canonical" or not periods or any(_is_own(facts, entity, s) for s in others):
        return None
    keyed = entity.key.fields if entity.key else ()
    apart = [
        a.field
        for a in entity.attributes
        if a.field not in keyed and (a.refers or a.type == "id" or means(a.field, "kind"))
    ]
    return hit("period", field=periods[-1].field, apart=apart[0]) if apart else None


def _is_alone(entity: EntitySchema, key: KeyTemplates) -> bool:
    """Whether the partition is that of the item: `ORDER#{orderId}` of an Order."""
    named = key.partition.literal_prefix.casefold().rstrip("#") == entity.name.casefold()
    own = (field for field in key.partition.fields if is_own_id(entity, field))
    return any(named or field != "id" for field in own)


def _is_reference(facts: Reach, entity: EntitySchema, mine: KeyTemplates) -> bool:
    """Whether its sort key is another entity's: the time in it is part of that one's identity."""
    others = (e.key for e in facts.entities_of(entity.table) if e is not entity and e.key)
    return any(
        key.sort == mine.sort
        and key.partition.fields
        and key.partition != mine.partition
        and {*key.fields} <= {*mine.fields}
        for key in others
    )


def _is_measured(entity: EntitySchema, slot: Slot) -> bool:
    """Whether a number is a result, which many items can have, and not their number."""
    attribute = entity.by_field.get(slot.field)
    numeric = attribute is not None and attribute.type in NUMBERS
    return numeric and means(slot.field, "amount", "result")


def _is_own(facts: Reach, entity: EntitySchema, slot: Slot) -> bool:
    """Whether a field identifies an item of this entity and is not another's id."""
    attribute = entity.by_field.get(slot.field)
    if attribute is not None and (attribute.refers or attribute.values):
        return False
    theirs = (e.key.fields for e in facts.schema.entities if e is not entity and e.key)
    return not any(slot.field in fields for fields in theirs)


@rule("K8", KEYS, enforced=False)
def timestamp_unsortable(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> Iterator[Found]:
    if key.sort is None or set(key.sort.fields) <= set(key.partition.fields):
        return  # No order, or one item per partition.
    yield from _behind_id(facts, entity, key.sort)
    numbers = _number_fields(facts, entity, key, placement)
    for slot in slots(key.sort):
        attribute = entity.by_field.get(slot.field)
        free = attribute and not (slot.format.sortable or attribute.stored)
        case = _unsorted(attribute) if attribute and free and slot.field not in numbers else ""
        if case:
            said = case != "amount" or _is_read_in_order(facts, entity, slot.field) or None
            yield hit(case, said=said, slot=slot, field=slot.field)
        if facts.is_moment(entity, slot):
            return  # What stands behind a full time orders nothing.


def _behind_id(facts: Reach, entity: EntitySchema, sort: Template) -> Iterator[Found]:
    """A time that orders nothing, because each item's own id stands before it."""
    parts = slots(sort)
    own = next((slot for slot in parts if is_own_id(entity, slot.field)), None)
    if own is not None and facts.is_identifier(entity, own.field):
        behind = parts[parts.index(own) + 1 :]
        late = [slot for slot in behind if facts.is_moment(entity, slot) or slot.format.coarse]
        if late:
            yield hit("behind", field=late[0].field, own=own.field)


def _unsorted(attribute: AttributeSchema) -> str:
    """Whether order fails, and how: shards are queried one by one; a year has four digits."""
    if attribute.type == "timestamp":
        return "time"
    if attribute.type in NUMBERS:
        spread = any(word in attribute.field.casefold() for word in WORDS["spread"])
        return (
            ""
            if spread or attribute.shards or words_of(attribute.field)[-1] == "year"
            else "number"
        )
    form = re.fullmatch(r"\{([^{}]*)\}", attribute.looks_like)
    if (
        attribute.type != "string"
        or attribute.values
        or attribute.refers
        or (attribute.looks_like and not form)
    ):
        return ""
    named = {words_of(attribute.field)[-1], form[1] if form else ""}
    return "amount" if named & WORDS["amount"] else ""


def _is_read_in_order(facts: Reach, entity: EntitySchema, field: str) -> bool:
    """Whether a pattern queries a range of a field, or promises its order."""
    for pattern in (p for p in facts.schema.patterns if entity.name in p.entities):
        condition = pattern.condition
        asked = condition.template.fields if condition.template else ()
        bounds = [bound.parameter for bound in (condition.low, condition.high) if bound]
        ranged = condition.operator in RANGES and field in (*asked[-1:], *bounds)
        if ranged or pattern.order == field:
            return True
    return False


def _number_fields(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> set[str]:
    """The fields that are numeric sort attributes by themselves."""
    table = facts.schema.by_table[entity.table]
    owner = table if placement is None else table.index(placement.index)
    held = owner.templates(key) if owner else ()
    return {
        f
        for name, kind, t in held
        if owner and kind == "N" and name in owner.sort_types
        for f in t.fields
    }
