"""The plan of one commit: each item once, with everything that happens to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

from keyfold.design.address import Ref
from keyfold.design.condition import all_of
from keyfold.design.entity import Entity
from keyfold.errors import NotFound, PlanError
from keyfold.runtime import changes as change
from keyfold.runtime.changes import Change
from keyfold.runtime.context import Context
from keyfold.runtime.intent import (
    Check,
    Delete,
    Derived,
    IfMissing,
    Intent,
    Maintainer,
    Marker,
    Put,
    Update,
)
from keyfold.runtime.write_requests import (
    WireWrite,
    check_write,
    delete_write,
    marker_write,
    put_write,
    update_write,
)


@dataclass
class Step:
    """One item to write, with what is known about it."""

    intent: Intent
    old: Entity | None = None
    new: Entity | None = None
    wire: dict[str, Any] | None = None
    """The stored form of `new`, if known."""

    def render(self, context: Context, stored: dict[str, Any] | None) -> WireWrite:
        match self.intent:
            case Put() as put:
                return put_write(context, put, self.wire)
            case Update() as update:
                return update_write(context, update, self.old, self.new, stored, self.wire)
            case Delete() as delete:
                return delete_write(context, delete, self.old, stored)
            case Check() as check:
                return check_write(context, check)
            case Marker() as marker:
                return marker_write(context, marker)
            case Derived():
                raise AssertionError("what is derived was made an update")


@dataclass
class Plan:
    """All steps of one commit, each item once, in order."""

    steps: dict[Any, Step] = dataclass_field(default_factory=dict)
    results: list[Entity | None] = dataclass_field(default_factory=list)
    entailed: deque[tuple[Maintainer, Entity | None, Entity | None]] = dataclass_field(
        default_factory=deque
    )
    asked: dict[int, Any] = dataclass_field(default_factory=dict)
    """The addresses of the caller's intents, by their places."""
    latest: Any = None
    """The address that was added last."""
    entailing: bool = False
    """The caller's intents are planned; their consequences are being added."""
    can_overflow: bool = False
    stored: Mapping[Any, dict[str, Any]] = dataclass_field(default_factory=dict)
    """Items stored in another form than declared, as they were read."""
    missing: frozenset[Any] = frozenset()
    """Addresses of copies known to be missing."""

    def entail(
        self, maintainers: Sequence[Maintainer], old: Entity | None, new: Entity | None
    ) -> None:
        self.entailed.extend((maintainer, old, new) for maintainer in maintainers)

    def add(self, address: Any, step: Step) -> None:
        self.latest = address
        existing = self.steps.get(address)
        joined = step if existing is None else _join(existing, step)
        if joined is None:
            del self.steps[address]
        else:
            self.steps[address] = joined

    def pending(self, entity: type[Entity]) -> Iterator[tuple[Ref[Any], Entity | None]]:
        """The items of an entity that this commit writes, in their new state; None for deleted
        ones.
        """
        for step in self.steps.values():
            if isinstance(step.intent, Put) and type(step.intent.new) is entity:
                yield step.intent.new.ref(), step.intent.new
            elif isinstance(step.intent, Update | Delete) and step.intent.ref.entity is entity:
                yield step.intent.ref, step.new

    def settle_results(self) -> None:
        """Give the caller what will be stored: consequences may change the items it writes.

        A transaction returns no items: an unversioned one is the caller's with all changes.
        """
        for place, address in self.asked.items():
            match self.steps.get(address):
                case Step(new=Entity() as new) if self.results[place] is not None:
                    self.results[place] = new
                case Step(Update(given=Entity() as given) as update, new=None):
                    changed = change.apply_changes(update.changes, given.__dict__)
                    self.results[place] = given.model_copy(update=changed)

    def is_deleted(self, address: Any) -> bool:
        """Whether the item is already deleted in this commit, with its consequences."""
        step = self.steps.get(address)
        return step is not None and isinstance(step.intent, Delete)


