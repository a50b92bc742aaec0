"""W: writes. Are effects guarded, atomic, bounded and safe to repeat?"""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import (
    ConsumerSchema,
    Effect,
    EntitySchema,
    OperationSchema,
    TableSchema,
)
from keyfold.review.check.evidence import Evidence, keys_example, steps_example
from keyfold.review.check.reach import Reach, slots
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import item_name, key_of


@rule("W1", "put-unguarded", "error", "A create can overwrite an existing item")
def put_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "create" and not effect.guarded:
            said = effect.guarded is False
            yield Defect(
                operation,
                f"creates {effect.entity} without a condition: it overwrites an existing item with "
                "the same key"
                if said
                else f"what happens if the {effect.entity} that it creates already exists?",
                "Add the condition attribute_not_exists on the partition key.",
                subject=f"{operation.name} on {effect.entity}",
                severity=None if said else "question",
                cause="" if said else "conditions of creates",
                evidence=steps_example(
                    f"one caller puts {_key_of(facts, effect)}",
                    f"another puts {_key_of(facts, effect)}",
                    so="the first caller's item is lost without an error",
                ),
            )

    for element, effect in _all_effects(facts):
        if effect.action == "put" and not effect.guarded and _is_counted(facts, effect.entity):
            said = effect.guarded is False
            yield Defect(
                element,
                f"puts {effect.entity} without a condition, and other writes add to it: a put "
                "takes their sum back to its first value"
                if said
                else f"what happens to the sum if the {effect.entity} that it puts is there "
                "already?",
                "Add the condition attribute_not_exists on the partition key, or let the first "
                "ADD create the item.",
                subject=f"{element.name} on {effect.entity}",
                severity=None if said else "question",
                cause="" if said else "conditions of creates",
                evidence=steps_example(
                    f"one caller adds 5 to {_key_of(facts, effect)}",
                    f"another puts {_key_of(facts, effect)} with 0",
                    so="the 5 are gone",
                ),
            )

    for operation in () if facts.schema.enforced else facts.schema.operations:
        yield from _uncounted_repeats(facts, operation)


def _uncounted_repeats(facts: Reach, operation: OperationSchema) -> Iterator[Defect]:
    """A write that can be made twice, of what is counted each time."""
    added = [e for e in operation.effects if e.action in ("increment", "decrement")]
    if not added or any(effect.guarded for effect in operation.effects):
        return
    for effect in operation.effects:
        entity = facts.schema.by_entity.get(effect.entity)
        repeated = effect.action in ("put", "delete") and not effect.each
        if not repeated or entity is None or not _is_given(facts, entity):
            continue
        said = effect.guarded is False
        there = "there" if effect.action == "put" else "gone"
        yield Defect(
            operation,
            f"counts {effect.entity} in {added[0].entity} even if it is {there} already"
            if said
            else f"is {effect.entity} counted in {added[0].entity} if it is {there} already?",
            "Put the condition that it is "
            f"{'not ' * (effect.action == 'put')}there on the {effect.action}, in one transaction "
            "with the number.",
            subject=f"{operation.name} on {effect.entity}",
            severity=None if said else "question",
            cause="" if said else "conditions of what is counted",
            evidence=steps_example(
                f"{operation.name}: {effect.action} {item_name(entity)}, the number goes from 10 "
                f"to {11 if effect.action == 'put' else 9}",
                f"{operation.name} once more: the same {effect.action}, the number goes on to "
                f"{12 if effect.action == 'put' else 8}",
            ),
        )


def _is_given(facts: Reach, entity: EntitySchema) -> bool:
    """Whether the caller gives the whole key, as the two ends of an edge."""
    fields = entity.key.fields if entity.key else ()
    pointed = all(facts.references.target(entity, field) for field in fields)
    return bool(fields) and (entity.role == "edge" or pointed)


def _all_effects(
    facts: Reach,
) -> Iterator[tuple[OperationSchema | ConsumerSchema, Effect]]:
    yield from facts.all_writes
    for consumer in facts.schema.consumers:
        yield from ((consumer, effect) for effect in consumer.effects)


