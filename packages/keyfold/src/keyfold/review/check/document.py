"""D: the document itself. Is it consistent, and does it give reasons?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Schema
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule


@rule("D1", "count-mismatch", "error", "A stated count differs from the design's own")
def count_mismatch(facts: Reach) -> Iterator[Defect]:
    schemas = {"": facts.schema}
    if facts.schema.before is not None:
        schemas["before"] = facts.schema.before
    for stage, schema in schemas.items():
        for stated in schema.stated:
            counted = _count(schema, stated.about)
            if counted is not None and str(counted) != stated.value:
                yield Defect(
                    stated,
                    f"the document says {stated.value}, but the design has {counted} "
                    f"({_detail(schema, stated.about)})",
                    "Correct the count, and whatever was concluded from it.",
                    subject=f"{stated.about} {stage}".strip(),
                )


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


@rule("D2", "contradiction", "warning", "Two statements contradict each other")
def contradiction(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            others = [kind for kind in attribute.also if kind != attribute.type]
            if others:
                yield Defect(
                    entity,
                    f"{attribute.field} is a {attribute.type} here and elsewhere a "
                    f"{', '.join(others)}",
                    "Choose one type, and state it once.",
                    subject=f"{entity.name}.{attribute.field}",
                )
        changed = facts.writes(entity.name, "update") if entity.immutable else ()
        for operation, effect in changed:
            fields = f" {', '.join(effect.fields)}" if effect.fields else ""
            yield Defect(
                operation,
                f"{entity.name} is declared immutable, but this updates{fields}",
                "Name the fields that may change.",
                (entity,),
                subject=f"{operation.name} on {entity.name}",
            )


@rule("D3", "ttl-config-conflict", "warning", "Two retention periods are stated for one entity")
def ttl_config_conflict(facts: Reach) -> Iterator[Defect]:
    for stated in facts.schema.retentions:
        entity = facts.schema.by_entity.get(stated.entity)
        if entity is None:
            continue
        days = entity.ttl.days if entity.ttl else None
        if days != stated.days:
            source = f" ({stated.source})" if stated.source else ""
            yield Defect(
                stated,
                f"is kept {_days(days)} by its TTL, but {_days(stated.days)} is stated "
                f"elsewhere{source}",
                "State it once, in the entity's TTL.",
                (entity,),
            )


def _days(days: float | None) -> str:
    return "for ever" if days is None else f"{days:g} days"


@rule(
    "D4", "claim-or-rate-missing", "warning", "A claimed saving or speed has no figures behind it"
)
def claim_without_basis(facts: Reach) -> Iterator[Defect]:
    rated = any(pattern.rate is not None for pattern in facts.schema.patterns)
    sized = any(entity.bytes is not None for entity in facts.schema.entities)
    for stated in facts.schema.stated:
        if _count(facts.schema, stated.about) is None and not (rated and sized):
            yield Defect(
                stated,
                f"claims “{stated.value}” without the rate or size behind it",
                "State the rates and sizes that the claim rests on.",
            )


@rule("D5", "types-stale", "warning", "The generated types are out of date")
def types_stale(facts: Reach) -> Iterator[Defect]:
    for file in facts.schema.stale_types:
        yield Defect(
            facts.schema,
            "the design has changed since its types were written, so type checkers refuse "
            "what is right or accept what is wrong",
            "Run `keyfold types`, and `keyfold types --check` in continuous integration.",
            subject=file,
        )
