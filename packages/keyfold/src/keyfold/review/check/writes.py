"""W: writes. Are effects guarded, atomic, bounded and safe to repeat?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyfold.design.schema import Effect, EntitySchema, OperationSchema, Schema, TableSchema
from keyfold.review.check.domains import DESIGN, ENTITIES, OPERATIONS, WRITES
from keyfold.review.check.field_facts import EXPIRES, begins, field_facts, mentions
from keyfold.review.check.key_sets import keys_of
from keyfold.review.check.reach import Reach, is_own_id, slots
from keyfold.review.check.rule import Found, hit, rule

ADDS = ("increment", "decrement")


@rule("W1", DESIGN)
def put_unguarded(facts: Reach, schema: Schema) -> Iterator[Found]:
    consumed = [(consumer, effect) for consumer in schema.consumers for effect in consumer.effects]
    every: list[tuple[Any, Effect]] = [*facts.all_writes, *consumed]
    summed = {e.entity for _, e in every if e.action in ADDS and not schema.enforced}
    for operation, effect in facts.all_writes:
        if effect.action == "create" and not effect.guarded:
            yield hit("create", said=effect.guarded, operation=operation, effect=effect)
    for operation, effect in every:
        if effect.action == "put" and not effect.guarded and effect.entity in summed:
            yield hit("sum", said=effect.guarded, operation=operation, effect=effect)
        elif (
            effect.action == "put" and effect.guarded is False and _makes(facts, operation, effect)
        ):
            yield hit("replace", operation=operation, effect=effect)
    for operation in () if schema.enforced else schema.operations:
        added = [e for e in operation.effects if e.action in ADDS]
        for effect in operation.effects if added and not _is_guarded(operation) else ():
            entity = schema.by_entity.get(effect.entity)
            repeated = effect.action in ("put", "delete") and not effect.each
            if repeated and entity is not None and _is_given(facts, entity):
                yield hit(
                    effect.action,
                    said=effect.guarded,
                    operation=operation,
                    effect=effect,
                    added=added[0],
                )


def _makes(facts: Reach, operation: Any, effect: Effect) -> bool:
    """Whether a put makes a new item, by its operation's name, under a key that can be taken."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or not begins(operation.name, "makes"):
        return False
    own = (f for f in entity.key.fields if not facts.references.target(entity, f))
    return not any(facts.is_identifier(entity, field) for field in own)


def _is_guarded(operation: OperationSchema) -> bool:
    return any(effect.guarded for effect in operation.effects)


def _is_given(facts: Reach, entity: EntitySchema) -> bool:
    """Whether the caller gives the whole key, as the two ends of an edge."""
    fields = entity.key.fields if entity.key else ()
    pointed = all(facts.references.target(entity, field) for field in fields)
    ids = entity.role == "canonical" and all(facts.is_identifier(entity, f) for f in fields)
    others = ids and not any(is_own_id(entity, field) for field in fields) and len(fields) == 1
    return bool(fields) and (entity.role == "edge" or pointed or others)


@rule("W2", WRITES)
def update_unguarded(facts: Reach, operation: OperationSchema, effect: Effect) -> Iterator[Found]:
    if effect.guarded:
        return
    if effect.action == "put" and begins(operation.name, "edits"):
        yield hit("whole", said=effect.guarded)
    elif effect.action == "put" and _is_newest(facts, effect.entity):
        yield hit("late")
    if effect.action == "update":
        yield hit("part", said=effect.guarded)
        entity = facts.schema.by_entity.get(effect.entity)
        held = {field: field_facts(entity, field).holds for field in effect.fields}
        sums = [
            field
            for field in held
            if held[field] in ("sum", "count") or _is_whole_list(entity, field)
        ]
        if sums and not facts.schema.enforced:
            yield hit("sum", sums=sums)


def _is_newest(facts: Reach, name: str) -> bool:
    """Whether an item holds the newest state of something, by its name or its key."""
    entity = facts.schema.by_entity.get(name)
    if entity is None or entity.key is None or facts.schema.enforced:
        return False
    sort = entity.key.sort.literal_prefix if entity.key.sort else ""
    if not mentions(f"{entity.name} {entity.key.partition.literal_prefix} {sort}", "newest"):
        return False
    return any(field_facts(entity, each).time == "moment" for each in entity.by_field)


def _is_whole_list(entity: EntitySchema | None, field: str) -> bool:
    """Whether an update writes a list as a whole; W7 reports lists of ids."""
    found = entity.by_field.get(field) if entity else None
    return found is not None and found.type == "list" and not (found.refers or found.max_items)


@rule("W3", OPERATIONS)
def multi_write_not_atomic(operation: OperationSchema) -> Found | None:
    effects = operation.effects
    several = len(effects) > 1 or any(effect.each for effect in effects)
    # Deletes can be repeated until everything is gone.
    if operation.atomic or not several or all(effect.action == "delete" for effect in effects):
        return None
    parts = [f"{e.action} {'each ' if e.each else ''}{e.entity}" for e in effects]
    return hit(said=operation.atomic, parts=parts)


