"""Guards: the conditions a write puts on the item it was planned for, and what their failure
means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keyfold.design.address import Ref
from keyfold.design.condition import Condition, condition_text, evaluator
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.errors import (
    AlreadyExists,
    ConditionFailed,
    KeyfoldError,
    NotFound,
    TransactionConflict,
    VersionConflict,
)
from keyfold.runtime import changes as change
from keyfold.runtime.expression import Expressions
from keyfold.runtime.intent import Check, Delete, Intent, Update
from keyfold.runtime.steps import step_refused
from keyfold.runtime.validity import looked_at, objection

WireItem = dict[str, Any]


class StoredOtherwise(KeyfoldError):
    """Items have the values that were read, in another form: another time format, a NULL."""

    def __init__(self, *found: tuple[Ref[Any], WireItem]) -> None:
        refs = ", ".join(str(ref) for ref, _ in found)
        super().__init__(
            f"{refs} {'is' if len(found) == 1 else 'are'} stored in another format than the "
            "declaration writes"
        )
        self.found = found


class Lingering(AlreadyExists):
    """The key is taken by an expired item that has not been deleted yet."""

    def __init__(self, ref: Ref[Any], item: WireItem) -> None:
        super().__init__(f"{ref} has expired but is not deleted yet")
        self.ref = ref
        self.item = item


class CopiesMissing(KeyfoldError):
    """Copies to be updated do not exist; they are written in full instead."""

    def __init__(self, refs: Sequence[Ref[Any]]) -> None:
        super().__init__(
            f"{', '.join(map(str, refs))} {'does' if len(refs) == 1 else 'do'} not exist"
        )
        self.refs = refs


def unchanged_guards(
    expressions: Expressions,
    spec: EntitySpec,
    old: Entity,
    stored: WireItem | None,
    intent: Update | Delete,
) -> list[str]:
    """The condition that the item is still what was read."""
    guarded = steady_counts(spec, intent)
    guards = []
    if spec.version is not None:
        name = expressions.name(spec.version.attribute)
        version = getattr(old, spec.version.name)
        same = f"{name} = {expressions.value({'N': str(version)})}"
        # An item of another writer has no version, and is read with the default.
        is_default = version == spec.entity.model_fields[spec.version.name].default
        guards.append(f"(attribute_not_exists({name}) OR {same})" if is_default else same)
    guarded |= _identifying_fields(spec, intent)
    if not guarded:
        return guards
    present = stored
    if present is None:
        present = spec.attributes_of(old.__dict__)
        present |= spec.index_attributes(old.__dict__) if spec.in_keys else {}
    free, keys = [], spec.table.schema.key_attributes
    for field in sorted(guarded):
        if spec.fields[field].attribute not in keys:
            free.append(spec.fields[field].attribute)
    return guards + expressions.unchanged(free, present)


def _identifying_fields(spec: EntitySpec, intent: Update | Delete) -> set[str]:
    """The fields that identify the item as the one that was read.

    An item that was deleted and created again restarts its version at one. So even with a version,
    the fields that other items are derived from are compared too.
    """
    wanted = set(spec.fields) if isinstance(intent, Delete) else _guarded_fields(spec, intent)
    if spec.version is not None:
        wanted &= _written_from(spec)
    wanted |= looked_at(spec, intent)
    return wanted - spec.kept


def _written_from(spec: EntitySpec) -> set[str]:
    """The fields that index keys and transactional maintainers are derived from."""
    found = {name for placement in spec.placements.values() for name in placement.fields}
    for maintainer in spec.table.design.joining(spec.entity):
        found |= maintainer.fields
    return found & set(spec.fields)


def _guarded_fields(spec: EntitySpec, intent: Update) -> set[str]:
    fields = (set(intent.changes) - {intent.stamps}) | change.sources(intent.changes)
    for placement in spec.placements.values():
        if placement.fields & fields:
            fields |= placement.fields
    for maintainer in spec.table.design.maintainers:
        if maintainer.source is spec.entity and maintainer.fields & fields:
            fields |= maintainer.fields
    return fields & set(spec.fields)


def steady_counts(spec: EntitySpec, intent: Update | Delete) -> frozenset[str]:
    """Counted fields that must not move during this write, because a maintainer needs them
    stable.
    """
    found = intent.steady if isinstance(intent, Update) else frozenset()
    if isinstance(intent, Update) and intent.counting:
        return found
    touched = None if isinstance(intent, Delete) else frozenset(intent.changes)
    for maintainer in spec.table.design.joining(spec.entity):
        found |= maintainer.steady(touched)
    return found


def refusal_of(
    intent: Update | Delete | Check,
    spec: EntitySpec,
    old: Entity | None,
    stored: WireItem | None,
) -> Callable[[WireItem | None], Exception]:
    ref: Ref[Any] = intent.ref
    condition: Condition | None = intent.condition

    def refusal(item: WireItem | None) -> KeyfoldError:
        if item is None:
            return NotFound(f"{ref} does not exist")
        carried = intent.carried if isinstance(intent, Delete) else {}
        if any(item.get(name) != value for name, value in carried.items()):
            return VersionConflict(f"{ref} was changed by another writer after it was read")
        if isinstance(intent, Update) and spec.states:
            refused = step_refused(spec, intent, spec.decode(item))
            if refused is not None:
                return refused
        if isinstance(intent, Update) and not has_version(spec, item, intent.expected_version):
            return VersionConflict(f"{ref} was changed by another writer after it was read")
        if old is not None and _differs(spec, old, item, intent):
            return VersionConflict(f"{ref} was changed by another writer after it was read")
        if old is not None and not isinstance(intent, Check):
            found = spec.decode(item)
            if any(getattr(found, n) != getattr(old, n) for n in steady_counts(spec, intent)):
                return TransactionConflict(f"the counters of {ref} changed in the meantime")
            objected = objection(spec, intent, item) if isinstance(intent, Update) else None
            if objected is not None:
                return objected
            if stored != item and (condition is None or evaluator(condition, spec)(found.__dict__)):
                return StoredOtherwise((ref, item))
        objected = objection(spec, intent, item) if isinstance(intent, Update) else None
        return objected or not_met(ref, condition, item)

    return refusal


def named_problem(intent: Intent, problem: Exception) -> Exception:
    """The error that the caller named for this, if any: not for versions, uniques and states."""
    named: Exception | None = getattr(intent, "refuse", None)
    failed = isinstance(problem, AlreadyExists | NotFound | ConditionFailed)
    return named if failed and named is not None else problem


def not_met(ref: Ref[Any], condition: Condition | None, item: WireItem | None) -> ConditionFailed:
    """The error for a condition that the stored item does not meet."""
    shown = "its condition" if condition is None else condition_text(condition)
    return ConditionFailed(f"{ref}: {shown} does not hold", item)


def has_version(spec: EntitySpec, item: WireItem, expected: int | None) -> bool:
    """Whether an item has the expected version, if one is expected."""
    if expected is None or spec.version is None:
        return True
    return bool(item.get(spec.version.attribute, {}).get("N") == str(expected))


def _differs(
    spec: EntitySpec, old: Entity, item: WireItem, intent: Update | Delete | Check
) -> bool:
    names = spec.fields.keys() - spec.kept
    if spec.version is not None:
        version = item.get(spec.version.attribute, {}).get("N")
        if version != str(getattr(old, spec.version.name)):
            return True
        names = set() if isinstance(intent, Check) else _identifying_fields(spec, intent)
    stored = spec.decode(item) if names else None
    return any(getattr(stored, name) != getattr(old, name) for name in names)