def _is_counted(facts: Reach, entity: str) -> bool:
    """Whether a write adds to an item rather than replacing it."""
    adds = ("increment", "decrement")
    return not facts.schema.enforced and any(
        effect.action in adds and effect.entity == entity for _, effect in _all_effects(facts)
    )


def _key_of(facts: Reach, effect: Effect, n: int = 1) -> str:
    """One item that an effect writes."""
    entity = facts.schema.by_entity.get(effect.entity)
    return item_name(entity, n) if entity else effect.entity


@rule("W2", "update-unguarded", "error", "An update can create an incomplete item")
def update_unguarded(facts: Reach) -> Iterator[Defect]:
    for operation, effect in facts.all_writes:
        if effect.action == "update" and not effect.guarded:
            said = effect.guarded is False
            yield Defect(
                operation,
                f"updates {effect.entity} without a condition: after a delete it creates an item "
                "with only these attributes"
                if said
                else f"what happens if the {effect.entity} that it updates no longer exists?",
                "Add the condition attribute_exists on the partition key.",
                subject=f"{operation.name} on {effect.entity}",
                severity=None if said else "question",
                cause="" if said else "conditions of updates",
                evidence=steps_example(
                    f"one caller deletes {_key_of(facts, effect)}",
                    f"another updates {', '.join(effect.fields) or 'its fields'} of it",
                    so="an item exists with only its key and "
                    f"{', '.join(effect.fields) or 'these fields'}, and nothing else",
                ),
            )


@rule("W3", "multi-write-not-atomic", "error", "Several writes belong together and are not atomic")
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
            f"writes one after the other ({', '.join(parts)}): a failure in between leaves them "
            "inconsistent"
            if said
            else f"are its writes ({', '.join(parts)}) one transaction?",
            "Use one TransactWriteItems, or write the rest from the stream.",
            severity=None if said else "question",
            cause="" if said else "transactions of several writes",
            evidence=_interruption_example(facts, operation),
        )


def _interruption_example(facts: Reach, operation: OperationSchema) -> Evidence:
    """An interruption after the first write: what exists, and what does not."""
    first = operation.effects[0]
    rest = operation.effects[1:] or (first,)
    return steps_example(
        f"{first.action} {_key_of(facts, first)}: done",
        "the process stops",
        *(
            f"{effect.action} {_key_of(facts, effect, 2 if effect is first else 1)}: never made"
            for effect in rest
        ),
    )


def _is_repeatable(operation: OperationSchema) -> bool:
    """Whether they are deletes that can be repeated until everything is gone."""
    return all(effect.action == "delete" for effect in operation.effects)


@rule("W8", "no-retention", "warning", "Items accumulate and nothing removes them")
def no_retention(facts: Reach) -> Iterator[Defect]:
    for entity in facts.schema.entities:
        if entity.key is None or entity.key.sort is None or entity.ttl is not None:
            continue
        if facts.is_edited(entity):
            continue
        moments = [s.field for s in slots(entity.key.sort) if facts.is_moment(entity, s)]
        if moments and entity.per_partition is None and not _is_trimmed(facts, entity):
            yield Defect(
                entity,
                f"how long is it kept? There is a new item for each {moments[0]}, and nothing "
                "removes old ones",
                "Give it a TTL, or say how many a partition keeps (per_partition).",
                severity="question",
                cause="how long history is kept",
                evidence=keys_example(
                    "one partition gains",
                    *((key_of(entity.key, entity, n), f"day {n}") for n in (1, 2, 365)),
                ),
            )


def _is_trimmed(facts: Reach, entity: EntitySchema) -> bool:
    """Whether items are removed while their parent stays."""
    parents = {a.refers for a in entity.attributes if a.refers}
    return any(
        not any(e.action == "delete" and e.entity in parents for e in operation.effects)
        for operation, _ in facts.writes(entity.name, "delete")
    )


