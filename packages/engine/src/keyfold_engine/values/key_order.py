"""DynamoDB's key order: strings by UTF-8, numbers by value, binary by unsigned byte."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from keyfold_engine.values import AttributeValue
from keyfold_engine.values.number import order_bytes


def key_bytes(value: AttributeValue) -> bytes:
    """Bytes that compare as the values do, among values of one type (S, N or B)."""
    for kind, content in value.items():
        if kind == "S":
            return str.encode(content)
        if kind == "N":
            return order_bytes(content)
        if kind == "B":
            return b64decode(content)
    raise TypeError(f"no key order for {value!r}")


def sort_key(value: AttributeValue) -> Any:
    """A Python value that compares as DynamoDB compares, among values of one type."""
    for kind, content in value.items():
        # Python compares text by code point, which is the order of UTF-8 bytes.
        if kind == "S":
            return content
        if kind == "N":
            return Decimal(content)
        if kind == "B":
            return b64decode(content)
    raise TypeError(f"no order for {value!r}")


def in_set_order(kind: str, members: list[str]) -> list[str]:
    """A set's members in DynamoDB's order; the same list if it was already sorted."""
    ordered = sorted(members, key=_SET_ORDERS[kind])
    return members if ordered == members else ordered


_SET_ORDERS: dict[str, Callable[[str], Any]] = {"SS": str, "NS": Decimal, "BS": b64decode}
