"""L: the live table. Does it match the design? (`keyfold check --live`)"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import EntitySchema, Schema, TableSchema
from keyfold.maintain.fact import MARKERS as UNIQUE
from keyfold.review.check.evidence import keys_example
from keyfold.review.check.expiry import not_seconds
from keyfold.review.check.reach import Reach, example
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of
from keyfold.runtime.idempotency import PREFIX as ONCE


def _pairs(facts: Reach) -> Iterator[tuple[Schema, TableSchema, TableSchema | None]]:
    observed = facts.schema.observed
    if observed is not None:
        for table in facts.schema.tables:
            yield observed, table, observed.by_table.get(table.name)


@rule("L1", "table-differs", "error", "The live table differs from the design")
def table_differs(facts: Reach) -> Iterator[Defect]:
    for _, table, live in _pairs(facts):
        if live is None:
            yield Defect(
                table,
                f"{table.name} does not exist",
                "Create it: keyfold migrations plan shows how.",
            )
            continue
        for difference in _differences(table, live):
            yield Defect(
                table,
                difference,
                "Migrate the table, or correct the design.",
            )


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


@rule("L2", "item-undeclared", "warning", "The live table has items that match no entity")
def item_undeclared(facts: Reach) -> Iterator[Defect]:
    for observed, table, _ in _pairs(facts):
        for seen in observed.entities_of(table.name):
            if seen.key is None or _is_declared(facts, table, seen) or _is_support(facts, seen):
                continue
            shown = " / ".join(
                f"`{example(t)}`" for t in (seen.key.partition, seen.key.sort) if t is not None
            )
            share = f" ({seen.description})" if seen.description else ""
            yield Defect(
                table,
                f"items with keys like {shown} are in the table{share}, and no entity has such "
                "keys",
                "Declare the entity, or delete these items.",
                subject=f"{seen.name} in {table.name}",
                evidence=keys_example(
                    f"a key in {table.name}", (key_of(seen.key, seen), "is of no entity")
                ),
            )


@rule("L4", "live-ttl-ignored", "error", "DynamoDB ignores the time to live of live items")
def live_ttl_ignored(facts: Reach) -> Iterator[Defect]:
    for observed, table, live in _pairs(facts):
        for seen in observed.entities_of(table.name):
            field = next((a for a in seen.attributes if live and a.name == live.ttl), None)
            problem = not_seconds(field)
            if problem:
                yield Defect(
                    table,
                    f"in its items {problem}: they never expire",
                    "Write epoch seconds as a number, and correct what is there.",
                    subject=f"{seen.name} in {table.name}",
                )


def _is_declared(facts: Reach, table: TableSchema, seen: EntitySchema) -> bool:
    return seen.key is None or any(_matching_entities(facts, table, seen))


def _matching_entities(
    facts: Reach, table: TableSchema, seen: EntitySchema
) -> Iterator[EntitySchema]:
    """The entities of the design whose keys may match the observed items."""
    for entity in facts.schema.entities_of(table.name):
        if entity.key is None or seen.key is None:
            continue
        if not facts.meet(entity.key.partition, entity, seen.key.partition, seen):
            continue
        ours, theirs = entity.key.sort, seen.key.sort
        if ours is None or theirs is None or facts.meet(ours, entity, theirs, seen):
            yield entity


def _is_support(facts: Reach, seen: EntitySchema) -> bool:
    """Whether it is one of keyfold's own items: markers, request records."""
    prefix = seen.key.partition.literal_prefix if seen.key else ""
    return facts.schema.enforced and prefix.startswith((UNIQUE, ONCE))


@rule("L3", "attribute-undeclared", "warning", "Live items have attributes that no entity declares")
def attribute_undeclared(facts: Reach) -> Iterator[Defect]:
    for observed, table, live in _pairs(facts):
        keys = {name for one in (table, live) if one is not None for name in _key_names(one)}
        for seen in observed.entities_of(table.name):
            entities = list(_matching_entities(facts, table, seen))
            if not entities or not all(entity.attributes for entity in entities):
                continue  # A document that lists no attributes says nothing about them.
            declared = {a.name for entity in entities for a in entity.attributes} | keys
            declared |= {e.ttl.attribute for e in entities if e.ttl is not None}
            foreign = sorted({a.name for a in seen.attributes} - declared)
            if foreign:
                named = ", ".join(f"`{name}`" for name in foreign)
                yield Defect(
                    entities[0],
                    f"items in {table.name} have {named}, which no entity of their key declares",
                    "Declare them, or leave them: updates keep attributes that the design does "
                    "not know.",
                )


def _key_names(table: TableSchema) -> Iterator[str]:
    yield from table.key_attributes
    for index in table.indexes:
        yield from index.key_attributes
    if table.type_attribute is not None:
        yield table.type_attribute
