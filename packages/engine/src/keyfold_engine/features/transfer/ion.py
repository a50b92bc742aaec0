"""Items in Amazon Ion, the other format of exports, imports and bulk operations."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import orjson

from keyfold_engine.features.transfer.data_files import format_module
from keyfold_engine.values import AttributeValue, Item

_SET = "$dynamodb_"
"""Before the type of a set, as an annotation of its list."""


def line(body: bytes) -> bytes:
    """An item's line in an export, from its wire JSON."""
    return f"$ion_1_0 {{Item:{_struct(orjson.loads(body))}}}\n".encode()


def _struct(entries: Item) -> str:
    return "{" + ",".join(f"{_text(name)}:{_value(each)}" for name, each in entries.items()) + "}"


def _value(value: AttributeValue) -> str:
    [(kind, content)] = value.items()
    return _FORMS[kind](content)


def _text(text: str) -> str:
    # Ion accepts JSON's string syntax, also for field names.
    return orjson.dumps(text).decode()


def _decimal(number: str) -> str:
    return number if "." in number else f"{number}."


def _blob(content: str) -> str:
    return f"{{{{{content}}}}}"


def _set_of(kind: str, form: Callable[[str], str]) -> Callable[[list[str]], str]:
    return lambda members: f"{_SET}{kind}::[{','.join(map(form, members))}]"


_FORMS: dict[str, Callable[[Any], str]] = {
    "S": _text,
    "N": _decimal,
    "B": _blob,
    "BOOL": lambda content: "true" if content else "false",
    "NULL": lambda _: "null",
    "SS": _set_of("SS", _text),
    "NS": _set_of("NS", _decimal),
    "BS": _set_of("BS", _blob),
    "L": lambda elements: f"[{','.join(map(_value, elements))}]",
    "M": _struct,
}


def records(file: BinaryIO) -> Iterator[Any]:
    """The values of a file in Ion, text or binary; ValueError where it is no Ion."""
    ion = format_module("ION")
    try:
        yield from ion.load(file, single_value=False, parse_eagerly=False)
    except ion.IonException as error:
        raise ValueError(f"not Ion: {error}") from None


def wire_record(record: Any) -> dict[str, Any]:
    """A record as it is in DynamoDB's JSON: the item, and its condition if it has one."""
    if not isinstance(record, Mapping) or "Item" not in record:
        raise ValueError("not a struct with an Item")
    told: dict[str, Any] = {"Item": _wire_struct(record["Item"])}
    if (condition := record.get("ConditionExpression")) is not None:
        told["ConditionExpression"] = str(condition)
    if (names := record.get("ExpressionAttributeNames")) is not None:
        told["ExpressionAttributeNames"] = {k: str(name) for k, name in _entries(names)}
    if (values := record.get("ExpressionAttributeValues")) is not None:
        told["ExpressionAttributeValues"] = _wire_struct(values)
    return told


def _entries(struct: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(struct, Mapping):
        raise ValueError("not a struct with names and values")
    return struct.items()


def _wire_struct(struct: Any) -> Item:
    return {name: _wire(value) for name, value in _entries(struct)}


def _wire(value: Any) -> AttributeValue:
    for annotation in value.ion_annotations:
        if (annotation.text or "").startswith(_SET):
            if not isinstance(value, list):
                raise ValueError(f"{annotation.text} is not a list")
            members = [member for each in value for member in _wire(each).values()]
            return {annotation.text.removeprefix(_SET): members}
    kind = "NULL" if type(value).__name__ == "IonPyNull" else value.ion_type.name
    if kind not in _WIRE_FORMS:
        raise ValueError(f"DynamoDB has nothing for {kind.lower()} of Ion")
    return _WIRE_FORMS[kind](value)


_WIRE_FORMS: dict[str, Callable[[Any], AttributeValue]] = {
    "STRING": lambda value: {"S": str(value)},
    "DECIMAL": lambda value: {"N": str(value)},
    "INT": lambda value: {"N": str(int(value))},
    "BLOB": lambda value: {"B": b64encode(value).decode()},
    "BOOL": lambda value: {"BOOL": bool(value)},
    "NULL": lambda _: {"NULL": True},
    "LIST": lambda value: {"L": [_wire(each) for each in value]},
    "STRUCT": lambda value: {"M": _wire_struct(value)},
}
