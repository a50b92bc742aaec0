"""L: the live table. Does it match the design? (`keyfold check --live`)"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, TableSchema
from keyfold.review.check.expiry import not_seconds
from keyfold.review.check.reach import Reach, example
from keyfold.review.check.rule import Domain, Found, hit, rule


def _tables(facts: Reach) -> Iterator[tuple[TableSchema, TableSchema | None]]:
    observed = facts.schema.observed
    for table in facts.schema.tables if observed else ():
        yield table, observed.by_table.get(table.name) if observed else None


def _live_kinds(facts: Reach) -> Iterator[tuple[TableSchema, TableSchema | None, EntitySchema]]:
    """Kinds of live items, with their table as declared and as it is."""
    for table, live in _tables(facts):
        for seen in facts.schema.observed.entities_of(table.name) if facts.schema.observed else ():
            yield table, live, seen


TABLES = Domain("table live", _tables)
SEEN = Domain("table live seen", _live_kinds)


@rule("L1", TABLES)
def table_differs(table: TableSchema, live: TableSchema | None) -> Iterator[Found]:
    if live is None:
        yield hit("missing")
        return
    yield from (hit("differs", difference=each) for each in _differences(table, live))


def _differences(table: TableSchema, live: TableSchema) -> Iterator[str]:
    if table.key_attributes != live.key_attributes:
        wanted, found = " / ".join(table.key_attributes), " / ".join(live.key_attributes)
        yield f"its key is {found}, and the design has {wanted}"
    for index in table.indexes:
        there = live.index(index.name)
        if there is None:
            yield f"it has no index {index.name}"
        elif (there.partition, there.sort) != (index.partition, index.sort):
            wanted, found = index.key_text, there.key_text
            yield f"{index.name} is over {found}, and the design has {wanted}"
    for there in live.indexes:
        if table.index(there.name) is None:
            yield f"it has the index {there.name}, which the design does not declare"
    if table.ttl != live.ttl:
        wanted = table.ttl or "none"
        yield f"its TTL attribute is {live.ttl or 'not set'}, and the design has {wanted}"
    if table.stream and not live.stream:
        yield "its stream is off, and the design needs one"


@rule("L2", SEEN)
def item_undeclared(facts: Reach, table: TableSchema, seen: EntitySchema) -> Found | None:
    if seen.key is None or any(_matching_entities(facts, table, seen)) or _is_support(facts, seen):
        return None
    both = (seen.key.partition, seen.key.sort)
    key = " / ".join(f"`{example(one)}`" for one in both if one is not None)
    return hit(key=key, share=f" ({seen.description})" if seen.description else "")


@rule("L4", SEEN)
def live_ttl_ignored(live: TableSchema | None, seen: EntitySchema) -> Found | None:
    field = next((a for a in seen.attributes if live and a.name == live.ttl), None)
    problem = not_seconds(field)
    return hit(problem=problem) if problem else None


def _matching_entities(
    facts: Reach, table: TableSchema, seen: EntitySchema
) -> Iterator[EntitySchema]:
    """The entities of the design whose keys may match the observed items."""
    for entity in facts.entities_of(table.name):
        if entity.key is None or seen.key is None:
            continue
        if not facts.meet(entity.key.partition, entity, seen.key.partition, seen):
            continue
        ours, theirs = entity.key.sort, seen.key.sort
        if ours is None or theirs is None or facts.meet(ours, entity, theirs, seen):
            yield entity


def _is_support(facts: Reach, seen: EntitySchema) -> bool:
    """Whether it is one of keyfold's own items: markers, request records."""
    # Only a declaration has such items, and it has imported these.
    from keyfold.maintain.fact import MARKERS as UNIQUE
    from keyfold.runtime.idempotency import PREFIX as ONCE

    prefix = seen.key.partition.literal_prefix if seen.key else ""
    return facts.schema.enforced and prefix.startswith((UNIQUE, ONCE))


@rule("L3", SEEN)
def attribute_undeclared(
    facts: Reach, table: TableSchema, live: TableSchema | None, seen: EntitySchema
) -> Found | None:
    keys = {name for one in (table, live) if one is not None for name in _key_names(one)}
    entities = list(_matching_entities(facts, table, seen))
    if not entities or not all(entity.attributes for entity in entities):
        return None  # A document that lists no attributes says nothing about them.
    declared = {a.name for entity in entities for a in entity.attributes} | keys
    declared |= {e.ttl.attribute for e in entities if e.ttl is not None}
    foreign = sorted({a.name for a in seen.attributes} - declared)
    names = [f"`{name}`" for name in foreign]
    return hit(entity=entities[0], names=names) if foreign else None


def _key_names(table: TableSchema) -> Iterator[str]:
    yield from table.key_attributes
    for index in table.indexes:
        yield from index.key_attributes
    if table.type_attribute is not None:
        yield table.type_attribute
