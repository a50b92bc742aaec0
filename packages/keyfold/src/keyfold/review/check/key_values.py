"""K, continued: values in keys. Are they unambiguous, retrievable and of the right type?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import AttributeSchema, EntitySchema, KeyTemplates, Placement
from keyfold.design.template import DELIMITER, Literal, Slot, Template
from keyfold.review.check.domains import DESIGN, KEY_TEMPLATES, KEYS
from keyfold.review.check.key_sets import templates_of
from keyfold.review.check.reach import UNSORTED, Reach, is_own_id, slots
from keyfold.review.check.rule import Found, hit, rule
from keyfold_engine.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES


@rule("K6", KEY_TEMPLATES, enforced=False)
def delimiter_in_value(
    facts: Reach,
    entity: EntitySchema,
    template: Template,
) -> Found | None:
    free = [s for s in slots(template) if facts.is_free_text(entity, s)]
    inner = [slot for slot in free if slot is not template.parts[-1]]
    if template.escape or not inner:
        return None
    mark, field = _delimiter(template, inner[0]), inner[0].field
    if len(free) < 2:
        return hit("one", mark=mark, field=field)
    case = "hash" if mark == DELIMITER else "two"
    return hit(case, mark=mark, field=field, first=free[0].field, second=free[1].field)


def _delimiter(template: Template, slot: Slot) -> str:
    """What ends a value inside a key: the character after it, or the next word."""
    following = template.parts[template.parts.index(slot) + 1]
    if isinstance(following, Slot):
        return DELIMITER
    return following.text if following.text[0].isalnum() else following.text[0]


@rule("K13", KEYS)
def lookup_not_normalised(
    facts: Reach,
    entity: EntitySchema,
    key: KeyTemplates,
) -> Iterator[Found]:
    for slot in () if entity.role in ("counter", "support") else slots(key.partition):
        attribute = entity.by_field.get(slot.field)
        if attribute is None or attribute.normalise or slot.format.name == "lower":
            continue
        if facts.is_free_text(entity, slot):
            yield hit(said=slot.field in _lowered(facts) or None, slot=slot, field=slot.field)


def _lowered(facts: Reach) -> set[str]:
    """Fields that are stored in lower case somewhere."""
    every = (
        slot for _, key, _ in facts.all_keys for one in templates_of(key) for slot in slots(one)
    )
    uniques = (u for e in facts.schema.entities for u in e.uniques if u.normalise)
    return {s.field for s in every if s.format.name == "lower"} | {
        f for u in uniques for f in u.fields
    }


MOST = {"partition": PARTITION_KEY_BYTES, "sort": SORT_KEY_BYTES}


@rule("K15", KEY_TEMPLATES)
def key_too_long(entity: EntitySchema, template: Template, kind: str) -> Found | None:
    """As far as texts are bounded; unbounded ones count as zero."""
    longest = sum(_longest(entity, part) for part in template.parts)
    return hit(longest=longest, most=MOST[kind]) if longest > MOST[kind] else None


def _longest(entity: EntitySchema, part: Literal | Slot) -> int:
    if isinstance(part, Literal):
        return len(part.text.encode())
    attribute = entity.by_field.get(part.field)
    bounded = attribute is not None and attribute.type == "string" and attribute.max_items
    return bounded or 0


@rule("K9", DESIGN)
def id_format_mismatch(facts: Reach) -> Iterator[Found]:
    formed = [(e, a) for e, a in facts.all_attributes if a.looks_like]
    at_home: dict[str, tuple[EntitySchema, AttributeSchema]] = {}
    for entity, here in formed:
        if not here.refers and (is_own_id(entity, here.field) or _is_only(formed, entity)):
            at_home.setdefault(entity.name, (entity, here))
    for entity, here in formed:
        owner, origin = at_home.get(here.refers, (entity, here))
        if origin.looks_like != here.looks_like:
            yield hit(entity=entity, here=here, owner=owner, origin=origin)


def _is_only(formed: list[tuple[EntitySchema, AttributeSchema]], entity: EntitySchema) -> bool:
    """Whether one field of an entity alone has a form: it can be no other than its id."""
    return sum(other is entity and not a.refers for other, a in formed) == 1


AS_NUMBERS = ("number", "decimal", "timestamp", "duration")


@rule("K12", KEYS)
def key_type_invalid(
    facts: Reach, entity: EntitySchema, key: KeyTemplates, placement: Placement | None
) -> Iterator[Found]:
    table = facts.schema.by_table[entity.table]
    owner = (table.index(placement.index) if placement else None) or table
    for _, wire, template in owner.templates(key):
        held = [entity.by_field[f] for f in template.fields if f in entity.by_field]
        wrong = [a for a in held if _is_unsorted(a, template)]
        number = template.is_bare_field and all(a.type in AS_NUMBERS for a in held)
        if wrong or (wire == "N" and not number):
            wrong_field = wrong[0] if wrong else None
            yield hit("type" if wrong else "number", wrong=wrong_field, template=template)


def _is_unsorted(attribute: AttributeSchema, template: Template) -> bool:
    unsorted = attribute.type in UNSORTED and not attribute.values
    return unsorted and (attribute.type != "boolean" or template.is_bare_field)
