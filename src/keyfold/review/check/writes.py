"""W: writes. Are effects guarded, whole, bounded and safe to repeat?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import Effect, EntitySchema, OperationSchema, TableSchema
from keyfold.design.template import Slot
from keyfold.review.check.evidence import Evidence, course, found
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of, named


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
                evidence=course(
                    f"one caller puts {_named(facts, effect)}",
                    f"another puts {_named(facts, effect)}",
                    so="the first one's item is gone, and nobody is told",
                ),
            )


def _named(facts: Reach, effect: Effect, n: int = 1) -> str:
    """One item that an effect writes."""
    entity = facts.schema.by_entity.get(effect.entity)
    return named(entity, n) if entity else effect.entity


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
                evidence=course(
                    f"one caller deletes {_named(facts, effect)}",
                    f"another updates {', '.join(effect.fields) or 'its fields'} of it",
                    so="an item is there that has its key and "
                    f"{', '.join(effect.fields) or 'these fields'}, and nothing else",
                ),
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
            evidence=_half_way(facts, operation),
        )


def _half_way(facts: Reach, operation: OperationSchema) -> Evidence:
    """A stop after the first write: what is there, and what is not."""
    first = operation.effects[0]
    rest = operation.effects[1:] or (first,)
    return course(
        f"{first.action} {_named(facts, first)}: done",
        "the process stops",
        *(
            f"{effect.action} {_named(facts, effect, 2 if effect is first else 1)}: never made"
            for effect in rest
        ),
    )


def _is_repeatable(operation: OperationSchema) -> bool:
    """Deletes that can be made again until all is gone."""
    return all(effect.action == "delete" for effect in operation.effects)


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
                evidence=found(
                    "one partition gains",
                    *((key_of(entity.key, entity, n), f"day {n}") for n in (1, 2, 365)),
                ),
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
                evidence=_again(facts, operation, twice[0]),
            )


def _again(facts: Reach, operation: OperationSchema, effect: Effect) -> Evidence:
    """A request whose answer is lost, and the retry."""
    if effect.action == "create":
        done = [f"creates {_named(facts, effect, n)}" for n in (1, 2)]
        so = "two items stand for one request"
    else:
        field = effect.fields[0] if effect.fields else "the number"
        step = 1 if effect.action == "increment" else -1
        done = [f"{field} of {_named(facts, effect)} becomes {10 + step * n}" for n in (1, 2)]
        so = f"one request has counted twice: {10 + 2 * step} where {10 + step} is right"
    return course(f"{operation.name}: {done[0]}", "its answer is lost", f"retry: {done[1]}", so=so)


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
                    f"reads {looked[0]} to see that the key is free, and then writes: two callers "
                    "at once both find nothing, and one overwrites the other",
                    "Put on the condition attribute_not_exists, and skip the read.",
                    evidence=course(
                        f"A reads {looked[0]}: nothing",
                        f"B reads {looked[0]}: nothing",
                        f"A puts {_named(facts, effect)}",
                        f"B puts {_named(facts, effect)}",
                        so="A's item is gone, and both were told that it is theirs",
                    ),
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
                evidence=course(
                    f"{operation.name} is given {', '.join(operation.parameters) or 'no key'}",
                    f"it looks up {what}"
                    + (": an item of the last second is not found" if via else ""),
                    f"it can {effect.action} {_named(facts, effect)}",
                ),
            )


def _missing(facts: Reach, operation: OperationSchema, effect: Effect) -> list[str]:
    """Fields of the key that the caller of an operation does not give."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or effect.each or not operation.parameters:
        return []
    if effect.action not in ("update", "delete"):
        return []
    return [field for field in entity.key.fields if field not in operation.parameters]