@rule("W9", "retry-not-idempotent", "error", "A retry repeats its effect")
def retry_not_idempotent(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        if not operation.retried or _is_once(facts, operation):
            continue
        twice = [effect for effect in operation.effects if _adds_up(facts, effect)]
        if twice:
            what = ", ".join(dict.fromkeys(f"{e.action} {e.entity}" for e in twice))
            yield Defect(
                operation,
                f"is retried, and {what} happens again each time",
                "Write a record of the request id in the same transaction, on the condition that "
                "it does not exist.",
                evidence=_retry_example(facts, operation, twice[0]),
            )


def _retry_example(facts: Reach, operation: OperationSchema, effect: Effect) -> Evidence:
    """A request whose answer is lost, and the retry."""
    if effect.action == "create":
        done = [f"creates {_key_of(facts, effect, n)}" for n in (1, 2)]
        so = "one request has created two items"
    else:
        field = effect.fields[0] if effect.fields else "the number"
        step = 1 if effect.action == "increment" else -1
        done = [f"{field} of {_key_of(facts, effect)} becomes {10 + step * n}" for n in (1, 2)]
        so = f"one request has counted twice: {10 + 2 * step} where {10 + step} is right"
    return steps_example(
        f"{operation.name}: {done[0]}", "its answer is lost", f"retry: {done[1]}", so=so
    )


def _is_once(facts: Reach, operation: OperationSchema) -> bool:
    """Whether something in the same transaction prevents a second run."""
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
    # A key made of the caller's input is the same on a retry; a new time or id is not.
    return any(facts.is_moment(entity, slot) for slot in entity.key.slots)


@rule("W15", "read-then-create", "error", "A create is decided by a read that can be out of date")
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
                    f"reads {looked[0]} to check that the key is free, and then writes: two "
                    "concurrent callers both find nothing, and one overwrites the other",
                    "Write with the condition attribute_not_exists, and skip the read.",
                    subject=f"{operation.name} on {effect.entity}",
                    evidence=steps_example(
                        f"A reads {looked[0]}: nothing",
                        f"B reads {looked[0]}: nothing",
                        f"A puts {_key_of(facts, effect)}",
                        f"B puts {_key_of(facts, effect)}",
                        so="A's item is lost, and both callers were told that they succeeded",
                    ),
                )


@rule(
    "W10",
    "support-entity-missing",
    "warning",
    "The design relies on something that it does not model",
)
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
            f"{', '.join(user.name for user in users)} relies on it, but no entity models it",
            "Declare it: its key, what it holds, and when it expires.",
            tuple(users[1:]),
            subject=name,
        )


@rule(
    "W11", "write-needs-index-read", "warning", "A write has to find its key through an index first"
)
def write_needs_index_read(facts: Reach) -> Iterator[Defect]:
    for operation in facts.schema.operations:
        for effect in operation.effects:
            if effect.each:
                continue  # Many are found by something that they share.
            via, missing = effect.via_index, _missing(facts, operation, effect)
            if not via and not missing:
                continue
            what = f"its key in {via}" if via else f"{', '.join(missing)} of its key"
            yield Defect(
                operation,
                f"must first look up {what}: one more read, from an eventually consistent index",
                "Let the caller pass the whole key, or build the key from what the caller has.",
                subject=f"{operation.name} on {effect.entity}",
                evidence=steps_example(
                    f"{operation.name} is given {', '.join(operation.parameters) or 'no key'}",
                    f"it looks up {what}"
                    + (": an item of the last second is not found" if via else ""),
                    f"it can {effect.action} {_key_of(facts, effect)}",
                ),
            )


def _missing(facts: Reach, operation: OperationSchema, effect: Effect) -> list[str]:
    """Key fields that the caller of an operation does not provide."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or effect.each or not operation.parameters:
        return []
    if effect.action not in ("update", "delete"):
        return []
    return [field for field in entity.key.fields if field not in operation.parameters]
