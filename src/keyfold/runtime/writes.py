"""The one write path: intents are expanded with their maintainers' writes and sent as one.

An update that maintainers or index keys depend on reads the item first and is guarded against
changes in between; when the guard fails and the read was ours, it starts over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from keyfold.design.entity import Entity, EntitySpec
from keyfold.design.keys import Ref
from keyfold.design.validation import complaints, in_one_line
from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
    NotFound,
    PlanError,
    TooManyWrites,
    TransactionCanceled,
    TransactionConflict,
    ValueRefused,
    VersionConflict,
)
from keyfold.limits import TRANSACTION_ITEMS
from keyfold.runtime import changes as change
from keyfold.runtime.changes import Change, applied, validate
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.guard import (
    CopiesMissing,
    Lingering,
    StoredOtherwise,
    is_counted,
    steady_counts,
)
from keyfold.runtime.intent import Check, Delete, Derived, Intent, Maintainer, Put, Update
from keyfold.runtime.plan import Plan, Step
from keyfold.runtime.reads import find, find_item
from keyfold.runtime.steps import refuse_start, step_refused
from keyfold.runtime.validity import looked_at, merged
from keyfold.runtime.walk import PASSING, again_after
from keyfold.runtime.write_requests import (
    WireWrite,
    edited,
    index_fields_missing,
    stamped,
)

ATTEMPTS = 12
_CHANGED = "{} was changed by somebody else since it was read"
_SINGLE = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


def commit(
    context: Context, intents: Sequence[Intent], *, token: str | None = None
) -> Flow[list[Entity | None]]:
    """Write all intents and what they entail, or nothing; gives each intent's new item."""
    context.design.complete()
    overflowing = False
    stored: dict[Any, dict[str, Any]] = {}
    missing: frozenset[Any] = frozenset()
    for attempt in range(ATTEMPTS):
        plan = Plan(results=[None] * len(intents), stored=stored, missing=missing)
        # New items first, then all others, then what they entail, so that a count on an item
        # made in the same breath meets it.
        for place in sorted(range(len(intents)), key=lambda i: not isinstance(intents[i], Put)):
            plan.results[place] = yield from _expand(context, plan, intents[place])
        plan.entailing = True
        deleted: list[tuple[Maintainer, Entity]] = []
        while plan.entailed:
            maintainer, old, new = plan.entailed.popleft()
            may_overflow = maintainer.overflow == "stream"
            if overflowing and may_overflow:
                continue
            if old is not None and new is None:
                deleted.append((maintainer, old))
            for intent in (yield from maintainer.joins(context, old, new)):
                plan.can_overflow |= may_overflow
                yield from _expand(context, plan, intent)
        try:
            written = yield from _send(context, plan, token)
        except TooManyWrites:
            if overflowing or not plan.can_overflow:
                raise
            overflowing = True
        except StoredOtherwise as found:
            if attempt == ATTEMPTS - 1:
                raise
            stored[_address(found.ref.entity.__spec__, found.ref.wire())] = found.item
        except CopiesMissing as found:
            if attempt == ATTEMPTS - 1:
                raise
            missing |= {_address(ref.entity.__spec__, ref.wire()) for ref in found.refs}
        except Lingering as left:
            if attempt == ATTEMPTS - 1:
                raise
            yield from _delete_expired(context, left)
        except TransactionConflict:
            if attempt == ATTEMPTS - 1:
                raise
            missing = frozenset()
            yield again_after(attempt)
        else:
            for maintainer, gone in deleted:
                afterwards = maintainer.afterwards(context, gone)
                if afterwards is not None:
                    yield from afterwards
            return written
    raise AssertionError("the last attempt returns or raises")


def _delete_expired(context: Context, left: Lingering) -> Flow[None]:
    """Delete an expired item with what is kept for it, as its time to live would have by now."""
    expired = left.ref.entity.__spec__.decode(left.item)
    try:
        yield from commit(context, [Delete(left.ref, known=expired)])
    except (ConditionFailed, NotFound, VersionConflict):
        return  # somebody else was faster


def transactional(spec: EntitySpec) -> list[Maintainer]:
    """The maintainers that join the writes of this entity."""
    return spec.table.design.joining(spec.entity)


