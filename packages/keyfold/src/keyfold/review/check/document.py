"""D: the document itself. Is it consistent, and does it give reasons?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Retention, Schema, Statement
from keyfold.review.check.domains import DESIGN
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Domain, Found, hit, rule

STATED = Domain("stated", lambda facts: facts.schema.stated)
RETENTIONS = Domain("stated", lambda facts: facts.schema.retentions)
STALE_TYPES = Domain(
    "schema file", lambda facts: ((facts.schema, file) for file in facts.schema.stale_types)
)


@rule("D1", DESIGN)
def count_mismatch(schema: Schema) -> Iterator[Found]:
    for case, one in {"now": schema, "before": schema.before}.items():
        for stated in one.stated if one else ():
            counted = _count(one, stated.about) if one else None
            if one and counted is not None and str(counted) != stated.value:
                yield hit(case, stated=stated, counted=counted, detail=_detail(one, stated.about))


def _count(schema: Schema, about: str) -> int | None:
    if about == "tables":
        return len(schema.tables)
    if about == "entities":
        return len(schema.entities)
    if about == "indexes":
        return sum(len(table.indexes) for table in schema.tables)
    name = about.removeprefix("indexes of ")
    table = schema.by_table.get(name)
    return len(table.indexes) if table and name != about else None


def _detail(schema: Schema, about: str) -> str:
    table = schema.by_table.get(about.removeprefix("indexes of "))
    if table is not None:
        return ", ".join(index.name for index in table.indexes)
    if about != "indexes":
        named = schema.tables if about == "tables" else schema.entities
        return ", ".join(each.name for each in named)
    return ", ".join(f"{t.name} {len(t.indexes)}" for t in schema.tables if t.indexes)


@rule("D2", DESIGN)
def contradiction(facts: Reach, schema: Schema) -> Iterator[Found]:
    for entity in schema.entities:
        for attribute in entity.attributes:
            others = [kind for kind in attribute.also if kind != attribute.type]
            if others:
                yield hit("type", element=entity, entity=entity, attribute=attribute, others=others)
        for operation, effect in facts.writes(entity.name, "update") if entity.immutable else ():
            fields = f" {', '.join(effect.fields)}" if effect.fields else ""
            yield hit("immutable", element=operation, entity=entity, fields=fields)


@rule("D3", RETENTIONS)
def ttl_config_conflict(facts: Reach, stated: Retention) -> Found | None:
    entity = facts.schema.by_entity.get(stated.entity)
    days = entity.ttl.days if entity and entity.ttl else None
    if entity is None or days == stated.days:
        return None
    source = f" ({stated.source})" if stated.source else ""
    return hit(entity=entity, kept=_days(days), wanted=_days(stated.days), source=source)


def _days(days: float | None) -> str:
    return "for ever" if days is None else f"{days:g} days"


@rule("D4", STATED)
def claim_without_basis(facts: Reach, stated: Statement) -> bool:
    rated = any(pattern.rate is not None for pattern in facts.schema.patterns)
    sized = any(entity.bytes is not None for entity in facts.schema.entities)
    return _count(facts.schema, stated.about) is None and not (rated and sized)


@rule("D5", STALE_TYPES)
def types_stale() -> bool:
    return True
