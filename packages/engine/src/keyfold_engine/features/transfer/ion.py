"""Items as Amazon Ion text, the other format of DynamoDB's exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from keyfold_engine.values import AttributeValue, Item


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
    return lambda members: f"$dynamodb_{kind}::[{','.join(map(form, members))}]"


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