def _expand(context: Context, plan: Plan, intent: Intent) -> Flow[Entity | None]:
    if isinstance(intent, Put):
        return (yield from _expand_put(context, plan, intent))
    if isinstance(intent, Update):
        return (yield from _expand_update(context, plan, intent))
    if isinstance(intent, Delete):
        return (yield from _expand_delete(context, plan, intent))
    if isinstance(intent, Derived):
        return (yield from _expand_derived(context, plan, intent))
    if isinstance(intent, Check):
        plan.add(_address(intent.ref.entity.__spec__, intent.ref.wire()), Step(intent))
    else:
        key = intent.request.get("Key") or intent.request["Item"]
        names = intent.table.schema.key_attributes
        plan.add((intent.table.name, repr([key[n] for n in names])), Step(intent))
    return None


def _expand_put(context: Context, plan: Plan, intent: Put[Entity]) -> Flow[Entity]:
    spec = intent.new.__spec__
    maintainers = transactional(spec)
    old = None
    if not intent.absent and (
        maintainers or spec.version is not None or spec.states or _has_counts(spec)
    ):
        old = yield from find(context, intent.new.ref())
        if old is None:
            if _version(intent.new):
                raise VersionConflict(f"{intent.new.ref()} was deleted since it was read")
            intent = replace(intent, absent=True, unless_raced=True)
        else:
            if _version(intent.new) not in (None, 0, _version(old)):
                raise VersionConflict(_CHANGED.format(intent.new.ref()))
            update = _as_update(spec, old, replace(intent, new=stamped(context, intent.new)[0]))
            if not edited(context, update).changes:
                if update.condition is not None:
                    yield from _expand(context, plan, Check(update.ref, update.condition))
                return old
            return (yield from _expand_update(context, plan, update, read=old)) or intent.new
    if not (plan.entailing or intent.counted):
        refuse_counts(intent.new)
        if not intent.moved:
            refuse_start(intent.new)
    new, wire = stamped(context, intent.new)
    plan.add(_address(spec, wire), Step(replace(intent, new=new), None, new, wire))
    plan.entail(maintainers, old, new)
    return new


def _as_update(spec: EntitySpec, old: Entity, intent: Put) -> Update:
    """A put over an existing item, as the update that has the same result."""
    ours = {stamp.name for stamp in (spec.version, spec.created, spec.updated) if stamp}
    changes: dict[str, Change] = {}
    for name, field in spec.fields.items():
        value, before = getattr(intent.new, name), getattr(old, name)
        kept = name in ours or is_counted(field) or name in spec.key.address
        if kept or value == before:
            continue
        empty = value is None or (field.kind.endswith("_set") and not value)
        changes[name] = change.clear if empty else change.Set(value)
    return Update(intent.new.ref(), changes, intent.condition)


def _expand_update(
    context: Context, plan: Plan, intent: Update, read: Entity | None = None
) -> Flow[Entity | None]:
    spec = intent.ref.entity.__spec__
    intent = edited(context, intent)
    touched = frozenset(intent.changes)
    _refuse_fixed(spec, intent)
    maintainers = transactional(spec)
    concerned = [m for m in maintainers if m.fields & touched]
    address = _address(spec, intent.ref.wire())
    pending = plan.steps.get(address)
    if plan.is_deleted(address):
        if not plan.entailing:
            raise PlanError(f"one transaction deletes {intent.ref} and writes it; do one of them")
        if intent.counting and not intent.lenient:
            raise PlanError(f"one transaction deletes {intent.ref}, on which it counts a new item")
        return None
    if intent.otherwise is not None and pending is None and address in plan.missing:
        whole = Put(intent.otherwise(), unless_raced=True)
        return (yield from _expand_put(context, plan, whole))
    old = pending.new if pending is not None and pending.new is not None else intent.known or read
    if old is not None and old is intent.known:
        old = yield from _with_present_counts(context, intent, old)
    # An item that this makes has all that follows from it.
    made = intent.upsert and bool(maintainers)
    needs_old = made or bool(
        concerned or intent.lenient or index_fields_missing(spec, intent) or looked_at(spec, intent)
    )
    if old is None and needs_old:
        old = yield from find(context, intent.ref)
        if old is None and intent.lenient:
            return None
        if old is None and intent.otherwise is not None:
            whole = Put(intent.otherwise(), unless_raced=True)
            return (yield from _expand_put(context, plan, whole))
        if old is None and not intent.upsert:
            raise NotFound(f"there is no {intent.ref}")
        if old is None and made:
            first = Put(first_item(intent), unless_raced=True, counted=True)
            return (yield from _expand_put(context, plan, first))
    if pending is not None and old is pending.new and old is not None:
        refused = step_refused(spec, intent, old)
        if refused is not None:
            raise refused
    new, wire = (None, None) if old is None else merged(old, intent)
    plan.add(address, Step(intent, old, new, wire))
    if old is not None:
        plan.entail(concerned, old, new)
    return new


