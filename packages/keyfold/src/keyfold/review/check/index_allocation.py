"""X, continued: the purpose of an index. Do its entries match it?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from keyfold.design.schema import EntitySchema, Index, Placement, TableSchema
from keyfold.review.check.evidence import Evidence, keys_example
from keyfold.review.check.indexes import all_placements
from keyfold.review.check.reach import NAMES_ONE, Reach, example
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of, text_of


@rule(
    "X12",
    "index-as-data-carrier",
    "warning",
    "An index key attribute carries data that nothing queries",
)
def index_as_data_carrier(facts: Reach) -> Iterator[Defect]:
    for consumer in facts.schema.consumers:
        table = facts.schema.by_table.get(consumer.table) or facts.schema.tables[0]
        for name in consumer.reads:
            for index in table.indexes:
                if name not in index.key_attributes:
                    continue
                yield Defect(
                    consumer,
                    f"uses {name}, a key attribute of {index.name}, only as data: the index is "
                    "paid for to store one value",
                    "Store the id in an ordinary attribute, and read that.",
                    (index,),
                    evidence=_carrier_example(facts, consumer.entities, index, name),
                )


def _carrier_example(
    facts: Reach, entities: tuple[str, ...], index: Index, name: str
) -> Evidence | None:
    """The values that a consumer reads from an index attribute."""
    named = (facts.schema.by_entity.get(one) for one in entities)
    rows = [
        (f"{name} = `{text_of(facts.templates(one)[name][0], one)}`", f"in a record of {one.name}")
        for one in named
        if one is not None and name in facts.templates(one)
    ]
    return keys_example(f"kept in {index.name}", *rows) if rows else None


@rule("X13", "allocation-rule-violated", "note", "The design breaks its own rule about index use")
def allocation_rule_violated(facts: Reach) -> Iterator[Defect]:
    for entity, placement in all_placements(facts):
        table = facts.schema.by_table[entity.table]
        index = table.index(placement.index)
        if index is None or not index.holds:
            continue
        held, allowed = _role_of(facts, entity, placement), _stated_roles(index)
        if held == "target" and not entity.owner and "owner" in allowed:
            continue
        if held and held not in allowed:
            words = " or ".join(_FOUND_BY.get(word, word) for word in allowed)
            others = [i.name for i in table.indexes if i is not index and held in _stated_roles(i)]
            better = others[0] if others else f"an index with `holds: {held}`"
            yield Defect(
                placement,
                f"the design keeps {index.name} for lookups by {words}, but "
                f"`{example(placement.key.partition)}` finds {entity.name} by {_FOUND_BY[held]}",
                f"Move it to {better}, or let {index.name} say `holds: {index.holds}, {held}`.",
                (entity, index),
                evidence=keys_example(
                    f"in {index.name}",
                    (key_of(placement.key, entity), f"{entity.name}, by {_FOUND_BY[held]}"),
                ),
            )


_FOUND_BY = {
    "owner": "owner",
    "target": "target (what an item points to)",
    "identifier": "identifier (an item's own id)",
    "alternative": "alternative (another unique name)",
}


def _stated_roles(index: Index) -> list[str]:
    return [word.strip() for word in index.holds.replace(" or ", ",").split(",") if word.strip()]


def _role_of(facts: Reach, entity: EntitySchema, placement: Placement) -> str:
    """The role of a placement's partition key for its entity."""
    fields = placement.key.partition.fields
    if len(fields) != 1:
        return ""
    field = fields[0]
    attribute = entity.by_field.get(field)
    if attribute is None:
        return ""
    if field == entity.owner:
        return "owner"
    if facts.references.target(entity, field):
        return "target"
    if facts.is_identifier(entity, field):
        return "identifier"
    unique = any(field in u.fields for u in entity.uniques) or NAMES_ONE.fullmatch(field)
    return "alternative" if unique else ""


@rule("X15", "shared-index-attribute", "note", "Two indexes share one partition key attribute")
def shared_index_attribute(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        for first, second in combinations(table.indexes, 2):
            if first.local or second.local or first.partition != second.partition:
                continue
            yield Defect(
                second,
                f"both have {first.partition} as partition key: an item with both sort keys "
                "appears in both, in the same partition",
                "Give each index its own partition attribute, or make sure that only the "
                "intended entities set each sort key.",
                (first, table),
                subject=f"{first.name} and {second.name}",
                evidence=_shared_entries_example(facts, table, first, second),
            )


def _shared_entries_example(
    facts: Reach, table: TableSchema, first: Index, second: Index
) -> Evidence | None:
    """Entries of both indexes, of one entity if it is in both."""
    ours, theirs = (facts.appearances(table.name, index.name) for index in (first, second))
    if not ours or not theirs:
        return None
    shared = [a for a in ours if any(a.entity is b.entity for b in theirs)]
    one = (shared or ours)[0]
    other = next((b for b in theirs if b.entity is one.entity), theirs[0])
    return keys_example(
        f"with one {first.partition}",
        (key_of(one.key, one.entity), f"{one.entity.name} in {first.name}"),
        (key_of(other.key, other.entity), f"{other.entity.name} in {second.name}"),
    )
