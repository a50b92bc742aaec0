"""X, continued: the purpose of an index. Do its entries match it?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import ConsumerSchema, EntitySchema, Index, Placement, TableSchema
from keyfold.review.check.domains import CONSUMERS, PLACEMENTS
from keyfold.review.check.field_facts import NAMES_ONE
from keyfold.review.check.reach import Reach, example
from keyfold.review.check.rule import Found, hit, rule


@rule("X12", CONSUMERS)
def index_as_data_carrier(facts: Reach, consumer: ConsumerSchema) -> Iterator[Found]:
    table = facts.schema.by_table.get(consumer.table) or facts.schema.tables[0]
    for name in consumer.reads:
        yield from (hit(name=name, index=i) for i in table.indexes if name in i.key_attributes)


@rule("X13", PLACEMENTS)
def allocation_rule_violated(
    facts: Reach,
    entity: EntitySchema,
    placement: Placement,
    table: TableSchema,
    index: Index | None,
) -> Found | None:
    if index is None or not index.holds:
        return None
    held, allowed = _role_of(facts, entity, placement), _stated_roles(index)
    if not held or held in allowed:
        return None
    if held == "target" and not entity.owner and "owner" in allowed:
        return None
    others = [i for i in table.indexes if i is not index and held in _stated_roles(i)]
    return hit(
        "another" if others else "none",
        partition=example(placement.key.partition),
        role=_FOUND_BY[held],
        held=held,
        allowed=[_FOUND_BY.get(word, word) for word in allowed],
        better=others[0] if others else index,
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
