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
from keyfold.runtime.intent import Check, Delete, Derived, Intent, Maintainer, Marker, Put, Update
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
        intent = self.intent
        if isinstance(intent, Put):
            return put_write(context, intent, self.wire)
        if isinstance(intent, Update):
            return update_write(context, intent, self.old, self.new, stored, self.wire)
        if isinstance(intent, Delete):
            return delete_write(context, intent, self.old, stored)
        if isinstance(intent, Check):
            return check_write(context, intent)
        assert isinstance(intent, Marker), "what is derived was made an update"
        return marker_write(context, intent)


@dataclass
class Plan:
    """All steps of one commit, each item once, in order."""

    steps: dict[Any, Step] = dataclass_field(default_factory=dict)
    results: list[Entity | None] = dataclass_field(default_factory=list)
    entailed: deque[tuple[Maintainer, Entity | None, Entity | None]] = dataclass_field(
        default_factory=deque
    )
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

    def is_deleted(self, address: Any) -> bool:
        """Whether the item is already deleted in this commit, with its consequences."""
        step = self.steps.get(address)
        return step is not None and isinstance(step.intent, Delete)


def _join(first: Step, second: Step) -> Step | None:
    """Two writes to one item combined: DynamoDB accepts an item once per transaction."""
    if isinstance(first.intent, Check):
        return _with_check(second, first.intent)
    if isinstance(second.intent, Check):
        return _with_check(first, second.intent)
    if isinstance(first.intent, Delete) and isinstance(second.intent, Delete):
        condition = all_of(first.intent.condition, second.intent.condition)
        must_exist = first.intent.must_exist or second.intent.must_exist
        return replace(
            first, intent=replace(first.intent, condition=condition, must_exist=must_exist)
        )
    if isinstance(first.intent, Delete) and isinstance(second.intent, Update):
        return first
    if isinstance(first.intent, Update) and isinstance(second.intent, Delete):
        condition = all_of(first.intent.condition, second.intent.condition)
        return Step(replace(second.intent, condition=condition), first.old or second.old)
    if isinstance(first.intent, Update) and isinstance(second.intent, Update):
        merged = dict(first.intent.changes)
        for name, one in second.intent.changes.items():
            merged[name] = _combine(merged.get(name), one)
        base = second.intent if first.intent.counting else first.intent
        both = first.intent, second.intent
        demanded = any(not (one.upsert or one.lenient or one.otherwise) for one in both)
        joined = replace(
            base,
            changes=merged,
            condition=all_of(first.intent.condition, second.intent.condition),
            upsert=not demanded and any(one.upsert for one in both),
            lenient=all(one.lenient for one in both),
            steady=first.intent.steady | second.intent.steady,
            otherwise=second.intent.otherwise or first.intent.otherwise,
        )
        return Step(joined, first.old or second.old, second.new, second.wire)
    if isinstance(first.intent, Put) and isinstance(second.intent, Update):
        assert second.new is not None
        return Step(replace(first.intent, new=second.new), first.old, second.new)
    if isinstance(first.intent, Marker) and isinstance(second.intent, Marker):
        if _is_undone(first.intent, second.intent):
            return None
        return Step(_joined_markers(first.intent, second.intent))
    raise PlanError(
        f"one transaction writes {_subject(first.intent)} twice; DynamoDB allows one write per "
        "item, so combine them"
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
        intent = replace(intent, upsert=False, lenient=False, otherwise=None)
    elif isinstance(intent, Check):
        intent = replace(intent, lasting=intent.lasting or check.lasting)
    both = all_of(intent.condition, check.condition)
    return Step(replace(intent, condition=both), step.old, step.new, step.wire)


def _combine(first: Change | None, second: Change) -> Change:
    if isinstance(first, change.Add) and isinstance(second, change.Add):
        if isinstance(first.amount, set | frozenset):
            return change.Add(first.amount | second.amount)
        return change.Add(change.total(first.amount, second.amount))
    if first is not None and isinstance(second, change.Add | change.Remove | change.Append):
        raise PlanError("one unit of work sets a field and adds to it; do only one")
    return second
