"""Items in normal form, and the one look that finds most of them to be in it already.

Nearly all that comes in is right and written canonically. One walk sees that and measures the
item on its way; only what is not plainly right goes the long way, which finds out what is wrong
in DynamoDB's order (`shapes.types`, then `values.wire`), or normalises it.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from keyfold.errors import ValidationError
from keyfold.limits import NESTING_LEVELS, NUMBER_DIGITS
from keyfold.values import AttributeValue
from keyfold.values.number import normalise
from keyfold.values.size import COLLECTION_OVERHEAD, ELEMENT_OVERHEAD, number_size, text_size


class NormalItem(dict[str, AttributeValue]):
    """A map of attribute values, all right and canonical, and the bytes it counts for."""

    __slots__ = ("size",)

    def __init__(self, entries: Mapping[str, AttributeValue], size: int) -> None:
        super().__init__(entries)
        self.size = size


class _LongWay(Exception):
    """Something that is not plainly right."""


def at_sight(entries: dict[str, Any]) -> NormalItem | None:
    """The item, if it is plainly in normal form."""
    try:
        return NormalItem(entries, _entries(entries, 0))
    except _LongWay:
        return None


def _entries(entries: dict[str, Any], depth: int) -> int:
    total = 0
    for name, value in entries.items():
        if type(value) is not dict or len(value) != 1:
            raise _LongWay
        total += len(name) if name.isascii() else len(name.encode())
        for kind, content in value.items():
            # Texts are most of all values.
            if kind == "S" and type(content) is str:
                total += len(content) if content.isascii() else len(content.encode())
            elif kind in _MEASURES:
                total += _MEASURES[kind](content, depth)
            else:
                raise _LongWay
    return total


def _number(content: Any, _depth: int) -> int:
    if type(content) is not str:
        raise _LongWay
    if (
        content.isdecimal()
        and content[0] != "0"
        and len(content) <= NUMBER_DIGITS
        and content.isascii()
    ):
        return 1 + (len(content.rstrip("0")) + 1) // 2
    return _canonical_number(content)


@lru_cache(maxsize=4096)
def _canonical_number(text: str) -> int:
    try:
        canonical = normalise(text)
    except ValidationError:
        raise _LongWay from None
    if canonical != text:
        raise _LongWay
    return number_size(text)


def _binary(content: Any, _depth: int) -> int:
    if type(content) is not str:
        raise _LongWay
    try:
        return len(a2b_base64(content, strict_mode=True))
    except (Base64Error, ValueError):
        raise _LongWay from None


def _flag(content: Any, _depth: int) -> int:
    if type(content) is not bool:
        raise _LongWay
    return 1


def _null(content: Any, _depth: int) -> int:
    if content is not True:
        raise _LongWay
    return 1


def _set_of(measure: Callable[[Any, int], int]) -> Callable[[Any, int], int]:
    def members(content: Any, depth: int) -> int:
        if type(content) is not list or not content:
            raise _LongWay
        total = 0
        for member in content:
            size = measure(member, depth)
            if not size:
                raise _LongWay
            total += size
        if len(set(content)) != len(content):
            raise _LongWay
        return total

    return members


def _text(content: Any, _depth: int) -> int:
    if type(content) is not str:
        raise _LongWay
    return text_size(content)


def _list(content: Any, depth: int) -> int:
    if type(content) is not list or depth >= NESTING_LEVELS - 1:
        raise _LongWay
    total = COLLECTION_OVERHEAD + ELEMENT_OVERHEAD * len(content)
    for element in content:
        total += _value(element, depth + 1)
    return total


def _value(value: Any, depth: int) -> int:
    if type(value) is dict and len(value) == 1:
        for kind, content in value.items():
            if kind in _MEASURES:
                return _MEASURES[kind](content, depth)
    raise _LongWay


def _map(content: Any, depth: int) -> int:
    if type(content) is not dict or depth >= NESTING_LEVELS - 1:
        raise _LongWay
    overhead = COLLECTION_OVERHEAD + ELEMENT_OVERHEAD * len(content)
    return overhead + _entries(content, depth + 1)


_MEASURES: dict[str, Callable[[Any, int], int]] = {
    "S": _text,
    "N": _number,
    "B": _binary,
    "BOOL": _flag,
    "NULL": _null,
    "SS": _set_of(_text),
    "NS": _set_of(_number),
    "BS": _set_of(_binary),
    "L": _list,
    "M": _map,
}
