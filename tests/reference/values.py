"""Attribute values, as the developer guide describes them: ``(type, value)``.

N is a Decimal, B is bytes, sets are frozensets, L is a list, M a dict.
"""

from __future__ import annotations

import base64
import binascii
import decimal
from decimal import Decimal
from typing import Any

Value = tuple[str, Any]
Item = dict[str, Value]
Wire = dict[str, Any]

DEEPEST = 32
MOST_DIGITS = 38
LARGEST = Decimal("9.9999999999999999999999999999999999999E+125")
SMALLEST = Decimal("1E-130")
# Wide enough for the sum of the largest and the smallest number.
EXACT = decimal.Context(prec=400, Emax=999_999, Emin=-999_999)
OUT_OF_RANGE = "Number {}. Attempting to store a number with magnitude {} than supported range"
SET_OF = {"SS": "S", "NS": "N", "BS": "B"}
SET_NAMES = {"SS": "string", "NS": "number", "BS": "binary"}


class Refused(Exception):
    """An answer that is an error; where the documentation has no words, without a message."""

    def __init__(self, code: str, message: str | None = None, **members: Any) -> None:
        super().__init__(code, message)
        self.code, self.message, self.members = code, message, members


def invalid(message: str | None = None) -> Refused:
    return Refused("ValidationException", message)


def parameter(message: str) -> Refused:
    return invalid(f"One or more parameter values were invalid: {message}")


def number(text: str) -> Decimal:
    try:
        parsed = EXACT.create_decimal(text)
    except decimal.InvalidOperation:
        parsed = Decimal("NaN")
    if not parsed.is_finite() or text != text.strip() or "_" in text:
        raise invalid(f"The parameter cannot be converted to a numeric value: {text}")
    return checked(parsed)


def checked(parsed: Decimal) -> Decimal:
    """The number without needless zeros, if it can be stored."""
    parsed = EXACT.normalize(parsed)
    if not parsed:
        return Decimal(0)
    if len(parsed.as_tuple().digits) > MOST_DIGITS:
        raise invalid("Attempting to store more than 38 significant digits in a Number")
    if parsed.copy_abs() > LARGEST:
        raise invalid(OUT_OF_RANGE.format("overflow", "larger"))
    if parsed.copy_abs() < SMALLEST:
        raise invalid(OUT_OF_RANGE.format("underflow", "smaller"))
    return parsed


def binary(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise Refused("SerializationException") from error


def parsed(wire: Wire, depth: int = 0) -> Value:
    if not wire:
        raise invalid(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        )
    if len(wire) > 1:
        raise invalid(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        )
    ((kind, given),) = wire.items()
    if kind in ("L", "M") and depth >= DEEPEST:
        raise invalid()
    if kind in ("S", "BOOL"):
        return kind, given
    if kind == "N":
        return kind, number(given)
    if kind == "B":
        return kind, binary(given)
    if kind == "NULL":
        if given is not True:
            raise parameter("Null attribute value types must have the value of true")
        return kind, True
    if kind == "L":
        return kind, [parsed(each, depth + 1) for each in given]
    if kind == "M":
        return kind, {name: parsed(each, depth + 1) for name, each in given.items()}
    return kind, members(kind, given)


def members(kind: str, given: list[Any]) -> frozenset[Any]:
    if not given:
        raise parameter(f"An {SET_NAMES[kind]} set  may not be empty")
    each = [parsed({SET_OF[kind]: member})[1] for member in given]
    if len(set(each)) < len(each):
        raise invalid()
    return frozenset(each)


def item_of(wire: Wire) -> Item:
    return {name: parsed(value, 1) for name, value in wire.items()}


def plain(value: Decimal) -> str:
    return format(value, "f")


def as_wire(value: Value) -> Wire:
    kind, held = value
    if kind == "N":
        return {kind: plain(held)}
    if kind == "B":
        return {kind: encoded(held)}
    if kind == "L":
        return {kind: [as_wire(each) for each in held]}
    if kind == "M":
        return {kind: wire_item(held)}
    if kind in SET_OF:
        return {
            kind: [as_wire((SET_OF[kind], each))[SET_OF[kind]] for each in in_order(kind, held)]
        }
    return {kind: held}


def in_order(kind: str, held: frozenset[Any]) -> list[Any]:
    return sorted(held, key=lambda member: sortable((SET_OF[kind], member)))


def wire_item(item: Item) -> Wire:
    return {name: as_wire(value) for name, value in item.items()}


def encoded(held: bytes) -> str:
    return base64.b64encode(held).decode()


def sortable(value: Value) -> Any:
    """Strings are ordered by their UTF-8 bytes, binaries by unsigned bytes, numbers by value."""
    kind, held = value
    return held.encode() if kind == "S" else held


def size(value: Value) -> int:
    kind, held = value
    if kind == "S":
        return len(held.encode())
    if kind == "B":
        return len(held)
    if kind == "N":
        return number_size(held)
    if kind in SET_OF:
        return sum(size((SET_OF[kind], each)) for each in held)
    if kind == "L":
        return 3 + sum(1 + size(each) for each in held)
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + size(each) for name, each in held.items())
    return 1


def number_size(held: Decimal) -> int:
    """A byte for two digits, counted from the point, one more, and one for a minus."""
    if not held:
        return 1
    _, digits, exponent = EXACT.normalize(held).as_tuple()
    assert isinstance(exponent, int)
    width = len(digits) + exponent % 2
    return 1 + (width + 1) // 2 + (held < 0)


def item_size(item: Item) -> int:
    return sum(len(name.encode()) + size(value) for name, value in item.items())


def depth(value: Value) -> int:
    kind, held = value
    if kind == "L":
        return 1 + max((depth(each) for each in held), default=0)
    if kind == "M":
        return 1 + max((depth(each) for each in held.values()), default=0)
    return 0
