"""How a value of a type is given in a form: boxes, choices, several, parts; and back."""

from __future__ import annotations

import json
import re
import types
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

Kind = Literal["text", "flag", "choice", "date", "several", "pairs", "parts", "rows", "json"]
Given = Mapping[str, Sequence[str]]
"""What a form gave: by the path of each box, in their order."""
EACH: Final = "[]"
"""After the path of what can be given several times."""
NAME, VALUE = "{name}", "{value}"
BINARY, SET = "$binary", "$set"
"""What bytes and sets are in, where a value is JSON."""
_EXACT: Final = re.compile(r'"\\u0000([^"]*)"')
TRUTH: Final = {"true": True, "false": False}


@dataclass(frozen=True)
class ValueShape:
    """The boxes that a value is given by."""

    kind: Kind
    optional: bool = False
    choices: Mapping[str, Any] = field(default_factory=dict)
    """Values to choose from, by their texts."""
    parts: Mapping[str, ValueShape] = field(default_factory=dict)
    """The fields of a model."""
    number: bool = False
    binary: bool = False
    """Whether a box has base64."""

    @property
    def is_single(self) -> bool:
        """Whether one box gives it."""
        return self.kind in ("text", "flag", "choice", "date")


def shape_of(annotation: Any) -> ValueShape:
    """The shape of what an annotation allows."""
    if get_origin(annotation) is Annotated:
        return shape_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [one for one in get_args(annotation) if one is not types.NoneType]
        if len(rest) == 1 and len(rest) < len(get_args(annotation)):
            return _allowing_none(shape_of(rest[0]))
        return ValueShape("json")
    if get_origin(annotation) is Literal:
        return ValueShape("choice", choices={str(one): one for one in get_args(annotation)})
    if get_origin(annotation) is not None:
        return _of_many(get_origin(annotation), get_args(annotation))
    if annotation is Any or not isinstance(annotation, type):
        return ValueShape("json")
    return _of_one(annotation)


def _allowing_none(shape: ValueShape) -> ValueShape:
    if shape.kind == "flag":
        return ValueShape("choice", optional=True, choices=TRUTH)
    return replace(shape, optional=True)


def _of_one(kind: type[Any]) -> ValueShape:
    if issubclass(kind, Enum):
        return ValueShape("choice", choices={str(one.value): one.value for one in kind})
    if issubclass(kind, BaseModel):
        parts = {name: shape_of(info.annotation) for name, info in kind.model_fields.items()}
        known = kind.model_config.get("extra") != "allow" and len(parts) > 0
        single = all(one.is_single or one.kind == "several" for one in parts.values())
        spelled = all(info.alias in (None, n) for n, info in kind.model_fields.items())
        by_name = spelled or bool(kind.model_config.get("populate_by_name"))
        return (
            ValueShape("parts", parts=parts) if known and single and by_name else ValueShape("json")
        )
    if kind is bool:
        return ValueShape("flag")
    if kind is date:
        return ValueShape("date")
    if kind in (list, set, frozenset, tuple, dict, object):
        return ValueShape("json")
    return ValueShape("text", number=issubclass(kind, int | float), binary=issubclass(kind, bytes))


def _of_many(origin: Any, of: tuple[Any, ...]) -> ValueShape:
    if origin is dict and len(of) == 2 and of[0] is str:
        value = shape_of(of[1])
        return (
            ValueShape("pairs")
            if value.kind == "text" and not value.optional
            else ValueShape("json")
        )
    if origin is tuple and (len(of) != 2 or of[1] is not ...):
        return ValueShape("json")
    if origin not in (list, set, frozenset, tuple):
        return ValueShape("json")
    one = shape_of(of[0])
    if one.kind in ("text", "choice", "date") and not one.optional:
        return ValueShape("several", choices=one.choices, number=one.number, binary=one.binary)
    if one.kind == "parts" and all(part.is_single for part in one.parts.values()):
        return ValueShape("rows", parts={n: _in_a_row(part) for n, part in one.parts.items()})
    return ValueShape("json")


def _in_a_row(shape: ValueShape) -> ValueShape:
    """A box that is not ticked is not sent, and a row must send each of its boxes."""
    return ValueShape("choice", choices=TRUTH) if shape.kind == "flag" else shape


