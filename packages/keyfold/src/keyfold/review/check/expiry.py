"""Time to live: does data expire as intended, and are expired items treated as gone?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.condition import fields_of
from keyfold.design.schema import AttributeSchema, EntitySchema, PatternSchema, TableSchema
from keyfold.review.check.domains import ENTITIES
from keyfold.review.check.field_facts import DEADLINE, REMOVAL, field_facts, mentions
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule

MONTH = 30
"""Days from which on a time to live says how long something is kept, not how long it is valid."""
_TEXT = ("string", "id", "date")


@rule("Q12", ENTITIES, enforced=False)
def ttl_as_logic(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    if entity.ttl is None:
        return
    stamps = [entity.ttl.attribute, *(a.name for a in entity.attributes)]
    deadlines = [name for name in dict.fromkeys(stamps) if DEADLINE.search(name)]
    removed, valid = REMOVAL.search(entity.ttl.attribute), mentions(entity.name, "valid")
    said = True if deadlines or removed else None
    if removed or valid:
        deadlines.insert(0 if removed else len(deadlines), entity.ttl.attribute)
    elif entity.key and any(facts.is_moment(entity, slot) for slot in entity.key.slots):
        return  # History is over some day, and never invalid.
    elif (entity.ttl.days or 0) >= MONTH:
        said = None
    for pattern in facts.schema.patterns if deadlines else ():
        compared = {entity.ttl.attribute, *deadlines} & {*fields_of(pattern.filter)}
        if entity.name in pattern.entities and not compared and not _only_keys(entity, pattern):
            yield hit(said=said, pattern=pattern, deadline=deadlines[0])


def _only_keys(entity: EntitySchema, pattern: PatternSchema) -> bool:
    """Whether a pattern shows only keys, such as those of items to delete."""
    keyed = entity.key.fields if entity.key else ()
    return bool(pattern.shows) and set(pattern.shows) <= set(keyed)


@rule("W16", ENTITIES)
def ttl_never_expires(facts: Reach, entity: EntitySchema) -> Found | None:
    if entity.ttl is None:
        return None
    table = facts.schema.by_table[entity.table]
    field = next((a for a in entity.attributes if a.name == entity.ttl.attribute), None)
    problem = _ttl_problem(table, entity) or not_seconds(field)
    if not problem:
        return None
    in_ms = field is not None and field.stored == "epoch_ms"
    case = ("on" if table.ttl else "off") + (" ms" if in_ms else "")
    return hit(case, table=table, problem=problem)


@rule("W18", ENTITIES)
def ttl_not_a_moment(facts: Reach, entity: EntitySchema) -> Found | None:
    table = facts.schema.by_table[entity.table]
    name = entity.ttl.attribute if entity.ttl else table.ttl
    held = next((a for a in entity.attributes if a.name == name), None)
    if held is None or (entity.ttl is not None and entity.ttl.days is not None):
        return None
    time = field_facts(entity, held.field).time
    if time not in ("span", "created"):
        return None
    return hit(time, said=held.type == "duration" or None, table=table, attribute=held)


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