def _join(first: Step, second: Step) -> Step | None:
    """Two writes to one item combined: DynamoDB accepts an item once per transaction."""
    old = second.old if first.old is None else first.old
    match first.intent, second.intent:
        case Check() as check, _:
            return _with_check(second, check)
        case _, Check() as check:
            return _with_check(first, check)
        case Delete() as one, Delete() as other:
            both = all_of(one.condition, other.condition)
            must_exist = one.must_exist or other.must_exist
            refuse = one.refuse or other.refuse
            joined = replace(one, condition=both, must_exist=must_exist, refuse=refuse)
            return replace(first, intent=joined)
        case Delete(), Update():
            return first
        case Update() as one, Delete() as other:
            both = all_of(one.condition, other.condition)
            return Step(replace(other, condition=both, refuse=other.refuse or one.refuse), old)
        case Update() as one, Update() as other:
            return Step(_joined_updates(one, other), old, second.new, second.wire)
        case Put() as one, Update():
            assert second.new is not None
            return Step(replace(one, new=second.new), first.old, second.new)
        case Marker() as one, Marker() as other:
            return None if _is_undone(one, other) else Step(_joined_markers(one, other))
        case _:
            raise PlanError(
                f"one transaction writes {_subject(first.intent)} twice; DynamoDB allows one "
                "write per item, so combine them"
            )


def _joined_updates(first: Update, second: Update) -> Update:
    changes = dict(first.changes)
    for name, one in second.changes.items():
        changes[name] = _combine(changes.get(name), one)
    given = second.if_missing, first.if_missing
    made: list[IfMissing] = [one for one in given if callable(one)]
    stated: list[IfMissing] = [one for one in ("refuse", "create") if one in given]
    return replace(
        second if first.counting else first,
        changes=changes,
        condition=all_of(first.condition, second.condition),
        if_missing=[*made, *stated, "skip"][0],
        steady=first.steady | second.steady,
        expected_version=(
            second.expected_version if first.expected_version is None else first.expected_version
        ),
        refuse=first.refuse or second.refuse,
    )


def _subject(intent: Intent) -> str:
    if isinstance(intent, Put):
        return str(intent.new.ref())
    return "a support item" if isinstance(intent, Marker) else str(intent.ref)


def _is_undone(first: Marker, second: Marker) -> bool:
    """Whether the same item both claimed and freed a value."""
    if first.action != "Put" or second.action != "Delete":
        return False
    claimed = first.request["ExpressionAttributeValues"].get(":holder")
    return bool(claimed == second.request["ExpressionAttributeValues"].get(":former", claimed))


def _joined_markers(first: Marker, second: Marker) -> Marker:
    """Two writes to one support item: free then claim becomes a hand-over, two claims are
    refused.
    """
    if first.action == second.action:
        if first.action == "Put" and first.request["Item"] != second.request["Item"]:
            assert second.refusal is not None, "a support item that others may claim says so"
            raise second.refusal(first.request["Item"])
        return second
    freed, claimed = (first, second) if second.action == "Put" else (second, first)
    if claimed.action != "Put" or freed.action != "Delete":
        raise PlanError(f"one transaction writes a support item twice: {first} and {second}")
    members = "ExpressionAttributeNames", "ExpressionAttributeValues"
    both = {name: {**freed.request[name], **claimed.request[name]} for name in members}
    condition = " OR ".join(m.request["ConditionExpression"] for m in (claimed, freed))
    return replace(claimed, request={**claimed.request, **both, "ConditionExpression": condition})


def _with_check(step: Step, check: Check) -> Step:
    """A write that includes the condition of a check on the same item."""
    intent = step.intent
    if isinstance(intent, Marker | Derived):
        return step
    if isinstance(intent, Put) and intent.counted:
        raise NotFound(f"{check.ref} does not exist")
    if isinstance(intent, Delete):
        if check.lasting:
            raise PlanError(
                f"one transaction deletes {check.ref} and adds an item to it; do only one"
            )
        intent = replace(intent, must_exist=True)
    elif isinstance(intent, Update):
        intent = replace(intent, if_missing="refuse")
    elif isinstance(intent, Check):
        intent = replace(intent, lasting=intent.lasting or check.lasting)
    both = all_of(intent.condition, check.condition)
    joined = replace(intent, condition=both, refuse=intent.refuse or check.refuse)
    return Step(joined, step.old, step.new, step.wire)


def _combine(first: Change | None, second: Change) -> Change:
    if isinstance(first, change.Add) and isinstance(second, change.Add):
        if isinstance(first.amount, set | frozenset):
            return change.Add(first.amount | second.amount)
        return change.Add(change.total(first.amount, second.amount))
    if first is not None and isinstance(second, change.Add | change.Remove | change.Append):
        raise PlanError("one unit of work sets a field and adds to it; do only one")
    return second