def _expand_derived(context: Context, plan: Plan, intent: Derived) -> Flow[Entity | None]:
    address = _address(intent.ref.entity.__spec__, intent.ref.wire())
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
    if not spec.fixed or intent.counting:
        return
    for name in spec.fixed & intent.changes.keys():
        if not isinstance(intent.changes[name], change.SetIfAbsent):
            raise PlanError(f"{spec.name}.{name} is fixed when the item is created")


def first_item(intent: Update) -> Entity:
    """The item that an update of a missing one makes."""
    entity: type[Entity] = intent.ref.entity
    defaults = {
        name: info.get_default(call_default_factory=True)
        for name, info in entity.model_fields.items()
        if not info.is_required()
    }
    values = applied(intent.changes, {**defaults, **intent.ref.values})
    try:
        return entity.model_validate(values, by_name=True, by_alias=False)
    except ValidationError as problem:
        missing = ", ".join(str(one["loc"][0]) for one in problem.errors() if one["loc"])
        if any(one["type"] != "missing" for one in problem.errors()):
            found = complaints(problem)
            raise ValueRefused(f"{intent.ref}: {in_one_line(found)}", found) from None
        raise PlanError(
            f"there is no {intent.ref}, and a change of it cannot make it: {missing} would have no "
            "value. Give it a default, or create the item first"
        ) from None


def _expand_delete(context: Context, plan: Plan, intent: Delete) -> Flow[Entity | None]:
    spec = intent.ref.entity.__spec__
    maintainers = transactional(spec)
    address = _address(spec, intent.ref.wire())
    pending = plan.steps.get(address)
    if pending is not None and (pending.new is not None or plan.is_deleted(address)):
        # What follows from it is reckoned from what it is by now: nothing, or changed.
        plan.add(address, Step(intent, pending.old))
        if pending.new is not None:
            plan.entail(maintainers, pending.new, None)
        return pending.new if intent.returning else None
    old = intent.known
    alone = len(plan.results) == 1 and not plan.entailing
    if old is None and (maintainers or (intent.returning and not alone)):
        old = yield from find(context, intent.ref)
        if old is None:
            if intent.must_exist:
                raise NotFound(f"there is no {intent.ref}")
            return None
    elif old is not None:
        old = yield from _with_present_counts(context, intent, old)
    plan.add(address, Step(intent, old))
    plan.entail(maintainers, old, None)
    return old if intent.returning else None


def _with_present_counts(context: Context, intent: Update | Delete, known: Entity) -> Flow[Entity]:
    """The caller's item may be older than its counters, which move without a new version."""
    counts = steady_counts(known.__spec__, intent)
    if not counts:
        return known
    present = yield from find(context, intent.ref)
    if present is None:
        raise NotFound(f"there is no {intent.ref}")
    return known.model_copy(update={name: getattr(present, name) for name in counts})


def _send(context: Context, plan: Plan, token: str | None) -> Flow[list[Entity | None]]:
    writes = [step.render(context, plan.stored.get(at)) for at, step in plan.steps.items()]
    if not writes:
        return plan.results
    if len(writes) > TRANSACTION_ITEMS:
        raise TooManyWrites(
            f"{len(writes)} items would be written at once; one transaction takes "
            f"{TRANSACTION_ITEMS}. Declare the largest structure with sync='stream'"
        )
    if len(writes) == 1 and writes[0].action in _SINGLE and token is None:
        return (yield from _send_single(plan, writes[0]))
    request: dict[str, Any] = {"TransactItems": [{w.action: dict(w.request)} for w in writes]}
    if token is not None:
        request["ClientRequestToken"] = token
    try:
        yield Call("TransactWriteItems", request)
    except TransactionCanceled as cancelled:
        raise _explained(cancelled, writes) from cancelled
    return plan.results


