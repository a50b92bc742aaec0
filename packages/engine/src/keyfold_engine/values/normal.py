"""Items in normal form, with a fast path for those that already are.

Nearly all incoming items are valid and canonical. One walk verifies that and measures the item.
Anything else takes the slow path, which finds the error in DynamoDB's order of checks
(`shapes.types`, then `values.wire`) or normalises the item.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import ATTRIBUTE_NAME_BYTES, NESTING_LEVELS, NUMBER_DIGITS
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.key_order import in_set_order
from keyfold_engine.values.number import normalise
from keyfold_engine.values.size import COLLECTION_OVERHEAD, ELEMENT_OVERHEAD, number_size, text_size


class NormalItem(dict[str, AttributeValue]):
    """A valid, canonical map of attribute values, and its size in bytes."""

    __slots__ = ("size",)

    def __init__(self, entries: Mapping[str, AttributeValue], size: int) -> None:
        super().__init__(entries)
        self.size = size


class _LongWay(ValueError):
    """The item needs the slow path."""


def at_sight(entries: dict[str, Any]) -> NormalItem | None:
    """The item, if it is plainly in normal form."""
    try:
        size = _entries(entries, 0)
        if "" in entries or (size > ATTRIBUTE_NAME_BYTES and _has_long_name(entries)):
            return None
        return NormalItem(entries, size)
    except (LookupError, TypeError, ValueError, AttributeError):
        # Whatever trips the walk gets its proper error on the slow path.
        return None


def _entries(entries: dict[str, Any], depth: int) -> int:
    texts, total = [*entries], 0
    for value in entries.values():
        [kind] = value
        if kind == "S":
            texts.append(value[kind])
        else:
            total += _MEASURES[kind](value[kind], depth)
    # One join verifies that all are strings, and measures them.
    return total + text_size("".join(texts))


def _has_long_name(entries: dict[str, Any]) -> bool:
    return any(text_size(name) > ATTRIBUTE_NAME_BYTES for name in entries)


def _text(content: str, _depth: int) -> int:
    return text_size("".join((content,)))


def _number(content: str, _depth: int) -> int:
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


def _binary(content: str, _depth: int) -> int:
    if type(content) is not str or (length := binary_length(content)) is None:
        raise _LongWay
    return length


# The last characters that leave no stray bits after one and two bytes.
_WHOLE = {1: frozenset("AEIMQUYcgkosw048"), 2: frozenset("AQgw")}


def binary_length(text: str) -> int | None:
    """The number of bytes in a base64 text; None if stray bits remain."""
    padding = text.count("=", -2)
    if padding and text[-padding - 1] not in _WHOLE[padding]:
        return None
    return len(a2b_base64(text, strict_mode=True))


def _flag(content: bool, _depth: int) -> int:
    if type(content) is not bool:
        raise _LongWay
    return 1


def _null(content: bool, _depth: int) -> int:
    if content is not True:
        raise _LongWay
    return 1


def _texts(members: list[str], _depth: int) -> int:
    _check_set("SS", members)
    return text_size("".join(members))


def _numbers(members: list[str], depth: int) -> int:
    size = sum([_number(member, depth) for member in members])
    _check_set("NS", members)
    return size


def _binaries(members: list[str], depth: int) -> int:
    size = sum([_binary(member, depth) for member in members])
    _check_set("BS", members)
    return size


def _check_set(kind: str, members: list[str]) -> None:
    if type(members) is not list or not members or len(set(members)) < len(members):
        raise _LongWay
    if in_set_order(kind, members) is not members:
        raise _LongWay


def _list(elements: list[AttributeValue], depth: int) -> int:
    if type(elements) is not list or depth >= NESTING_LEVELS - 1:
        raise _LongWay
    total = COLLECTION_OVERHEAD + ELEMENT_OVERHEAD * len(elements)
    for value in elements:
        [kind] = value
        total += _MEASURES[kind](value[kind], depth + 1)
    return total


def _map(entries: dict[str, AttributeValue], depth: int) -> int:
    if type(entries) is not dict or depth >= NESTING_LEVELS - 1:
        raise _LongWay
    overhead = COLLECTION_OVERHEAD + ELEMENT_OVERHEAD * len(entries)
    return overhead + _entries(entries, depth + 1)


_MEASURES: dict[str, Callable[[Any, int], int]] = {
    "S": _text,
    "N": _number,
    "B": _binary,
    "BOOL": _flag,
    "NULL": _null,
    "SS": _texts,
    "NS": _numbers,
    "BS": _binaries,
    "L": _list,
    "M": _map,
}
