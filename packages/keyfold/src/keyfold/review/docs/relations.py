"""Relations between entities: references, copies, counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.design.schema import Schema
from keyfold.review.references import References


@dataclass(frozen=True)
class EntityRelation:
    """From the entity that holds the reference, copy or count to the one it is about."""

    source: str
    target: str
    kind: str
    label: str = ""


def relations(schema: Schema) -> tuple[EntityRelation, ...]:
    """One relation per pair; implied references are left out."""
    found: dict[tuple[str, str], EntityRelation] = {}
    for relation in (*_copies(schema), *_references(schema)):
        found.setdefault((relation.source, relation.target), relation)
    direct: dict[str, set[str]] = {}
    for source, target in found:
        direct.setdefault(source, set()).add(target)
    kept = [
        relation
        for (source, target), relation in found.items()
        if relation.kind or not _is_implied(direct, source, target)
    ]
    return (*kept, *dict.fromkeys(_counts(schema)))


def _is_implied(direct: dict[str, set[str]], source: str, target: str) -> bool:
    """Whether another path leads there: a member's user is also its group's owner."""
    return any(
        target in direct.get(middle, ())
        for middle in direct.get(source, ())
        if middle not in (source, target)
    )


def _copies(schema: Schema) -> Iterator[EntityRelation]:
    for each in schema.follows:
        if each.fact == "copy" and each.source in schema.by_entity:
            yield EntityRelation(each.target, each.source, "copy", "copies")


def _counts(schema: Schema) -> Iterator[EntityRelation]:
    for each in schema.follows:
        known = each.source in schema.by_entity and each.target in schema.by_entity
        if each.fact == "amount" and known:
            yield EntityRelation(each.source, each.target, "count", ", ".join(each.writes))


def _references(schema: Schema) -> Iterator[EntityRelation]:
    references = References(schema)
    for entity in schema.entities:
        for attribute in entity.attributes:
            target = references.target(entity, attribute.field)
            if target in schema.by_entity and target != entity.name:
                yield EntityRelation(entity.name, target, "", attribute.field)
