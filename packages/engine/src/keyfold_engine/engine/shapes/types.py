"""The first check of a request: every member must have the type of its shape.

Returns the request without nulls and unknown members, as DynamoDB's framework reads it.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from collections.abc import Callable
from functools import partial
from math import floor, isfinite
from typing import Any, NoReturn

from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    ListOf,
    MapOf,
    Number,
    Shape,
    Structure,
    Text,
)
from keyfold_engine.errors import SerializationError
from keyfold_engine.values.normal import at_sight, binary_length

_PACKAGE = "com.amazonaws.dynamodb.v20120810"
_TRUE = frozenset(("TRUE", "1", "YES"))
_FALSE = frozenset(("FALSE", "0", "NO"))
_TEXTS_ALONE = {str}


Reader = Callable[[Any], Any]


def reader(shape: Structure) -> Callable[[Any], dict[str, Any]]:
    """A function that returns a request with the right types, or raises."""
    return _members(shape)


def _reader(shape: Shape, *, in_field: bool) -> Reader:
    match shape:
        case Text():
            return _text
        case Boolean():
            return _flag
        case Number(java):
            return partial(_number, java=java)
        case Attribute():
            return partial(_attribute, in_field=in_field)
        case MapOf(Attribute(), java):
            return _attributes_reader(java)
        case MapOf(content, java):
            return _map_reader(_reader(content, in_field=False), java)
        case ListOf(element):
            return _list_reader(_reader(element, in_field=False))
        case Structure(name):
            return _structure_reader(_members(shape), name, in_field=in_field)


def _members(shape: Structure) -> Callable[[dict[str, Any]], dict[str, Any]]:
    readers = {name: _reader(member.shape, in_field=True) for name, member in shape.members.items()}

    def read(given: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(given, dict):
            _refuse("Unexpected value type in payload")
        try:
            return {
                name: readers[name](value)
                for name, value in given.items()
                if value is not None and name in readers
            }
        except SerializationError:
            # Of several errors, report the one that comes first in the shape.
            for name, member in readers.items():
                if given.get(name) is not None:
                    member(given[name])
            raise

    return read


def _attributes_reader(java: str) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            _entries(value, java)
        return at_sight(value) or _attributes(value)

    return read


def _map_reader(content: Reader, java: str) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        entries = _entries(value, java)
        if content is _text and {*map(type, entries.values())} == _TEXTS_ALONE:
            return entries
        return {key: content(each) for key, each in entries.items() if each is not None}

    return read


def _list_reader(element: Reader) -> Reader:
    def read(value: Any) -> list[Any]:
        if type(value) is not list:
            _refuse_collection(value, dict, "Start of structure or map found where not expected")
        return [element(each) for each in value if each is not None]

    return read


def _structure_reader(members: Reader, name: str, *, in_field: bool) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not dict:
            _refuse_structure(value, name, in_field=in_field)
        return members(value)

    return read


def _text(value: Any) -> str:
    return value if type(value) is str else _refuse_scalar(value, "String")


def _entries(value: Any, java: str) -> dict[str, Any]:
    if type(value) is not dict:
        _refuse_collection(
            value, list, f"Unrecognized collection type java.util.Map<java.lang.String, {java}>"
        )
    return value


def _attributes(entries: dict[str, Any]) -> dict[str, Any]:
    return {name: _attribute(value, in_field=False) for name, value in entries.items()}


def _attribute(value: Any, *, in_field: bool) -> dict[str, Any]:
    if type(value) is not dict:
        if value is None:
            return {}
        _refuse_structure(value, "AttributeValue", in_field=in_field)
    found: dict[str, Any] = {}
    for kind, content in value.items():
        if content is None:
            continue
        if kind in ("S", "N"):
            if type(content) is not str:
                _refuse_scalar(content, "String")
            found[kind] = content
        elif kind == "B":
            found[kind] = _blob(content)
        elif kind in ("BOOL", "NULL"):
            found[kind] = _flag(content)
        elif kind in ("SS", "NS", "BS", "L"):
            found[kind] = _collection(kind, content)
        elif kind == "M":
            found[kind] = _attributes(_entries(content, f"{_PACKAGE}.AttributeValue"))
    return found


def _collection(kind: str, content: Any) -> list[Any]:
    if type(content) is not list:
        _refuse_collection(content, dict, "Start of structure or map found where not expected")
    if kind == "L":
        return [_attribute(element, in_field=False) for element in content]
    if kind == "BS":
        return [_blob(member) for member in content]
    for member in content:
        if type(member) is not str:
            _refuse_scalar(member, "String")
    return content


def _blob(value: Any) -> str:
    if type(value) is not str:
        if isinstance(value, list):
            _refuse("Unrecognized collection type class java.nio.ByteBuffer")
        if isinstance(value, dict):
            _refuse("Start of structure or map found where not expected")
        _refuse("only base-64-encoded strings are convertible to bytes")
    if len(value) % 4:
        _refuse(f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(value)}")
    try:
        is_exact = binary_length(value) is not None
    except (Base64Error, ValueError):
        is_exact = False
    if not is_exact:
        _refuse("Invalid last non-pad Base64 character dectected")
    return value


def _number(value: Any, java: str) -> int | float:
    if type(value) is int:
        return value
    if type(value) is float and isfinite(
        value
    ):  # JSON has no other types, but a caller in process may pass them.
        return value if java == "Double" else floor(value)
    if isinstance(value, str):
        _refuse(f"STRING_VALUE cannot be converted to {java}")
    return _refuse_scalar(value, java)


def _flag(value: Any) -> bool:
    if type(value) is bool:
        return value
    # The framework reads some words as booleans.
    if isinstance(value, str):
        if value.upper() in _TRUE:
            return True
        if value.upper() in _FALSE:
            return False
        _refuse("Unexpected token received from parser")
    return _refuse_scalar(value, "Boolean")


def _refuse_scalar(value: Any, java: str) -> NoReturn:
    if isinstance(value, list):
        _refuse(f"Unrecognized collection type class java.lang.{java}")
    if isinstance(value, dict):
        _refuse("Start of structure or map found where not expected")
    _refuse(f"{_token(value)} cannot be converted to {java}")


def _token(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE_VALUE" if value else "FALSE_VALUE"
    if isinstance(value, float) and value % 1:
        return "DECIMAL_VALUE"
    return "NULL_VALUE" if value is None else "NUMBER_VALUE"


def _refuse_collection(value: Any, other: type, otherwise: str) -> NoReturn:
    _refuse(otherwise if isinstance(value, other) else "Unexpected field type")


def _refuse_structure(value: Any, name: str, *, in_field: bool) -> NoReturn:
    if isinstance(value, list):
        _refuse(f"Unrecognized collection type class {_PACKAGE}.{name}")
    _refuse("Unexpected field type" if in_field else "Unexpected value type in payload")


def _refuse(message: str) -> NoReturn:
    raise SerializationError(message)
