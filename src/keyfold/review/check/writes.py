"""W: writes. Are effects guarded, whole, propagated, cleaned up, bounded and safe to repeat?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import (
    AttributeSchema,
    Effect,
    EntitySchema,
    OperationSchema,
    TableSchema,
)
from keyfold.design.template import Slot
from keyfold.review.check.reach import GROWING, Reach
from keyfold.review.check.rule import Defect, rule


@rule("W1", "put-unguarded", "error", "A create can overwrite an item that is there")
def put_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "create" and not effect.guarded:
            yield Defect(
                operation,
                f"{operation.name} on {effect.entity}",
                f"creates {effect.entity} without a condition: an item with that key is lost",
                "Put on the condition attribute_not_exists of the partition key.",
            )


@rule("W2", "update-unguarded", "error", "An update can create a ghost item")
def update_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "update" and not effect.guarded:
            yield Defect(
                operation,
                f"{operation.name} on {effect.entity}",
                f"updates {effect.entity} without a condition: after a delete it brings back an "
                "item with these attributes only",
                "Update on the condition attribute_exists of the partition key.",
            )


@rule("W3", "multi-write-not-atomic", "error", "Several writes that can stop half way")
def multi_write_not_atomic(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        if operation.atomic or not _is_several(operation):
            continue
        parts = dict.fromkeys(
            f"{effect.action} {'each ' if effect.each else ''}{effect.entity}"
            for effect in operation.effects
        )
        yield Defect(
            operation,
            operation.name,
            f"writes one after the other ({', '.join(parts)}): a stop in between leaves them apart",
            "Make it one TransactWriteItems, or let the stream bring the rest about.",
        )


def _is_several(operation: OperationSchema) -> bool:
    return len(operation.effects) > 1 or any(effect.each for effect in operation.effects)


@rule("W4", "propagation-missing", "error", "A copied field has no path that updates it")
def propagation_missing(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        copy = facts.copy(entity)
        source = facts.schema.by_entity.get(copy.source) if copy else None
        if copy is None or source is None or copy.sync != "none":
            continue
        stale = [
            field
            for field in copy.writes
            if facts.changes(source, field) and not _is_propagated(facts, entity, source, field)
        ]
        if stale:
            yield Defect(
                entity,
                entity.name,
                f"copies {', '.join(stale)} from {source.name}, and no operation brings a change "
                "over",
                f"Let whatever changes {source.name} update {entity.name} too, in one transaction "
                "or from the stream.",
            )


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
            gone = {e.entity for e in operation.effects if e.action == "delete"}
            gone |= set(entity.cascades) | _removed_by_consumers(facts, entity)
            orphans = [d.name for d in _dependants(facts, entity) if d.name not in gone]
            if orphans:
                yield Defect(
                    operation,
                    operation.name,
                    f"deletes {entity.name} and leaves {', '.join(orphans)}, which belong to it",
                    "Delete them with it, or let the stream do so.",
                    (entity,),
                )


def _dependants(facts: Reach, entity: EntitySchema) -> Iterator[EntitySchema]:
    """Copies of an entity, items keyed by its id, and items that it owns."""
    for other in facts.schema.entities:
        if other is entity:
            continue
        copy = facts.copy(other)
        copied = copy is not None and copy.source == entity.name
        keyed = other.key is not None and any(
            other.by_field[field].refers == entity.name
            for field in other.key.fields
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


def _collections(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema]]:
    """Lists and sets with one element for each of something that has no bound."""
    for entity in facts.schema.entities:
        for attribute in entity.attributes:
            if attribute.type in GROWING and attribute.mutable and attribute.refers:
                yield entity, attribute


@rule("W6", "unbounded-attribute", "error", "A list or set that can grow to 400 KB")
def unbounded_attribute(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        if attribute.max_items is None:
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"{attribute.field} gains an element for each {attribute.refers}, and nothing "
                "stops it before 400 KB; every write pays for all of it",
                f"Keep one item for each {attribute.refers}, or state the most there can be.",
            )


@rule("W7", "list-as-set", "warning", "A list used as a set loses concurrent additions")
def list_as_set(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _collections(facts):
        if attribute.type == "list":
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"{attribute.field} is a list of ids: adding one reads, changes and writes it all, "
                "and two at once lose one or store it twice",
                "Use a string set with ADD and DELETE.",
            )


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
                f"gains an item for each {moments[0]} and loses none: the partition grows for ever",
                "Give it a TTL, or say how many a partition keeps (per_partition).",
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


@rule("W12", "state-unreachable", "error", "No item ever gets to a state")
def state_unreachable(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _with_states(facts):
        found = attribute.reached_states()
        named = (one for step in attribute.states for one in (step.before, step.after))
        lost = [state for state in dict.fromkeys((*attribute.values, *named)) if state not in found]
        if lost:
            begin = " or ".join(attribute.start or (attribute.states[0].before,))
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"a new item is {begin}, and no steps lead to {', '.join(lost)}",
                "Add the step that is missing, or take the state away.",
            )


@rule("W13", "state-without-way-out", "warning", "An item stays in a state for ever")
def state_without_way_out(facts: Reach) -> Iterator[Defect]:
    for entity, attribute in _with_states(facts):
        ends = set(attribute.final or _ends(attribute))
        if not ends:
            continue
        for _ in attribute.states:
            ends |= {step.before for step in attribute.states if step.after in ends}
        stuck = [state for state in attribute.reached_states() if state not in ends]
        if stuck:
            yield Defect(
                entity,
                f"{entity.name}.{attribute.field}",
                f"from {', '.join(stuck)} no steps lead to an end",
                "Add the step that is missing, or name the state in final=.",
            )


def _with_states(facts: Reach) -> Iterator[tuple[EntitySchema, AttributeSchema]]:
    for entity in facts.schema.entities:
        yield from ((entity, one) for one in entity.attributes if one.states)


def _ends(attribute: AttributeSchema) -> set[str]:
    left = {step.before for step in attribute.states}
    return {step.after for step in attribute.states} - left


def _missing(facts: Reach, operation: OperationSchema, effect: Effect) -> list[str]:
    """Fields of the key that the caller of an operation does not give."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or effect.each or not operation.parameters:
        return []
    if effect.action not in ("update", "delete"):
        return []
    return [field for field in entity.key.fields if field not in operation.parameters]
