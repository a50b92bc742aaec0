"""K: keys. Can every item be addressed by exactly one key, in the order of its values?"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import combinations

from keyfold.design.schema import (
    EntitySchema,
    Index,
    KeyTemplates,
    Placement,
    TableSchema,
)
from keyfold.design.template import DELIMITER
from keyfold.review.check.domains import ENTITIES, KEYS, PLACEMENTS, TABLES
from keyfold.review.check.field_facts import means, mentions
from keyfold.review.check.key_sets import templates_of
from keyfold.review.check.reach import Reach, example, has_intent
from keyfold.review.check.rule import Domain, Found, hit, rule


@rule("K1", KEYS)
def template_field_undeclared(
    entity: EntitySchema,
    key: KeyTemplates,
) -> Found | None:
    roots = (slot.path.partition(".")[0] or slot.field for slot in key.slots)
    missing = [field for field in roots if entity.attributes and field not in entity.by_field]
    if not missing:
        return None
    close = get_close_matches(missing[0], entity.by_field, 1, 0.8)
    return hit("close" if close else "unknown", missing=missing, close=close)


@rule("K2", ENTITIES)
def base_key_missing(facts: Reach, entity: EntitySchema) -> Found | None:
    table = facts.schema.by_table[entity.table]
    known = any(
        other.key is not None and (table.sort is None or other.key.sort is not None)
        for other in facts.entities_of(table.name)
    )
    if entity.key is None:
        return hit("key", said=known or None, table=table)
    if table.sort is not None and entity.key.sort is None:
        return hit("sort", said=known or None, table=table)
    return None


@rule("K3", PLACEMENTS)
def index_template_missing(
    facts: Reach,
    entity: EntitySchema,
    placement: Placement,
    index: Index | None,
) -> Iterator[Found]:
    if index is None:
        yield hit("index")
        return
    held = facts.templates(entity)
    unset = [name for name in index.sort_types if name not in held]
    if unset and placement.key.sort is None:
        yield hit("unset", unset=unset)
    optional = [f for f in placement.key.fields if _is_optional(entity, f)]
    if optional and not placement.is_partial:
        yield hit("optional", optional=optional)


def _is_optional(entity: EntitySchema, field: str) -> bool:
    attribute = entity.by_field.get(field)
    return attribute is not None and attribute.optional


def _neighbours(facts: Reach) -> Iterator[tuple[EntitySchema, EntitySchema]]:
    """Pairs of entities that can share a partition."""
    for table in facts.schema.tables:
        keyed = (entity for entity in facts.entities_of(table.name) if entity.key)
        for first, second in combinations(keyed, 2):
            assert first.key, f"{first.name} has no key"
            assert second.key, f"{second.name} has no key"
            if facts.meet(first.key.partition, first, second.key.partition, second):
                yield first, second


NEIGHBOURS = Domain("first second", _neighbours)


@rule("K4", NEIGHBOURS)
def key_collision(facts: Reach, first: EntitySchema, second: EntitySchema) -> Found | None:
    if not _sort_meets(facts, first, second):
        return None
    # A deliberate choice is declared at both.
    silent = first if has_intent(second, "shared key") else second
    return hit("chance" if _is_by_chance(facts, first, second) else "same", silent=silent)


def _is_by_chance(facts: Reach, first: EntitySchema, second: EntitySchema) -> bool:
    assert first.key is not None, f"{first.name} has no key"
    assert second.key is not None, f"{second.name} has no key"
    pairs = zip(templates_of(first.key), templates_of(second.key), strict=False)
    return any(facts.is_by_chance(mine, first, theirs, second) for mine, theirs in pairs)


def _sort_meets(facts: Reach, first: EntitySchema, second: EntitySchema) -> bool:
    if first.key is None or second.key is None:
        return False
    one, other = first.key.sort, second.key.sort
    if one is None or other is None:
        return one is None and other is None
    return facts.meet(one, first, other, second)


@rule("K5", NEIGHBOURS)
def prefix_overlap(facts: Reach, first: EntitySchema, second: EntitySchema) -> Iterator[Found]:
    for short, long in ((first, second), (second, first)):
        one, other = (entity.key.sort if entity.key else None for entity in (short, long))
        if one is None or other is None or one.is_literal or not one.literal_prefix:
            continue
        prefix = one.literal_prefix
        reached = any(space.least.startswith(prefix) for space in facts.spaces(other, long))
        if reached and prefix == other.literal_prefix:
            reached = len(one.parts) < len(other.parts)  # The one with more comes with the other.
        if reached and not _is_known(facts, first, second):
            yield hit(short=short, long=long, prefix=prefix, key=example(other), mark=DELIMITER)


def _is_known(facts: Reach, first: EntitySchema, second: EntitySchema) -> bool:
    """Whether K4 reports it, or a pattern reads both."""
    together = any({first.name, second.name} <= {*p.entities} for p in facts.schema.patterns)
    return together or _sort_meets(facts, first, second)


@rule("K11", ENTITIES)
def mutable_primary_key(facts: Reach, entity: EntitySchema) -> Iterator[Found]:
    keyed = entity.key.fields if entity.key else ()
    for operation, effect in facts.writes(entity.name, "update"):
        changed = [field for field in effect.fields if field in keyed]
        if operation.atomic and facts.writes(entity.name, "delete"):
            continue  # The delete and the put, in one transaction.
        if changed:
            yield hit("changes", element=operation, changed=changed)
    planned = [field for field in keyed if _is_planned(entity, field)]
    if planned and entity.key and any(facts.is_identifier(entity, field) for field in keyed):
        yield hit("may", element=entity, changed=planned)


def _is_planned(entity: EntitySchema, field: str) -> bool:
    """Whether a field is a date that people set, and can set again."""
    attribute = entity.by_field.get(field)
    if attribute is None or not attribute.mutable or entity.immutable or attribute.refers:
        return False
    return attribute.type in ("timestamp", "date", "string") and mentions(field, "planned")


@rule("K16", ENTITIES)
def one_of_each_pair(facts: Reach, entity: EntitySchema) -> Found | None:
    """What happens again and again, under a key of others' ids alone."""
    fields = entity.key.fields if entity.key else ()
    others = [facts.references.target(entity, field) for field in fields]
    if entity.role != "canonical" or len(fields) < 2 or not all(others):
        return None
    return hit(others=others) if means(entity.name, "event") else None


@rule("K14", TABLES)
def prefix_registry_drift(facts: Reach, table: TableSchema) -> Found | None:
    used = dict.fromkeys(
        template.literal_prefix.partition(DELIMITER)[0] + DELIMITER
        for entity, key, _ in facts.all_keys
        if entity.table == table.name
        for template in templates_of(key)
        if DELIMITER in template.literal_prefix
    )
    listed = {prefix.partition(DELIMITER)[0] + DELIMITER for prefix in table.prefixes}
    missing = [f"`{prefix}`" for prefix in used if prefix not in listed]
    return hit(missing=missing) if table.prefixes and missing else None
