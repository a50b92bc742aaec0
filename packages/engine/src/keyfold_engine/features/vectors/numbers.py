"""Vectors: attribute values as 32-bit floats in bytes, and back."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from keyfold_engine.features.vectors.index import FLOAT_BYTES

F32_MAX = float.fromhex("0x1.fffffep+127")


def packed(elements: Sequence[Any]) -> bytes | None:
    """Elements `{"N": ...}` as 32-bit floats; None for other elements."""
    try:
        return struct.pack(f"<{len(elements)}f", *[float(each["N"]) for each in elements])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def unpacked(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // FLOAT_BYTES}f", vector)


def fits(text: str) -> bool:
    """Whether a number is within the range of 32-bit floats."""
    try:
        struct.pack("<f", float(text))
    except OverflowError:
        return False
    return True


def as_value(vector: bytes) -> dict[str, Any]:
    """A stored vector in wire format."""
    return {"L": [{"N": _spelled(each)} for each in unpacked(vector)]}


def _spelled(number: float) -> str:
    """The shortest decimal for this 32-bit float, without exponent or negative zero."""
    if not number:
        return "0"
    for digits in range(1, 10):
        text = f"{number:.{digits}g}"
        if fits(text) and struct.unpack("<f", struct.pack("<f", float(text)))[0] == number:
            break
    return f"{Decimal(text):f}"