@rule("W8", ENTITIES)
def no_retention(facts: Reach, entity: EntitySchema) -> Found | None:
    if entity.ttl is None and (ends := _deadline(facts.schema.by_table[entity.table], entity)):
        return hit("deadline", field=ends)
    if facts.is_growing(entity) and not _is_trimmed(facts, entity):
        sort = entity.key.sort if entity.key else None
        moments = (s.field for s in (slots(sort) if sort else ()) if facts.is_moment(entity, s))
        return hit("growing", moment=next(moments))
    if entity.ttl is None and mentions(entity.name, "record") and not facts.is_edited(entity):
        stamps = (a for a in entity.attributes if field_facts(entity, a.field).time == "moment")
        if (stamp := next(stamps, None)) and entity.per_partition is None:
            return hit("growing", moment=stamp.field)
    made = facts.writes(entity.name, "create", "put")
    passing = mentions(entity.name, "passing") or mentions(entity.table, "passing")
    kept = facts.is_deleted(entity) or entity.per_partition is not None
    return hit("passing") if made and passing and not kept else None


def _deadline(table: TableSchema, entity: EntitySchema) -> str:
    """The field that says when an item is over, and that no time to live looks at."""
    ends = (a.field for a in entity.attributes if EXPIRES.search(a.field) and a.name != table.ttl)
    return next(ends, "")


def _is_trimmed(facts: Reach, entity: EntitySchema) -> bool:
    """Whether items are removed while their parent stays."""
    parents = {a.refers for a in entity.attributes if a.refers}
    return any(
        not any(e.action == "delete" and e.entity in parents for e in operation.effects)
        for operation, _ in facts.writes(entity.name, "delete")
    )


@rule("W9", OPERATIONS)
def retry_not_idempotent(facts: Reach, operation: OperationSchema) -> Found | None:
    twice = [effect for effect in operation.effects if _adds_up(facts, effect)]
    if not operation.retried or not twice or _is_once(facts, operation):
        return None
    return hit(what=[f"{e.action} {e.entity}" for e in twice])


def _is_once(facts: Reach, operation: OperationSchema) -> bool:
    """Whether something in the same transaction prevents a second run."""
    modelled = all(name in facts.schema.by_entity for name in operation.needs)
    if operation.idempotent and modelled:
        return True
    ends = (e for e in operation.effects if e.action in ("create", "delete"))
    return bool(operation.atomic) and any(effect.guarded for effect in ends)


def _adds_up(facts: Reach, effect: Effect) -> bool:
    if effect.action in ADDS:
        return True
    entity = facts.schema.by_entity.get(effect.entity)
    if effect.action != "create" or effect.guarded or entity is None or entity.key is None:
        return False
    # A key made of the caller's input is the same on a retry; a new time or id is not.
    return any(facts.is_moment(entity, slot) for slot in entity.key.slots)


@rule("W15", WRITES)
def read_then_create(facts: Reach, operation: OperationSchema, effect: Effect) -> Found | None:
    if effect.action not in ("create", "put") or effect.guarded:
        return None
    known = (facts.schema.by_pattern.get(name) for name in operation.reads)
    looked = [p for p in known if p and p.index is None and effect.entity in p.entities]
    return hit(looked=looked[0]) if looked else None


@rule("W10", DESIGN)
def support_entity_missing(schema: Schema) -> Iterator[Found]:
    relying: dict[str, list[Any]] = {}
    elements: tuple[OperationSchema | TableSchema, ...] = (*schema.operations, *schema.tables)
    for element in elements:
        for name in element.needs:
            if name not in schema.by_entity:
                relying.setdefault(name, []).append(element)
    for name, users in relying.items():
        yield hit(name=name, users=users, first=users[0], rest=tuple(users[1:]))


@rule("W11", WRITES)
def write_needs_index_read(
    facts: Reach, operation: OperationSchema, effect: Effect
) -> Found | None:
    via, missing = effect.via_index, _missing(facts, operation, effect)
    if effect.each:  # Many are found by something that they share.
        given = () if via else _given_in_vain(facts, operation, effect)
        return hit("each", given=given) if given else None
    if not via and (own := _unlisted_id(facts, operation, effect)):
        return hit("own", own=own)
    what = f"its key in {via}" if via else f"{', '.join(missing)} of its key"
    return hit("one", what=what) if via or missing else None


def _given_in_vain(facts: Reach, operation: OperationSchema, effect: Effect) -> tuple[str, ...]:
    """What the caller gives and items hold, where no key lists the items by it."""
    entity = facts.schema.by_entity.get(effect.entity)
    if (
        entity is None
        or facts.copy(entity) is not None
        or effect.action not in ("update", "delete")
    ):
        return ()
    given = tuple(name for name in operation.parameters if name in entity.by_field)
    listed = any({*key.partition.fields} <= {*given} for _, key, _ in keys_of(entity))
    return () if listed else given


def _unlisted_id(facts: Reach, operation: OperationSchema, effect: Effect) -> str:
    """The id of an item that a write changes, where the item's keys hold a time and not the id."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or operation.parameters or facts.schema.enforced:
        return ""
    if effect.action not in ("update", "delete"):
        return ""
    if not any(facts.is_moment(entity, slot) for slot in entity.key.slots):
        return ""
    keyed = {field for _, key, _ in keys_of(entity) for field in key.fields}
    own = (a.field for a in entity.attributes if a.type == "id" and is_own_id(entity, a.field))
    return next((field for field in own if field not in keyed), "")


def _missing(facts: Reach, operation: OperationSchema, effect: Effect) -> list[str]:
    """Key fields that the caller of an operation does not provide."""
    entity = facts.schema.by_entity.get(effect.entity)
    if entity is None or entity.key is None or not operation.parameters:
        return []
    wanted = entity.key.fields if effect.action in ("update", "delete") else ()
    return [field for field in wanted if field not in operation.parameters]
