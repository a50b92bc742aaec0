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
    kept = (one for one in found.values() if one.kind or not _is_implied(found, one))
    return (*kept, *dict.fromkeys(_counts(schema)))


def _is_implied(found: dict[tuple[str, str], EntityRelation], reference: EntityRelation) -> bool:
    """Whether the same field leads there from something that it refers to: a task's user is the
    goal's user, and a member's user is not the group's owner.
    """
    between = (one.target for one in found.values() if one.source == reference.source)
    through = (found.get((middle, reference.target)) for middle in between)
    return any(one is not None and one.label == reference.label for one in through)


def _copies(schema: Schema) -> Iterator[EntityRelation]:
    for each in schema.follows:
        if each.fact == "copy" and each.source in schema.by_entity:
            yield EntityRelation(each.target, each.source, "copy", "copies")
    for feed in schema.feeds:
        if {feed.item, feed.post} <= {*schema.by_entity}:
            yield EntityRelation(feed.item, feed.post, "copy", "copies")


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