def _send_single(plan: Plan, write: WireWrite) -> Flow[list[Entity | None]]:
    request = dict(write.request)
    if write.action == "Update":
        request["ReturnValues"] = "ALL_NEW"
    elif isinstance(write.intent, Delete) and write.intent.returning:
        request["ReturnValues"] = "ALL_OLD"
    try:
        answer = yield Call(_SINGLE[write.action], request)
    except ConditionFailed as failed:
        if failed.item is None and isinstance(write.intent, Update) and write.intent.otherwise:
            raise CopiesMissing([write.intent.ref]) from failed
        raise _refusal(write, failed.item) from failed
    # A delete of what is not there gives nothing.
    if (
        len(plan.results) == 1
        and isinstance(write.intent, Update | Delete)
        and "Attributes" in answer
    ):
        plan.results[0] = write.intent.ref.entity.__spec__.decode(answer["Attributes"])
    return plan.results


def _refusal(write: WireWrite, item: dict[str, Any] | None) -> Exception:
    """What a failed condition means; where only our own read was stale, it is worth a retry."""
    problem, intent = write.refusal(item), write.intent
    if isinstance(problem, Lingering):
        return problem
    raced = (
        (isinstance(problem, VersionConflict) and getattr(intent, "known", None) is None)
        or (isinstance(problem, NotFound) and isinstance(intent, Update) and intent.lenient)
        or (isinstance(problem, AlreadyExists) and isinstance(intent, Put) and intent.unless_raced)
    )
    return TransactionConflict(str(problem)) if raced else problem


def _explained(cancelled: TransactionCanceled, writes: Sequence[WireWrite]) -> Exception:
    """The first refusal in terms of its intent; conflicts and throttling are worth a retry."""
    missing: list[Ref[Any]] = []
    for reason, write in zip(cancelled.reasons, writes, strict=False):
        if reason.code != "ConditionalCheckFailed":
            continue
        if reason.item is None and isinstance(write.intent, Update) and write.intent.otherwise:
            missing.append(write.intent.ref)
        else:
            return _refusal(write, reason.item)
    if missing:
        return CopiesMissing(missing)
    if any(reason.code in PASSING for reason in cancelled.reasons):
        return TransactionConflict(cancelled.message)
    return cancelled


def _address(spec: EntitySpec, key: dict[str, Any]) -> tuple[str, str]:
    return spec.table.name, repr([key[name] for name in spec.table.schema.key_attributes])


def move(context: Context, target: Entity | Ref[Any], changes: Mapping[str, Any]) -> Flow[Any]:
    """The item under its new key: the old one deleted and the new one created, together."""
    ref = target if isinstance(target, Ref) else target.ref()
    item = yield from find_item(context, ref)
    if item is None:
        raise NotFound(f"there is no {ref}")
    old = ref.entity.__spec__.decode(item)
    carried = ref.entity.__spec__.undeclared(item)
    if not isinstance(target, Ref) and _version(old) != _version(target):
        raise VersionConflict(_CHANGED.format(ref))
    checked = {name: validate(ref.entity, name, value) for name, value in changes.items()}
    new = old.model_copy(update={**_uncounted(ref.entity), **checked})
    states = ref.entity.__spec__.states
    taken = {name: change.Set(value) for name, value in checked.items() if name in states}
    refused = step_refused(ref.entity.__spec__, Update(ref, taken), old)
    if refused is not None:
        raise refused
    if new.ref().wire() == ref.wire():
        raise PlanError(f"{ref} would not move: none of its key fields changes")
    results = yield from commit(
        context, [Delete(ref, known=old, carried=carried), Put(new, moved=True, carried=carried)]
    )
    return results[1]


def _has_counts(spec: EntitySpec) -> bool:
    return any(map(is_counted, spec.fields.values()))


def refuse_counts(new: Entity) -> None:
    """A new item begins with nothing counted: any other number would be wrong at once."""
    for name, begins in _uncounted(type(new)).items():
        if getattr(new, name) != begins:
            raise ValueRefused(
                f"{type(new).__name__}.{name} is counted by keyfold; leave it out of a new item",
                {name: "is counted; leave it out"},
            )


def _uncounted(entity: type[Entity]) -> dict[str, Any]:
    """Counted fields as they begin: what was counted under the old key is not under the new one."""
    counted = (name for name, field in entity.__spec__.fields.items() if is_counted(field))
    return {
        name: entity.model_fields[name].get_default(call_default_factory=True) for name in counted
    }


def _version(item: Entity) -> Any:
    version = item.__spec__.version
    return None if version is None else getattr(item, version.name)
