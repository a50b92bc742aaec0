"""Python values to wire values and back, for the typed layer."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Set
from decimal import Decimal
from typing import Any

from keyfold_engine.errors import ValidationError
from keyfold_engine.values import AttributeValue, Item
from keyfold_engine.values.key_order import in_set_order
from keyfold_engine.values.number import normalise


def encode(value: object) -> AttributeValue:
    """The wire value of a Python value."""
    encoder = _ENCODERS.get(type(value))
    return encoder(value) if encoder is not None else _encode_by_nature(value)


def encode_item(attributes: Mapping[str, object]) -> Item:
    """The wire form of an item."""
    return {name: encode(value) for name, value in attributes.items()}


def decode(value: AttributeValue) -> Any:
    """The Python value of a wire value: str, Decimal, bytes, bool, None, list, dict or a set."""
    for kind, content in value.items():
        return _DECODERS[kind](content)
    raise ValueError("an attribute value without a type")


def decode_item(item: Mapping[str, AttributeValue]) -> dict[str, Any]:
    """The Python form of an item."""
    return {name: decode(value) for name, value in item.items()}


def _encode_by_nature(value: object) -> AttributeValue:
    """Encode a subclass (str enums, named tuples, ordered dicts) as its base type."""
    if isinstance(value, bool):
        return {"BOOL": bool(value)}
    if isinstance(value, str):
        return {"S": str.__str__(value)}
    if isinstance(value, int):
        return {"N": normalise(int.__repr__(value))}
    if isinstance(value, float):
        return _encode_float(value)
    if isinstance(value, Decimal):
        return {"N": normalise(str(value))}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"B": b64encode(bytes(value)).decode()}
    if isinstance(value, Mapping):
        return _encode_map(value)
    if isinstance(value, Set):
        return _encode_set(value)
    if isinstance(value, (list, tuple)):
        return {"L": [encode(element) for element in value]}
    raise TypeError(f"no DynamoDB type for {type(value).__name__}: {value!r}")


def _encode_float(value: float) -> AttributeValue:
    # repr is the shortest text that reads back as the same float.
    return {"N": normalise(repr(value))}


def _encode_map(value: Mapping[Any, Any]) -> AttributeValue:
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"a map's keys are strings, not {type(name).__name__}: {name!r}")
    return {"M": encode_item(value)}


def _encode_set(members: Set[Any]) -> AttributeValue:
    if not members:
        raise ValidationError("DynamoDB has no empty sets; omit the attribute")
    encoded = [encode(member) for member in members]
    kinds = {kind for member in encoded for kind in member}
    if len(kinds) != 1 or (kind := kinds.pop()) not in ("S", "N", "B"):
        raise TypeError("a set holds only strings, only numbers or only bytes")
    return {f"{kind}S": in_set_order(f"{kind}S", [member[kind] for member in encoded])}


def _same(content: Any) -> Any:
    return content


_ENCODERS: dict[type, Any] = {
    str: lambda value: {"S": value},
    bool: lambda value: {"BOOL": value},
    int: lambda value: {"N": normalise(str(value))},
    Decimal: lambda value: {"N": normalise(str(value))},
    float: _encode_float,
    bytes: lambda value: {"B": b64encode(value).decode()},
    type(None): lambda _: {"NULL": True},
    list: lambda value: {"L": [encode(element) for element in value]},
    dict: _encode_map,
    set: _encode_set,
    frozenset: _encode_set,
}

_DECODERS: dict[str, Any] = {
    "S": _same,
    "N": Decimal,
    "B": b64decode,
    "BOOL": _same,
    "NULL": lambda _: None,
    "SS": set,
    "NS": lambda members: {Decimal(member) for member in members},
    "BS": lambda members: {b64decode(member) for member in members},
    "L": lambda elements: [decode(element) for element in elements],
    "M": decode_item,
}
