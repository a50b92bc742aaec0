"""Validates an item as a whole before anything is sent, so that it can be read back.

An operation on one field (an added amount, appended elements) that only a bound or a length limits
stays one request, with the limit as its condition. Where validators look at more than the changes,
the item is read first, and the fields they looked at are guarded.
"""

from __future__ import annotations

from typing import Any, TypeVar

import annotated_types

from keyfold.design.codec import encoder
from keyfold.design.entity import Entity
from keyfold.design.entity_spec import EntitySpec
from keyfold.design.fields import FieldSpec
from keyfold.design.markers import AtMost
from keyfold.design.validation import in_one_line
from keyfold.errors import Undecodable, ValueRefused
from keyfold.runtime import changes as change
from keyfold.runtime.changes import Change, apply_changes, check_length
from keyfold.runtime.expression import Expressions
from keyfold.runtime.intent import Delete, Update

E = TypeVar("E", bound=Entity)
WireItem = dict[str, Any]
_BOUNDS = {
    annotated_types.Ge: (">=", "ge"),
    annotated_types.Gt: (">", "gt"),
    annotated_types.Le: ("<=", "le"),
    annotated_types.Lt: ("<", "lt"),
}


def settle(given: E, key: WireItem | None = None) -> tuple[E, WireItem]:
    """The item as it will be read back, and its stored form; all validators have passed.

    A known key is not rendered again.
    """
    spec = given.__spec__
    item = spec.encode(given, key)
    try:
        found: E = spec.decode(item)
    except Undecodable as problem:
        raise ValueRefused(
            f"{given.ref()} is not written, because it could not be read back: "
            f"{in_one_line(problem.fields)}",
            problem.fields,
        ) from None
    if found.__dict__ != given.__dict__:
        _refuse_unknown(given, found)
        item = spec.encode(found, key)
    if not spec.transient:
        return found, item
    return found.model_copy(update={name: getattr(given, name) for name in spec.transient}), item


def _refuse_unknown(given: Entity, found: Entity) -> None:
    """Refuse a name that `model_copy` took, and that no constructor would have taken."""
    unknown = sorted(given.__dict__.keys() - found.__dict__.keys())
    if unknown:
        raise ValueRefused(
            f"{given.ref()} is not written, because {given.__spec__.name} has no field "
            f"{', '.join(unknown)}",
            dict.fromkeys(unknown, "is not a field"),
        )


def apply_update(old: E, intent: Update) -> tuple[E, WireItem | None]:
    """The item after an update, validated; a counter's adjustment is neither validated nor
    encoded.
    """
    after = old.model_copy(update=apply_changes(intent.changes, old.__dict__))
    if intent.counting:
        return after, None
    for field in old.__spec__.bounded_fields:
        if field.name in intent.changes:
            check_length(old.__spec__, field, getattr(after, field.name))
    return settle(after, intent.ref.wire())


def looked_at(spec: EntitySpec, intent: Update | Delete) -> set[str]:
    """The fields whose stored values decide whether the changed item is valid."""
    if isinstance(intent, Delete) or intent.counting or intent.if_missing == "create":
        return set()
    validators = spec.validators
    if validators.whole or validators.fields & intent.changes.keys():
        return set(spec.fields)
    changed = ((spec.fields[name], one) for name, one in intent.changes.items())
    return {field.name for field, one in changed if _needs_value(field, one)}


def _needs_value(field: FieldSpec, one: Change) -> bool:
    """Whether the field's limits cannot be expressed as a condition."""
    if isinstance(one, change.Inside):
        checked = any(each.checked for each in one.changes)
        return checked or bool(field.constraints) or field.mark(AtMost) is not None
    if isinstance(one, change.FromField):
        return bool(field.constraints)
    if not isinstance(one, change.Add | change.Remove | change.Append):
        return False
    if isinstance(one, change.Add) and not isinstance(one.amount, set | frozenset):
        return any(type(mark) not in _BOUNDS for mark in field.constraints)
    several = isinstance(one, change.Add) and len(one.amount) > 1
    return bool(field.constraints) or (several and field.mark(AtMost) is not None)


def limits(expressions: Expressions, spec: EntitySpec, intent: Update) -> list[str]:
    """The conditions that keep operations within their fields' limits."""
    if intent.counting or intent.if_missing == "create":
        return []
    found: list[str] = []
    for name, one in intent.changes.items():
        field = spec.fields[name]
        if isinstance(one, change.Inside):
            parents = dict.fromkeys(
                expressions.path(each.parent.operand, spec) for each in one.changes
            )
            found += [f"attribute_exists({parent})" for parent in parents]
        if isinstance(one, change.Add) and not isinstance(one.amount, set | frozenset):
            found += _bounds(expressions, field, one.amount)
        elif isinstance(one, change.Add | change.Append):
            found += _length(expressions, field, one)
    return found


def _bounds(expressions: Expressions, field: FieldSpec, amount: Any) -> list[str]:
    found = []
    name, encode = expressions.name(field.attribute), encoder(field)
    for mark in field.constraints:
        if type(mark) not in _BOUNDS:
            continue
        sign, member = _BOUNDS[type(mark)]
        bound = change.total(getattr(mark, member), -amount)
        holds = f"{name} {sign} {expressions.value(encode(bound))}"
        begins = {">=": bound <= 0, ">": bound < 0, "<=": bound >= 0, "<": bound > 0}[sign]
        found.append(f"(attribute_not_exists({name}) OR {holds})" if begins else holds)
    return found


def _length(
    expressions: Expressions, field: FieldSpec, one: change.Add | change.Append
) -> list[str]:
    most = field.mark(AtMost)
    elements = one.amount if isinstance(one, change.Add) else one.elements
    if most is None or (isinstance(one, change.Add) and len(elements) != 1):
        return []
    name = expressions.name(field.attribute)
    room = expressions.value({"N": str(most.items - len(elements))})
    fits = [f"attribute_not_exists({name})"] if len(elements) <= most.items else []
    fits.append(f"size({name}) <= {room}")
    if isinstance(one, change.Add):
        [(kind, [element])] = encoder(field)(elements).items()
        fits.append(f"contains({name}, {expressions.value({kind[0]: element})})")
    return [f"({' OR '.join(fits)})"]


def objection(spec: EntitySpec, intent: Update, item: dict[str, Any]) -> ValueRefused | None:
    """Why the changes are invalid for this item, if they are."""
    try:
        apply_update(spec.decode(item), intent)
    except ValueRefused as refused:
        return refused
    except Undecodable:
        return None
    return None
