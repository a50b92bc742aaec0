"""W: writes. Are effects guarded, whole, propagated, cleaned up, bounded and safe to repeat?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyfold.design.schema import Effect, EntitySchema, OperationSchema, TableSchema
from keyfold.design.template import Slot
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule


@rule("W1", "put-unguarded", "error", "A create can overwrite an item that is there")
def put_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "create" and not effect.guarded:
            said = effect.guarded is False
            yield Defect(
                operation,
                f"{operation.name} on {effect.entity}",
                f"creates {effect.entity} without a condition: an item with that key is lost"
                if said
                else f"what if the {effect.entity} that it creates is there already?",
                "Put on the condition attribute_not_exists of the partition key.",
                severity=None if said else "question",
                cause="" if said else "conditions of creates",
            )


@rule("W2", "update-unguarded", "error", "An update can create a ghost item")
def update_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "update" and not effect.guarded:
            said = effect.guarded is False
            yield Defect(
                operation,
                f"{operation.name} on {effect.entity}",
                f"updates {effect.entity} without a condition: after a delete it brings back an "
                "item with these attributes only"
                if said
                else f"what if the {effect.entity} that it updates is gone?",
                "Update on the condition attribute_exists of the partition key.",
                severity=None if said else "question",
                cause="" if said else "conditions of updates",
            )


@rule("W3", "multi-write-not-atomic", "error", "Several writes that can stop half way")
def multi_write_not_atomic(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        several = len(operation.effects) > 1 or any(effect.each for effect in operation.effects)
        if operation.atomic or not several or _is_repeatable(operation):
            continue
        parts = dict.fromkeys(
            f"{effect.action} {'each ' if effect.each else ''}{effect.entity}"
            for effect in operation.effects
        )
        said = operation.atomic is False
        yield Defect(
            operation,
            operation.name,
            f"writes one after the other ({', '.join(parts)}): a stop in between leaves them apart"
            if said
            else f"are its writes ({', '.join(parts)}) one transaction?",
            "Make it one TransactWriteItems, or let the stream bring the rest about.",
            severity=None if said else "question",
            cause="" if said else "transactions of several writes",
        )


def _is_repeatable(operation: OperationSchema) -> bool:
    """Deletes that can be made again until all is gone."""
    return all(effect.action == "delete" for effect in operation.effects)


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


@rule("W8", "no-retention", "warning", "History without end")
def no_retention(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None or entity.key.sort is None or entity.ttl is not None:
            continue
        if facts.is_edited(entity):
            continue
        slots = [part for part in entity.key.sort.parts if isinstance(part, Slot)]
        moments = [slot.field for slot in slots if facts.is_moment(entity, slot)]
        if moments and entity.per_partition is None and not _is_trimmed(facts, entity):
            yield Defect(
                entity,
                entity.name,
                f"how long is it kept? It gains an item for each {moments[0]}, and nothing says "
                "that it loses one",
                "Give it a TTL, or say how many a partition keeps (per_partition).",
                severity="question",
                cause="how long history is kept",
            )


def _is_trimmed(facts: Reach, entity: EntitySchema) -> bool:
    """Whether items go while what they belong to stays."""
    parents = {a.refers for a in entity.attributes if a.refers}
    return any(
        not any(e.action == "delete" and e.entity in parents for e in operation.effects)
        for operation, _ in facts.writes(entity.name, "delete")
    )


@rule("W9", "retry-not-idempotent", "error", "A retry has its effect twice")
def retry_not_idempotent(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        if not operation.retried or _is_once(facts, operation):
            continue
        twice = [effect for effect in operation.effects if _adds_up(facts, effect)]
        if twice:
            what = ", ".join(dict.fromkeys(f"{e.action} {e.entity}" for e in twice))
            yield Defect(
                operation,
                operation.name,
                f"is retried, and {what} happens again each time",
                "Write a record of the request id in the same transaction, on the condition that "
                "it does not exist.",
            )


def _is_once(facts: Reach, operation: OperationSchema) -> bool:
    """Whether something in the same transaction stops the second run."""
    modelled = all(name in facts.schema.by_entity for name in operation.needs)
    if operation.idempotent and modelled:
        return True
    if not operation.atomic:
        return False
    return any(
        effect.guarded and effect.action in ("create", "delete") for effect in operation.effects
    )


def _adds_up(facts: Reach, effect: Effect) -> bool:
    if effect.action in ("increment", "decrement"):
        return True
    entity = facts.schema.by_entity.get(effect.entity)
    if effect.action != "create" or effect.guarded or entity is None or entity.key is None:
        return False
    # A key made of what the caller gives is the same on a retry; a new time or id is not.
    slots = [
        part
        for template in (entity.key.partition, entity.key.sort)
        if template is not None
        for part in template.parts
        if isinstance(part, Slot)
    ]
    return any(facts.is_moment(entity, slot) for slot in slots)


@rule("W15", "read-then-create", "error", "A create decided by a read of the same item")
def read_then_create(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        for effect in operation.effects:
            if effect.action not in ("create", "put") or effect.guarded:
                continue
            looked = [
                name
                for name in operation.reads
                if (pattern := facts.schema.by_pattern.get(name)) is not None
                and pattern.index is None
                and effect.entity in pattern.entities
            ]
            if looked:
                yield Defect(
                    operation,
                    f"{operation.name} on {effect.entity}",
                    f"reads {looked[0]} to see that there is none, and then writes: two callers at "
                    "once both find nothing, and one overwrites the other",
                    "Put on the condition attribute_not_exists, and skip the read.",
                )


@rule("W10", "support-entity-missing", "warning", "Something the design relies on is not modelled")
def support_entity_missing(facts: Reach) -> Iterator[Defect]:
    elements: tuple[OperationSchema | TableSchema, ...] = (
        *facts.schema.operations,
        *facts.schema.tables,
    )
    relying: dict[str, list[OperationSchema | TableSchema]] = {}
    for element in elements:
        for name in element.needs:
            if name not in facts.schema.by_entity:
                relying.setdefault(name, []).append(element)
    for name, users in relying.items():
        yield Defect(
            users[0],
            name,
            f"{', '.join(user.name for user in users)} counts on it, and no entity models it",
            "Declare it: its key, what it holds, and when it expires.",
            tuple(users[1:]),
        )


@rule("W11", "write-needs-index-read", "warning", "A write must first find its key in an index")
def write_needs_index_read(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        for effect in operation.effects:
            if effect.each:
                continue  # many are found by something that they share
            via, missing = effect.via_index, _missing(facts, operation, effect)
            if not via and not missing:
                continue
            what = f"its key in {via}" if via else f"{', '.join(missing)} of its key"
            yield Defect(
                operation,
                f"{operation.name} on {effect.entity}",
                f"must first look up {what}: one read more, from an index that lags behind",
                "Let the caller give the whole key, or key the item by what the caller has.",
            )


def _missing(facts: Reach, operation: OperationSchema, effect: Effect) -> list[str]:
    """Fields of the key that the caller of an operation does not give."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or effect.each or not operation.parameters:
        return []
    if effect.action not in ("update", "delete"):
        return []
    return [field for field in entity.key.fields if field not in operation.parameters]
