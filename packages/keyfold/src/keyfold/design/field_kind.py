"""The kind of a field, from the type that it is declared with."""

from __future__ import annotations

import types
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from keyfold.design import codes
from keyfold.design.declaration import refuse

_SCALARS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    bytes: "binary",
    datetime: "timestamp",
    date: "date",
    uuid.UUID: "uuid",
    timedelta: "duration",
}
_SETS = {"string": "string_set", "integer": "number_set", "decimal": "number_set"}


def unwrap(annotation: Any) -> tuple[Any, tuple[object, ...], bool]:
    """The type without `Annotated` and `| None`."""
    marks: tuple[object, ...] = ()
    optional = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *more = get_args(annotation)
            marks += tuple(more)
        elif origin in (Union, types.UnionType):
            members = [a for a in get_args(annotation) if a is not type(None)]
            if len(members) != 1:
                return annotation, marks, optional or len(members) < len(get_args(annotation))
            optional = True
            annotation = members[0]
        elif origin is Literal and None in get_args(annotation):
            optional = True
            annotation = Literal[tuple(c for c in get_args(annotation) if c is not None)]
        elif hasattr(annotation, "__supertype__"):  # NewType
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":  # From typing or typing_extensions.
            annotation = annotation.__value__
        else:
            return annotation, marks, optional


def read_kind(annotation: Any) -> tuple[str, tuple[str, ...], type[Enum] | None]:
    origin = get_origin(annotation)
    if origin is Literal:
        choices = [c.value if isinstance(c, Enum) else c for c in get_args(annotation)]
        return _kind_of_values(choices) or "any", tuple(map(str, choices)), None
    if origin in (set, frozenset):
        return _set_kind(annotation), (), None
    if origin in (list, tuple, Sequence):
        return "list", (), None
    if origin in (dict, Mapping):
        return "map", (), None
    if annotation in (Any, object) or origin in (Union, types.UnionType):
        return "any", (), None
    if isinstance(annotation, type):
        if issubclass(annotation, Enum):
            members = [member.value for member in annotation]
            inner = _kind_of_values(members)
            if inner is None or inner == "boolean":
                refuse(
                    codes.TYPE_UNSUPPORTED,
                    f"{annotation.__name__} mixes text and number members.",
                    "Give them values of one kind, as a StrEnum or an IntEnum has.",
                )
            return inner, tuple(str(v) for v in members), annotation
        for scalar, kind in _SCALARS.items():
            if annotation is scalar or (scalar is not int and issubclass(annotation, scalar)):
                return kind, (), None
        if issubclass(annotation, BaseModel):
            return "model", (), None
        if annotation in (list, tuple):
            return "list", (), None
        if annotation is dict:
            return "map", (), None
        if hasattr(annotation, "__required_keys__"):
            return "map", (), None
    if isinstance(annotation, ForwardRef):
        refuse(
            codes.TYPE_UNSUPPORTED,
            f"the type {annotation.__forward_arg__!r} is not known where the entity is declared.",
            "Declare or import it above the entity, at the level of the module.",
        )
    refuse(
        codes.TYPE_UNSUPPORTED,
        f"the type {annotation!r} cannot be stored.",
        "Use str, int, Decimal, bool, bytes, datetime, date, timedelta, an Enum, "
        "a set, a list, a dict or a Pydantic model, or give it a codec: Stored(Codec(...)).",
    )


def _kind_of_values(values: list[object]) -> str | None:
    """The kind that all of these values share, if any."""
    if all(isinstance(value, str) for value in values):
        return "string"
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "integer"
    return None


def _set_kind(annotation: Any) -> str:
    arguments = get_args(annotation)
    inner, _, _ = read_kind(unwrap(arguments[0])[0]) if arguments else ("string", (), None)
    kind = "binary_set" if inner == "binary" else _SETS.get(inner)
    if kind is None:
        refuse(
            codes.TYPE_UNSUPPORTED,
            f"a set of {inner} values cannot be stored.",
            "DynamoDB has sets of strings, numbers and binary values; use a list.",
        )
    return kind
