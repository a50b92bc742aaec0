"""Validates wire values with DynamoDB's messages, and normalises them.

Types (a string under "S", a list under "L" ...) were checked with the request's shape; this module
checks the values.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from keyfold_engine.errors import INVALID_PARAMETER as _INVALID
from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.limits import ATTRIBUTE_NAME_BYTES, NESTING_LEVELS
from keyfold_engine.values import AttributeValue, Item
from keyfold_engine.values.key_order import in_set_order
from keyfold_engine.values.normal import NormalItem
from keyfold_engine.values.number import decimal_complaint, normalise
from keyfold_engine.values.size import item_size, text_size

_SCALARS_WITHOUT_RULES = frozenset(("S", "B", "BOOL"))


def check_item(item: Item) -> NormalItem:
    """The item in normal form, with its size; the same object if it already was."""
    if isinstance(item, NormalItem):
        return item
    for name in item:
        check_name(name)
    checked = _entries(item, 0)
    return NormalItem(checked, item_size(checked))


def check_name(name: str) -> None:
    """Refuse an invalid attribute name."""
    if not name:
        raise RequestInvalid("Empty attribute name")
    if text_size(name) > ATTRIBUTE_NAME_BYTES:
        raise RequestInvalid(
            f"Attribute name is too large, must be less than {ATTRIBUTE_NAME_BYTES + 1} bytes"
        )


def _entries(item: Item, depth: int) -> Item:
    """The entries in normal form; the same object if they already were."""
    changed: Item | None = None
    for name, value in item.items():
        if len(value) == 1 and ("S" in value or "BOOL" in value):
            continue
        checked = check_value(value, depth)
        if checked is not value:
            if changed is None:
                changed = dict(item)
            changed[name] = checked
    return item if changed is None else changed


def check_value(value: AttributeValue, depth: int = 0) -> AttributeValue:
    """The value in normal form; raises DynamoDB's error for an invalid one."""
    if len(value) != 1:
        return _check_all_types(value, depth)
    for kind, content in value.items():
        if kind in _SCALARS_WITHOUT_RULES:
            return value
        if kind == "N":
            canonical = _number(content)
            return value if canonical == content else {"N": canonical}
        checked = _RULES[kind](content, depth)
        return value if checked is content else {kind: checked}
    raise AssertionError("unreachable")


def _check_all_types(value: AttributeValue, depth: int) -> AttributeValue:
    if not value:
        raise ValidationError(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        )
    for kind, content in value.items():
        check_value({kind: content}, depth)
    raise ValidationError(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
        "supported datatypes"
    )


def _number(text: str) -> str:
    try:
        return normalise(text)
    except ValidationError as error:
        newer = None if text else f"{error.message}: "
        raise RequestInvalid(error.message, newer, older=decimal_complaint(text)) from None


def _null(content: bool, _depth: int) -> bool:
    if content is not True:
        raise RequestInvalid(f"{_INVALID}Null attribute value types must have the value of true")
    return True


def _strings(members: list[str], _depth: int) -> list[str]:
    if not members:
        raise RequestInvalid(f"{_INVALID}An string set  may not be empty")
    if len(set(members)) != len(members):
        quoted = ", ".join(f'"{member}"' for member in _as_added("SS", members))
        raise RequestInvalid(
            f"{_INVALID}Input collection [{', '.join(members)}] contains duplicates.",
            newer=f"{_INVALID}Input collection [{quoted}] contains duplicates.",
        )
    return in_set_order("SS", members)


def _numbers(members: list[str], _depth: int) -> list[str]:
    if not members:
        raise RequestInvalid(f"{_INVALID}An number set  may not be empty")
    canonical = [_number(member) for member in members]
    if len(set(canonical)) != len(canonical):
        reason = "Input collection contains duplicates"
        raise RequestInvalid(reason, newer=f"{_INVALID}{reason}.")
    ordered = in_set_order("NS", canonical)
    return members if ordered == members else ordered


def _binaries(members: list[str], _depth: int) -> list[str]:
    if not members:
        raise RequestInvalid(f"{_INVALID}Binary sets should not be empty")
    if len(set(members)) != len(members):
        quoted = ",".join(f'"{member}"' for member in _as_added("BS", members))
        raise RequestInvalid(
            f"{_INVALID}Input collection [{', '.join(members)}]of type BS contains duplicates.",
            newer=f"{_INVALID}Input collection [{quoted}]of type BS contains duplicates.",
        )
    return in_set_order("BS", members)


def _as_added(kind: str, members: list[str]) -> list[str]:
    """Members in the order DynamoDB lists a set with duplicates: up to the first repeated one."""
    repeated = next(at for at, member in enumerate(members) if member in members[:at])
    return [*in_set_order(kind, members[:repeated]), *members[repeated:]]


def _list(elements: list[AttributeValue], depth: int) -> list[AttributeValue]:
    deeper = _deeper(depth)
    checked = [check_value(element, deeper) for element in elements]
    return elements if all(map(is_, checked, elements)) else checked


def _map(entries: Item, depth: int) -> Item:
    return _entries(entries, _deeper(depth))


def _deeper(depth: int) -> int:
    if depth >= NESTING_LEVELS - 1:
        raise RequestInvalid(
            "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
            "levels beyond supported limit"
        )
    return depth + 1


_RULES: dict[str, Callable[[Any, int], Any]] = {
    "NULL": _null,
    "SS": _strings,
    "NS": _numbers,
    "BS": _binaries,
    "L": _list,
    "M": _map,
}