def boxes(shape: ValueShape, path: str, value: Any) -> dict[str, list[str]]:
    """What the form shows of a value, by the paths of its boxes."""
    if shape.kind == "json":
        return {path: ["" if value is None else json_text(value, indent=2)]}
    if shape.is_single:
        return {path: [box_text(value)]}
    if shape.kind == "several":
        texts = [box_text(one) for one in value or ()]
        if not all(texts) or any(one is None for one in value or ()):
            return boxes(ValueShape("json"), path, value)
        return {f"{path}{EACH}": sorted(texts) if isinstance(value, AnySet) else texts}
    if shape.kind == "pairs":
        pairs = (value or {}).items()
        return {
            f"{path}{NAME}": [name for name, _ in pairs],
            f"{path}{VALUE}": [box_text(one) for _, one in pairs],
        }
    if shape.kind == "rows":
        return {
            f"{path}{EACH}.{name}": [box_text(getattr(one, name)) for one in value or ()]
            for name in shape.parts
        }
    made: dict[str, list[str]] = {}
    for name, part in shape.parts.items():
        made |= boxes(part, f"{path}.{name}", None if value is None else getattr(value, name))
    return made


def box_text(value: Any) -> str:
    """A single value as it is typed."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    plain = to_jsonable_python(value, fallback=str)
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def is_given(path: str, given: Given) -> bool:
    """Whether the form had boxes for it."""
    inside = (f"{path}.", f"{path}{EACH}", f"{path}{{")
    return any(name == path or name.startswith(inside) for name in given)


def value_in(shape: ValueShape, path: str, given: Given) -> Any:
    """The value that boxes give, in texts, lists and mappings; types are checked afterwards."""
    if shape.kind == "json" or (shape.kind == "several" and path in given):
        text = _last(given, path)
        return _without_marks(json.loads(text, parse_float=Decimal)) if text.strip() else None
    if shape.is_single:
        return _single(shape, _last(given, path))
    if shape.kind == "several":
        texts = (one.strip() for one in given.get(f"{path}{EACH}", ()))
        return [_single(replace(shape, optional=False), one) for one in texts if one]
    if shape.kind == "pairs":
        names, values = given.get(f"{path}{NAME}", ()), given.get(f"{path}{VALUE}", ())
        return {n.strip(): v for n, v in zip(names, values, strict=False) if n.strip()}
    if shape.kind == "rows":
        columns = [given.get(f"{path}{EACH}.{name}", ()) for name in shape.parts]
        filled = (row for row in zip(*columns, strict=False) if any(map(str.strip, row)))
        return [
            {
                n: _single(part, text)
                for (n, part), text in zip(shape.parts.items(), row, strict=True)
            }
            for row in filled
        ]
    parts = {n: value_in(part, f"{path}.{n}", given) for n, part in shape.parts.items()}
    blank = all(one in (None, "", []) for one in parts.values())
    return None if shape.optional and blank else parts


def _single(shape: ValueShape, text: str) -> Any:
    if not text and shape.optional:
        return None
    if shape.binary:
        return _decoded(text)
    return shape.choices.get(text, text)


def _decoded(text: str) -> Any:
    """The bytes of base64; what is none is no valid value, which the type says."""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return {"not base64": text}


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON that is read as the same value: no digit is lost, and no type."""
    marked = _with_marks(sorted(value, key=str) if isinstance(value, AnySet) else value)
    return _EXACT.sub(r"\1", json.dumps(marked, indent=indent, ensure_ascii=False))


def _with_marks(value: Any) -> Any:
    if isinstance(value, bytes):
        return {BINARY: b64encode(value).decode()}
    if isinstance(value, Decimal):
        return f"\0{value}"  # a text that becomes the number once the others are quoted
    if isinstance(value, dict):
        return {name: _with_marks(one) for name, one in value.items()}
    if isinstance(value, AnySet):
        return {SET: [_with_marks(one) for one in sorted(value, key=str)]}
    if isinstance(value, list | tuple):
        return [_with_marks(one) for one in value]
    return to_jsonable_python(value, fallback=str)


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {BINARY} and isinstance(value[BINARY], str):
            return _decoded(value[BINARY])
        if value.keys() == {SET} and isinstance(value[SET], list):
            return {_without_marks(one) for one in value[SET]}
        return {name: _without_marks(one) for name, one in value.items()}
    return [_without_marks(one) for one in value] if isinstance(value, list) else value


def _last(given: Given, path: str) -> str:
    found = given.get(path, ())
    return found[-1] if found else ""
