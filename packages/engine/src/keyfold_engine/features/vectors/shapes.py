"""SearchVectors, which has its own front end: stricter, with other messages, and a JSON parser
that reports where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder
from typing import Any, NoReturn

import orjson

from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Structure,
    at_least,
    at_most,
    integer,
    list_of,
    not_below,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import ATTRIBUTES, CONSUMED, EXPRESSION, NAME, NAMES
from keyfold_engine.errors import SerializationError, ValidationError

OPERATION = "SearchVectors"

REQUESTS: dict[str, Structure] = {
    OPERATION: structure(
        "SearchVectorsInput",
        TableName=required(text(at_least(1), at_most(1024))),
        IndexName=required(NAME),
        SearchVector=required(list_of(Attribute(), at_least(1), at_most(4096))),
        TopK=required(integer(not_below(1))),
        ReturnConsumedCapacity=CONSUMED,
        SearchConditionExpression=EXPRESSION,
        ProjectionExpression=EXPRESSION,
        ExpressionAttributeNames=NAMES,
        ExpressionAttributeValues=ATTRIBUTES,
    ),
}
_REQUIRED = ("TableName", "IndexName", "SearchVector", "TopK")
_EXPECTED: dict[str, tuple[type | tuple[type, ...], str]] = {
    "TableName": (str, "a string"),
    "IndexName": (str, "a string"),
    "SearchVector": (list, "a sequence"),
    "TopK": (int, "i32"),
    "ReturnConsumedCapacity": (str, "a string"),
    "SearchConditionExpression": (str, "a string"),
    "ProjectionExpression": (str, "a string"),
    "ExpressionAttributeNames": (dict, "a map"),
    "ExpressionAttributeValues": (dict, "a map"),
}


def check_front(request: object, body: bytes | None) -> None:
    """Refuse members that have the wrong type, are missing, too short or too small, with its
    messages.
    """
    if not isinstance(request, dict):
        raise SerializationError("Unexpected value type in payload")
    for name, value in request.items():
        if name in _EXPECTED and not _is(value, _EXPECTED[name][0]):
            where = _place(body or orjson.dumps(request), name)
            _refuse(f"invalid type: {_value_text(value)}, expected {_EXPECTED[name][1]} {where}")
    for name in _REQUIRED:
        if name not in request:
            where = _place(body or orjson.dumps(request), None)
            raise ValidationError(f"missing field `{name}` {where}")
    for name in ("IndexName", "SearchVector", "TopK"):
        for constraint in REQUESTS[OPERATION].members[name].shape.constraints:
            if not constraint.holds(request[name]):
                raise ValidationError(
                    f"1 validation error detected: Value at '{name}' failed to satisfy constraint: "
                    f"{constraint.text}"
                )


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _value_text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return f'string "{value}"'
        case list():
            return "sequence"
        case _:
            return "map"


def _refuse(message: str) -> NoReturn:
    raise SerializationError(message)


def _place(body: bytes, name: str | None) -> str:
    """The position of a parser after a member, or at the end."""
    text = body.decode("utf-8", "replace")
    at = len(text.rstrip())
    for member, end in _members(text):
        if member == name:
            at = end
            break
    line = text.count("\n", 0, at) + 1
    column = len(text[text.rfind("\n", 0, at) + 1 : at].encode())
    return f"at line {line} column {column}"


def _members(text: str) -> Iterator[tuple[str, int]]:
    """The members of an object, each with its end position."""
    decoder, at = JSONDecoder(), text.index("{") + 1
    while True:
        while text[at].isspace() or text[at] == ",":
            at += 1
        if text[at] != '"':
            return
        name, at = decoder.raw_decode(text, at)
        at = text.index(":", at) + 1
        while text[at].isspace():
            at += 1
        _value, at = decoder.raw_decode(text, at)
        yield name, at
