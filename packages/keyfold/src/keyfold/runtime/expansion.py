"""Expands an intent into the step on its item and the writes of its maintainers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import (
    NotFound,
    PlanError,
    ValueRefused,
    VersionConflict,
)
from keyfold.runtime import changes as change
from keyfold.runtime.changes import Change, apply_changes
from keyfold.runtime.context import Context
from keyfold.runtime.counted_fields import refuse_counts
from keyfold.runtime.flow import Flow
from keyfold.runtime.guard import steady_counts
from keyfold.runtime.intent import (
    Check,
    Delete,
    Derived,
    Intent,
    Maintainer,
    Marker,
    Put,
    Update,
)
from keyfold.runtime.plan import Plan, Step
from keyfold.runtime.reads import find
from keyfold.runtime.steps import refuse_start, step_refused
from keyfold.runtime.validity import apply_update, looked_at
from keyfold.runtime.write_requests import (
    index_fields_missing,
    stamp,
    stamp_update,
)

CHANGED = "{} was changed by another writer after it was read"


def transactional(spec: EntitySpec) -> list[Maintainer]:
    """The maintainers that join transactions of this entity."""
    return spec.table.design.joining(spec.entity)


def expand(context: Context, plan: Plan, intent: Intent) -> Flow[Entity | None]:
    match intent:
        case Put():
            return (yield from _expand_put(context, plan, intent))
        case Update():
            return (yield from _expand_update(context, plan, intent))
        case Delete():
            return (yield from _expand_delete(context, plan, intent))
        case Derived():
            return (yield from _expand_derived(context, plan, intent))
        case Check():
            plan.add(intent.ref.address, Step(intent))
        case Marker():
            key = intent.request.get("Key") or intent.request["Item"]
            plan.add(intent.table.schema.address(key), Step(intent))
    return None


def _expand_put(context: Context, plan: Plan, intent: Put[Entity]) -> Flow[Entity]:
    spec = intent.new.__spec__
    maintainers = transactional(spec)
    old = None
    if not intent.absent and (maintainers or spec.version is not None or spec.states or spec.kept):
        old = yield from find(context, intent.new.ref())
        if old is None:
            if version_of(intent.new):
                raise VersionConflict(f"{intent.new.ref()} was deleted after it was read")
            intent = replace(intent, absent=True, unless_raced=True)
        else:
            if version_of(intent.new) not in (None, 0, version_of(old)):
                raise VersionConflict(CHANGED.format(intent.new.ref()))
            update = _as_update(spec, old, replace(intent, new=stamp(context, intent.new)[0]))
            if not stamp_update(context, update).changes:
                if update.condition is not None:
                    same = Check(update.ref, update.condition, refuse=update.refuse)
                    yield from expand(context, plan, same)
                return old
            return (yield from _expand_update(context, plan, update, read=old)) or intent.new
    if not (plan.entailing or intent.counted):
        refuse_counts(intent.new)
        if not intent.moved:
            refuse_start(intent.new)
    new, wire = stamp(context, intent.new)
    plan.add(spec.table.schema.address(wire), Step(replace(intent, new=new), None, new, wire))
    plan.entail(maintainers, old, new)
    return new


def _as_update(spec: EntitySpec, old: Entity, intent: Put) -> Update:
    """A put over an existing item, as the equivalent update."""
    stamps = (field.name for field in (spec.version, spec.created, spec.updated) if field)
    unchanged = {*stamps, *spec.kept, *spec.key.address}
    changes: dict[str, Change] = {}
    for name, field in spec.fields.items():
        value, before = getattr(intent.new, name), getattr(old, name)
        if name in unchanged or value == before:
            continue
        empty = value is None or (field.kind.endswith("_set") and not value)
        changes[name] = change.clear if empty else change.Set(value)
    return Update(intent.new.ref(), changes, intent.condition, refuse=intent.refuse)


def _expand_update(
    context: Context, plan: Plan, intent: Update, read: Entity | None = None
) -> Flow[Entity | None]:
    spec = intent.ref.entity.__spec__
    intent = stamp_update(context, intent)
    if not intent.counting:
        _refuse_fixed(spec, intent)
    maintainers = transactional(spec)
    concerned = [m for m in maintainers if not m.fields.isdisjoint(intent.changes)]
    address = intent.ref.address
    pending = plan.steps.get(address)
    if pending is not None and isinstance(pending.intent, Delete):
        if not plan.entailing:
            raise PlanError(f"one transaction deletes and writes {intent.ref}; do only one")
        if intent.counting and intent.if_missing != "skip":
            raise PlanError(
                f"one transaction deletes {intent.ref} and counts a new item on it; do only one"
            )
        return None
    if pending is None and callable(intent.if_missing) and address in plan.missing:
        return (yield from _expand_missing(context, plan, intent))
    held = None if pending is None else pending.new
    if held is not None and (refused := step_refused(spec, intent, held)) is not None:
        raise refused
    old = read if held is None else held
    if old is None and intent.read_before is not None:
        old = yield from _with_present_counts(context, intent, intent.read_before)
    # A new item gets all its consequences.
    follows = concerned or (intent.if_missing == "create" and maintainers)
    if old is None and (
        follows
        or intent.if_missing == "skip"
        or index_fields_missing(spec, intent)
        or looked_at(spec, intent)
    ):
        old = yield from find(context, intent.ref)
        if old is None and (follows or intent.if_missing != "create"):
            return (yield from _expand_missing(context, plan, intent))
    new, wire = (None, None) if old is None else apply_update(old, intent)
    plan.add(address, Step(intent, old, new, wire))
    if old is not None:
        plan.entail(concerned, old, new)
    return new


def _expand_missing(context: Context, plan: Plan, intent: Update) -> Flow[Entity | None]:
    """An update of an item that does not exist."""
    if intent.if_missing == "skip":
        return None
    if intent.if_missing == "refuse":
        raise NotFound(f"{intent.ref} does not exist")
    new = intent.if_missing() if callable(intent.if_missing) else first_item(intent)
    counted = intent.if_missing == "create"
    return (yield from _expand_put(context, plan, Put(new, unless_raced=True, counted=counted)))


def _expand_derived(context: Context, plan: Plan, intent: Derived) -> Flow[Entity | None]:
    address = intent.ref.address
    if plan.is_deleted(address):
        return None
    step = plan.steps.get(address)
    held = step.new if step is not None and step.new is not None else None
    if held is None:
        held = yield from find(context, intent.ref)
    if held is None:
        return None
    changes = yield from intent.changes(held, plan.pending)
    update = Update[Any](intent.ref, changes, counting=True, steady=intent.steady)
    return (yield from _expand_update(context, plan, update, read=held))


def _refuse_fixed(spec: EntitySpec, intent: Update) -> None:
    for name in spec.fixed & intent.changes.keys():
        if not isinstance(intent.changes[name], change.SetIfAbsent):
            raise PlanError(f"{spec.name}.{name} cannot change after the item is created")


def first_item(intent: Update) -> Entity:
    """The item that an upsert creates."""
    entity: type[Entity] = intent.ref.entity
    defaults = {
        name: info.get_default(call_default_factory=True)
        for name, info in entity.model_fields.items()
        if not info.is_required()
    }
    values = apply_changes(intent.changes, {**defaults, **intent.ref.values})
    try:
        return entity.model_validate(values, by_name=True, by_alias=False)
    except ValidationError as problem:
        missing = ", ".join(str(one["loc"][0]) for one in problem.errors() if one["loc"])
        if any(one["type"] != "missing" for one in problem.errors()):
            found = complaints(problem)
            raise ValueRefused(f"{intent.ref}: {in_one_line(found)}", found) from None
        raise PlanError(
            f"{intent.ref} does not exist, and an update cannot create it: {missing} has no "
            "default. Add a default, or create the item first"
        ) from None


def _expand_delete(context: Context, plan: Plan, intent: Delete) -> Flow[Entity | None]:
    spec = intent.ref.entity.__spec__
    maintainers = transactional(spec)
    address = intent.ref.address
    pending = plan.steps.get(address)
    if pending is not None and (pending.new is not None or plan.is_deleted(address)):
        # Consequences are computed from the item's current state: deleted, or changed.
        plan.add(address, Step(intent, pending.old))
        if pending.new is not None:
            plan.entail(maintainers, pending.new, None)
        return pending.new if intent.returning else None
    old = intent.read_before
    alone = len(plan.results) == 1 and not plan.entailing
    if old is None and (maintainers or (intent.returning and not alone)):
        old = yield from find(context, intent.ref)
        if old is None and context.followed:
            for migration in context.followed:
                yield from migration.wait_for_copies(context, spec.table.name)
            old = yield from find(context, intent.ref)
        if old is None:
            if intent.must_exist:
                raise NotFound(f"{intent.ref} does not exist")
            return None
    elif old is not None:
        old = yield from _with_present_counts(context, intent, old)
    plan.add(address, Step(intent, old))
    plan.entail(maintainers, old, None)
    return old if intent.returning else None


def _with_present_counts(context: Context, intent: Update | Delete, known: Entity) -> Flow[Entity]:
    """The item with its current counts: counters move without a new version, so the caller's
    may be stale.
    """
    counts = steady_counts(known.__spec__, intent)
    if not counts:
        return known
    present = yield from find(context, intent.ref)
    if present is None:
        raise NotFound(f"{intent.ref} does not exist")
    return known.model_copy(update={name: getattr(present, name) for name in counts})


def version_of(item: Entity) -> Any:
    version = item.__spec__.version
    return None if version is None else getattr(item, version.name)
