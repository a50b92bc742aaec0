"""Item sizes as DynamoDB counts them: names and values, with its rule for numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keyfold_engine.values import AttributeValue
from keyfold_engine.values.number import significant

COLLECTION_OVERHEAD = 3
ELEMENT_OVERHEAD = 1


def item_size(item: Mapping[str, AttributeValue]) -> int:
    """The size of an item in bytes."""
    total = 0
    # Names, texts and numbers are counted inline: every write comes through here.
    for name, value in item.items():
        total += len(name) if name.isascii() else len(name.encode())
        for kind, content in value.items():
            if kind == "S":
                total += len(content) if content.isascii() else len(content.encode())
            elif kind == "N":
                total += number_size(content)
            else:
                total += _content_size(kind, content)
    return total


def attribute_size(value: AttributeValue) -> int:
    """The size of one value in bytes, without its name."""
    [(kind, content)] = value.items()
    return _content_size(kind, content)


def growth(before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]) -> int:
    """By how many bytes these attributes of an item grow."""
    total = 0
    for name in names:
        old, new = before.get(name), after.get(name)
        if old is not new:
            if new is not None:
                total += text_size(name) + attribute_size(new)
            if old is not None:
                total -= text_size(name) + attribute_size(old)
    return total


def _content_size(kind: str, content: Any) -> int:
    match kind:
        case "S":
            return text_size(content)
        case "N":
            return number_size(content)
        case "B":
            return _binary_size(content)
        case "SS":
            return sum(map(text_size, content))
        case "NS":
            return sum(map(number_size, content))
        case "BS":
            return sum(map(_binary_size, content))
        case "L":
            return COLLECTION_OVERHEAD + sum(
                attribute_size(element) + ELEMENT_OVERHEAD for element in content
            )
        case "M":
            return COLLECTION_OVERHEAD + item_size(content) + ELEMENT_OVERHEAD * len(content)
        case _:  # BOOL and NULL
            return 1


def text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _binary_size(encoded: str) -> int:
    return len(encoded) // 4 * 3 - encoded.count("=", -2)


def number_size(text: str) -> int:
    """One byte, plus one per two digits on either side of the point, plus one for a minus.

    Leading and trailing zeros do not count. The developer guide omits that digits before and after
    the point are rounded up separately.
    """
    if text.isdecimal():
        return 1 + (len(text.rstrip("0")) + 1) // 2
    negative, digits, exponent = significant(text)
    whole = min(max(exponent + 1, 0), len(digits))
    return 1 + (whole + 1) // 2 + (len(digits) - whole + 1) // 2 + negative
