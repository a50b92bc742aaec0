"""Sort-key conditions that stay inside their entity, so that no range bleeds."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from keyfold.design.key_attribute import KeyAttribute
from keyfold.design.query import Query
from keyfold.design.read import resolve
from keyfold.design.template import HIGHEST, Literal, Slot, Template
from keyfold.errors import PlanError
from keyfold_engine.limits import NUMBER_DIGITS

Condition = tuple[str, tuple[dict[str, str], ...]]
"""An operator (=, begins_with, BETWEEN, <, <=, >, >=) and its values; ("", ()) for no condition."""

# The smallest step is 1E-130, DynamoDB's smallest number.
_NUMBERS = Context(prec=NUMBER_DIGITS, Emin=-130 + NUMBER_DIGITS - 1)

NOTHING: Condition = ("nothing", ())
"""An empty range; DynamoDB rejects a request for one."""


@dataclass(frozen=True)
class _Asked:
    """The query's sort-key condition with parameter values filled in."""

    values: Mapping[str, Any]
    ranged: str | None
    low: tuple[Any, bool] | None
    high: tuple[Any, bool] | None
    beginning: Any
    owner: str


def sort_conditions(query: Query[Any], arguments: Mapping[str, Any]) -> list[tuple[str, Condition]]:
    """The query's condition on each attribute of the sort key, from the left."""
    declared = query.source.declared
    given = {name: resolve(value, arguments) for name, value in query.values.items()}
    asked = _Asked(
        declared.templates.sorting(declared.with_derived(given)),
        query.ranged,
        _resolve_bound(query.low, arguments),
        _resolve_bound(query.high, arguments),
        resolve(query.beginning, arguments),
        f"{query.entity.__name__}.{declared.name}",
    )
    first, *others = declared.sort_attributes or (None,)
    if first is None:
        return []
    conditions = [(first.attribute, _condition(first, asked))]
    for attribute in others:
        # DynamoDB allows no condition after an attribute that is open or a range.
        if conditions[-1][1][0] != "=":
            break
        conditions.append((attribute.attribute, _condition(attribute, asked)))
    return conditions


def _condition(attribute: KeyAttribute, asked: _Asked) -> Condition:
    template, values, owner = attribute.template, asked.values, asked.owner
    here = asked.ranged in template.fields
    low, high = (asked.low, asked.high) if here else (None, None)
    if attribute.type != "S":
        return _value_condition(attribute, values, low, high, owner)
    if asked.beginning is not None and asked.ranged is not None and here:
        slot = next(one for one in template.slots if one.field == asked.ranged)
        prefix = template.render_prefix(values, owner=owner)
        more = template.render_slot(slot, {slot.field: asked.beginning}, owner=owner)
        return "begins_with", ({"S": prefix + more},)
    if asked.ranged is None or (low is None and high is None):
        prefix = template.render_prefix(values, owner=owner)
        if all(field in values for field in template.fields):
            return "=", (attribute.value(prefix, owner=owner),)
        return ("begins_with", ({"S": prefix},)) if prefix else ("", ())
    return _text_range(template, asked.ranged, values, low, high, owner)


def _resolve_bound(
    side: tuple[Any, bool] | None, arguments: Mapping[str, Any]
) -> tuple[Any, bool] | None:
    """One end of a range; a parameter without a value leaves it open."""
    value = None if side is None else resolve(side[0], arguments)
    return None if side is None or value is None else (value, side[1])


