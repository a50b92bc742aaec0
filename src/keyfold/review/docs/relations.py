"""How entities hang together: who refers to whom, who copies whom, who counts whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from keyfold.design.schema import Entity, Schema
from keyfold.review.draft import names


@dataclass(frozen=True)
class Relation:
    """From the entity that holds the reference, copy or count to the one it is about."""

    source: str
    target: str
    kind: str
    label: str = ""


def relations(schema: Schema) -> tuple[Relation, ...]:
    """One relation for each pair; references that others already imply are left out."""
    found: dict[tuple[str, str], Relation] = {}
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
    """Whether another way leads there: a member's user is also its group's owner."""
    return any(
        target in direct.get(middle, ())
        for middle in direct.get(source, ())
        if middle not in (source, target)
    )


def _copies(schema: Schema) -> Iterator[Relation]:
    for entity in schema.entities:
        if entity.copy is not None and entity.copy.of in schema.by_entity:
            yield Relation(entity.name, entity.copy.of, "copy", "copies")


def _counts(schema: Schema) -> Iterator[Relation]:
    for counter in schema.counters:
        if counter.counts in schema.by_entity and counter.target in schema.by_entity:
            yield Relation(counter.counts, counter.target, "count", counter.attribute)


def _references(schema: Schema) -> Iterator[Relation]:
    homes = {field: owner for owner in schema.entities for field in _identity(owner)}
    for entity in schema.entities:
        for attribute in entity.attributes:
            home = homes.get(attribute.field)
            target = attribute.refers or (home.name if home else "")
            if target in schema.by_entity and target != entity.name:
                yield Relation(entity.name, target, "", attribute.field)


def _identity(entity: Entity) -> tuple[str, ...]:
    """The field that identifies an item: the only one in its key, or the one called after it."""
    if entity.key is None or entity.role != "canonical":
        return ()
    held = dict.fromkeys(entity.key.fields)
    fields = tuple(f for f in held if f not in entity.by_field or not entity.by_field[f].refers)
    called = [*names.words(entity.name), "id"]
    return fields if len(fields) == 1 else tuple(f for f in fields if names.words(f) == called)
