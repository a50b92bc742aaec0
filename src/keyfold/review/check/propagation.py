"""W, continued: what a change leaves behind. Do copies follow it, and does a delete reach all?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import EntitySchema
from keyfold.review.check.evidence import Evidence, found
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import field_value, named


@rule("W4", "propagation-missing", "error", "A copied field has no path that updates it")
def propagation_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for source, copied in _copied(facts, entity):
            if not copied and facts.copy(entity) and not _is_written_with(facts, entity, source):
                yield Defect(
                    entity,
                    entity.name,
                    f"what does it copy from {source.name}, and what brings a change over?",
                    "Name the fields, and let whatever changes them update the copies too.",
                    severity="question",
                )
            stale = [
                field
                for field in copied
                if facts.changes(source, field) and not _is_propagated(facts, entity, source, field)
            ]
            if not stale:
                continue
            changed = [f for f in stale if _is_updated(facts, source, f)]
            yield Defect(
                entity,
                entity.name,
                f"copies {', '.join(stale)} from {source.name}, and no operation brings a change "
                "over"
                if changed or facts.copy(entity)
                else f"holds {', '.join(stale)} of {source.name}: what brings a change over?",
                f"Let whatever changes {source.name} update {entity.name} too, in one transaction "
                "or from the stream.",
                severity=None if changed or facts.copy(entity) else "question",
                evidence=_stale(entity, source, stale[0]),
            )


def _stale(entity: EntitySchema, source: EntitySchema, field: str) -> Evidence:
    """A source and its copy after a change."""
    old, new = (field_value(source.by_field.get(field), field, n) for n in (1, 2))
    return found(
        f"after {field} changes from {old} to {new}",
        (named(source), f"{field} = {new}"),
        (named(entity), f"{field} = {old}"),
    )


def _is_written_with(facts: Reach, copy: EntitySchema, source: EntitySchema) -> bool:
    return any(
        effect.entity == copy.name
        for operation, _ in facts.writes(source.name, "update")
        for effect in operation.effects
    )


_OWN = re.compile(
    r"(created|updated|joined|added)_?(at|by|on)|ttl|type|status|state|role|name|title|description|"
    r"version|.*_?id|timestamp|kind|count|tags|attributes|data|body|text",
    re.I,
)
"""Fields that every entity has for itself, under one name."""


def _copied(facts: Reach, entity: EntitySchema) -> Iterator[tuple[EntitySchema, tuple[str, ...]]]:
    """What an entity copies: as it says, as a mirror, or by the names of what it points to."""
    copy = facts.copy(entity)
    if copy is not None:
        source = facts.schema.by_entity.get(copy.source)
        if source is not None and copy.sync == "none":
            yield source, copy.writes
        return
    if facts.schema.enforced:
        return
    for other in facts.schema.entities:
        if other is entity or facts.copy(other) is not None:
            continue
        shared = [f for f in entity.by_field if f in other.by_field and not _in_key(entity, f)]
        if _is_mirror(entity, other):
            yield other, tuple(shared)
        elif any(attribute.refers == other.name for attribute in entity.attributes):
            own = tuple(f for f in shared if not _OWN.fullmatch(f) and not _in_key(other, f))
            yield other, own


def _in_key(entity: EntitySchema, field: str) -> bool:
    return entity.key is not None and field in entity.key.fields


def _is_mirror(entity: EntitySchema, other: EntitySchema) -> bool:
    """Whether two entities are one edge, kept from both ends; the first declared is the source."""
    if entity.key is None or other.key is None or entity.key.sort is None or other.key.sort is None:
        return False
    ends = (entity.key.partition.fields, entity.key.sort.fields)
    turned = ends == (other.key.sort.fields, other.key.partition.fields)
    return turned and ends[0] != ends[1] and entity.place.line > other.place.line


def _is_updated(facts: Reach, entity: EntitySchema, field: str) -> bool:
    return any(field in effect.fields for _, effect in facts.writes(entity.name, "update"))


def _is_propagated(facts: Reach, copy: EntitySchema, source: EntitySchema, field: str) -> bool:
    for operation, _ in facts.writes(source.name, "update"):
        for effect in operation.effects:
            covers = not effect.fields or field in effect.fields
            if covers and effect.entity == copy.name and effect.action in ("update", "put"):
                return True
    return any(
        effect.entity == copy.name and (not effect.fields or field in effect.fields)
        for consumer in facts.schema.consumers
        if source.name in consumer.entities
        for effect in consumer.effects
    )


@rule("W5", "cascade-incomplete", "error", "A delete leaves orphans")
def cascade_incomplete(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        for operation, _ in facts.writes(entity.name, "delete"):
            deleted = {e.entity for e in operation.effects if e.action == "delete"}
            orphans = _orphans(facts, entity, deleted)
            if not orphans:
                continue
            below = [f"{name} (below {parent})" if parent else name for name, parent in orphans]
            yield Defect(
                operation,
                operation.name,
                f"deletes {entity.name} and leaves {', '.join(below)}, which belong to it",
                "Delete them with it, or let the stream do so.",
                (entity,),
                evidence=found(
                    f"after {operation.name} of {named(entity)} these stay",
                    *((named(facts.schema.by_entity[name]), "") for name, _ in orphans),
                ),
            )


def _orphans(facts: Reach, entity: EntitySchema, deleted: set[str]) -> list[tuple[str, str]]:
    """What stays behind on any level below, with its parent where that is not the entity."""
    found: dict[str, str] = {}
    waiting, seen = [entity], {entity.name}
    while waiting:
        parent = waiting.pop(0)
        gone = deleted | set(parent.cascades) | _removed_by_consumers(facts, parent)
        for child in _dependants(facts, parent):
            if child.name not in gone and child.ttl is None:
                found.setdefault(child.name, "" if parent is entity else parent.name)
            if child.name not in seen:
                seen.add(child.name)
                waiting.append(child)
    return [(name, parent) for name, parent in found.items() if name not in deleted]


def _dependants(facts: Reach, entity: EntitySchema) -> Iterator[EntitySchema]:
    """Copies of an entity, items in a partition of its id, and items that it owns."""
    for other in facts.schema.entities:
        if other is entity or other.role in ("counter", "support"):
            continue
        copy = facts.copy(other)
        copied = copy is not None and copy.source == entity.name
        keyed = other.key is not None and any(
            facts.references.target(other, field) == entity.name
            for field in (other.key.fields if other.role == "edge" else other.key.partition.fields)
            if field in other.by_field
        )
        owner = other.by_field.get(other.owner)
        if copied or keyed or (owner is not None and owner.refers == entity.name):
            yield other


def _removed_by_consumers(facts: Reach, entity: EntitySchema) -> set[str]:
    return {
        effect.entity
        for consumer in facts.schema.consumers
        if entity.name in consumer.entities and "REMOVE" in consumer.events
        for effect in consumer.effects
        if effect.action == "delete"
    } | {each.target for each in facts.follows if each.source == entity.name and each.deletes}