def _text_range(
    template: Template,
    ranged: str,
    values: Mapping[str, Any],
    low: tuple[Any, bool] | None,
    high: tuple[Any, bool] | None,
    owner: str,
) -> Condition:
    position = next(
        i for i, p in enumerate(template.parts) if isinstance(p, Slot) and p.field == ranged
    )
    slot = template.parts[position]
    assert isinstance(slot, Slot)
    after = template.parts[position + 1] if position + 1 < len(template.parts) else None
    tail = after.text if isinstance(after, Literal) else ""
    prefix = template.render_prefix(values, owner=owner)

    def text(value: Any) -> str:
        return prefix + template.render_slot(slot, {slot.field: value}, owner=owner)

    lower, upper = prefix, prefix + HIGHEST
    if low is not None:
        # Keys with this exact value continue with the tail, so what follows starts behind it.
        beyond = text(low[0]) + (tail + HIGHEST if tail else "\x00")
        lower = text(low[0]) if low[1] else beyond
    if high is not None:
        at = text(high[0])
        if high[1]:
            upper = at + tail + HIGHEST if tail else at
        else:
            upper = at if tail else _just_below(at)
    if lower.encode() > upper.encode():
        return NOTHING
    return "BETWEEN", ({"S": lower}, {"S": upper})


def _just_below(text: str) -> str:
    """The largest key that sorts before this one."""
    return f"{text[:-1]}{chr(ord(text[-1]) - 1)}{HIGHEST}"


def _value_condition(
    attribute: KeyAttribute,
    values: Mapping[str, Any],
    low: tuple[Any, bool] | None,
    high: tuple[Any, bool] | None,
    owner: str,
) -> Condition:
    """A number or binary key is a single value, so its natural order applies."""
    field = attribute.template.fields[0]
    if field in values:
        return "=", (attribute.render(values, owner=owner),)

    def wire(value: Any) -> dict[str, str]:
        return attribute.render({field: value}, owner=owner)

    if low is None and high is None:
        return "", ()
    if high is None and low is not None:
        return (">=" if low[1] else ">"), (wire(low[0]),)
    if low is None and high is not None:
        return ("<=" if high[1] else "<"), (wire(high[0]),)
    assert low is not None
    assert high is not None
    ends = (wire(low[0]), wire(high[0]))
    if attribute.type == "N":
        lower, upper = (Decimal(end["N"]) for end in ends)
        lower = lower if low[1] else _next(lower, whole=attribute.whole)
        upper = upper if high[1] else _previous(upper, whole=attribute.whole)
        ends = ({"N": str(lower)}, {"N": str(upper)})
    elif not (low[1] and high[1]):
        raise PlanError(f"{owner}: a range of binary keys must include both ends")
    return NOTHING if _beyond(*ends) else ("BETWEEN", ends)


def _next(number: Decimal, *, whole: bool) -> Decimal:
    """The next larger number; DynamoDB's numbers have 38 digits."""
    return number + 1 if whole else _NUMBERS.next_plus(number)


def _previous(number: Decimal, *, whole: bool) -> Decimal:
    return number - 1 if whole else _NUMBERS.next_minus(number)


def narrow(condition: Condition, at: dict[str, str], *, backwards: bool) -> Condition:
    """The part of a range from a position onwards, including the position's own value."""
    low, high = _ends(condition)
    low, high = (low, at) if backwards else (at, high)
    if low is not None and high is not None:
        return NOTHING if _beyond(low, high) else ("BETWEEN", (low, high))
    return (">=", (low,)) if low is not None else ("<=", (at,))


def _ends(condition: Condition) -> tuple[dict[str, str] | None, dict[str, str] | None]:
    operator, values = condition
    if operator == "begins_with":
        return values[0], {"S": values[0]["S"] + HIGHEST}
    if operator in ("=", "BETWEEN"):
        return values[0], values[-1]
    if operator in (">", ">="):
        return values[0], None
    if operator == "<":
        return None, {"N": str(_previous(Decimal(values[0]["N"]), whole=False))}
    return (None, values[0]) if operator == "<=" else (None, None)


def _beyond(low: dict[str, str], high: dict[str, str]) -> bool:
    if "N" in low:
        return Decimal(low["N"]) > Decimal(high["N"])
    if "B" in low:
        return b64decode(low["B"]) > b64decode(high["B"])
    return low["S"].encode() > high["S"].encode()
