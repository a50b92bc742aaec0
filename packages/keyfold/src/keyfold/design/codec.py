"""Generated codecs: one function per entity and direction, without type inspection at run time."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from math import isfinite
from typing import Any, Final, get_args

from pydantic import BaseModel

from keyfold.design.fields import FieldSpec, reads_none_otherwise
from keyfold.design.formats import (
    duration_seconds,
    epoch_milliseconds,
    epoch_seconds,
    iso,
    iso_milliseconds,
    iso_offset,
    iso_seconds,
)
from keyfold.errors import PlanError, ValidationError, ValueRefused
from keyfold_engine.limits import NESTING_LEVELS
from keyfold_engine.values.codec import decode as decode_value
from keyfold_engine.values.codec import encode as encode_value
from keyfold_engine.values.number import normalise

WireItem = dict[str, Any]
Encoder = Callable[[Any], dict[str, Any]]
UNSTORABLE = (PlanError, ValidationError)
"""What an encoder raises for a value that DynamoDB cannot store."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_TEXT = {
    "": iso,
    "iso": iso,
    "iso_ms": iso_milliseconds,
    "iso_s": iso_seconds,
    "iso_offset": iso_offset,
}


def is_absent(value: object) -> bool:
    """Whether a value is stored as a missing attribute: DynamoDB has no empty set."""
    return value is None or (isinstance(value, set | frozenset) and not value)


def from_seconds(text: str) -> datetime:
    return _EPOCH + timedelta(seconds=float(text))


def from_milliseconds(text: str) -> datetime:
    return _EPOCH + timedelta(milliseconds=float(text))


def _from_duration(text: str) -> timedelta:
    return timedelta(microseconds=int(Decimal(text) * 10**6))


def _number(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def _float(value: float) -> str:
    if not isfinite(value):
        raise ValueRefused(f"DynamoDB cannot store {value!r}; leave it out")
    return normalise(repr(value))


def _decimal(value: Decimal) -> str:
    return normalise(str(value))


def _text(value: Any) -> str:
    return value.value if isinstance(value, Enum) else str(value)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


_SET_MEMBERS: Final = (str, bytes, (int, float, Decimal))


def document(value: Any) -> dict[str, Any]:
    """Any value as stored inside a list or map."""
    try:
        return encode_value(_storable(value))
    except TypeError as refused:
        raise ValueRefused(str(refused)) from None


def _storable(value: Any, level: int = 0) -> Any:
    """Replaces models, times and enums inside lists and maps with storable values."""
    # What is one level too deep is refused by the backend, in its words.
    if level > NESTING_LEVELS + 1:
        raise ValueRefused(f"it is nested deeper than {NESTING_LEVELS} levels")
    if isinstance(value, BaseModel):
        kept = _keeps_none(type(value))
        return _storable(value.model_dump(by_alias=True, exclude_none=not kept), level)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_seconds(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _storable(inner, level + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(inner, level + 1) for inner in value]
    if isinstance(value, set | frozenset):
        members = [_storable(inner, level + 1) for inner in value]
        if _makes_set(members):
            return frozenset(members)
        return sorted(members, key=lambda inner: (type(inner).__name__, inner))
    return value


def _makes_set(members: list[Any]) -> bool:
    """Whether DynamoDB has a set of these; others are stored as a list."""
    if not members or "" in members or b"" in members or any(type(m) is bool for m in members):
        return False
    return any(all(isinstance(m, kind) for m in members) for kind in _SET_MEMBERS)


@lru_cache(maxsize=1024)
def _keeps_none(model: type[BaseModel]) -> bool:
    """Whether a None in it must be stored, because a missing value would decode differently."""
    seen: set[Any] = set()
    waiting: list[Any] = [model]
    while waiting:
        annotation = waiting.pop()
        if not isinstance(annotation, Hashable) or annotation in seen:
            continue
        seen.add(annotation)
        waiting += get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            for info in annotation.model_fields.values():
                if type(None) in get_args(info.annotation) and reads_none_otherwise(info):
                    return True
                waiting.append(info.annotation)
    return False


def read_document(value: dict[str, Any]) -> Any:
    """A nested value in Python types: whole numbers become int."""
    kind, content = next(iter(value.items()))
    if kind == "M":
        return {name: read_document(inner) for name, inner in content.items()}
    if kind == "L":
        return [read_document(inner) for inner in content]
    if kind == "N":
        return _whole(Decimal(content))
    if kind == "NS":
        return {_whole(Decimal(number)) for number in content}
    return decode_value(value)


def _whole(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number


def encoder(spec: FieldSpec) -> Encoder:
    """Encodes one non-None value of a field as a wire value."""
    if spec.codec is not None:
        write, inner = spec.codec.write, encoder(replace(spec, kind=spec.codec.kind, codec=None))
        return lambda v: inner(write(v))
    kind = spec.kind
    if kind in ("string", "uuid"):
        return lambda v: {"S": v if type(v) is str else _text(v)}
    if kind == "integer":
        return lambda v: {"N": _number(v)}
    if kind == "float":
        return lambda v: {"N": _float(v)}
    if kind == "decimal":
        return lambda v: {"N": _decimal(Decimal(v))}
    if kind == "duration":
        return lambda v: {"N": normalise(str(duration_seconds(v)))}
    if kind == "boolean":
        return lambda v: {"BOOL": bool(v)}
    if kind == "binary":
        return lambda v: {"B": _base64(v)}
    if kind == "timestamp":
        return _time_encoder(spec.stored)
    if kind == "date":
        return lambda v: {"S": v.isoformat()}
    if kind == "string_set":
        return lambda v: {
            "SS": sorted([e if type(e) is str else _text(e) for e in _without_empty(spec, v)])
        }
    if kind == "number_set":
        return lambda v: {"NS": [_number(e) for e in sorted(v)]}
    if kind == "binary_set":
        return lambda v: {"BS": [_base64(e) for e in sorted(_without_empty(spec, v))]}
    return document


def _without_empty(spec: FieldSpec, members: Collection[Any]) -> Collection[Any]:
    if "" in members or b"" in members:
        raise ValueRefused(
            f"the set {spec.name} contains an empty value, which DynamoDB rejects; remove it"
        )
    return members


def _time_encoder(stored: str) -> Encoder:
    if stored == "epoch":
        return lambda v: {"N": str(epoch_seconds(v))}
    if stored == "epoch_ms":
        return lambda v: {"N": str(epoch_milliseconds(v))}
    render = _TIME_TEXT[stored]
    return lambda v: {"S": render(v)}


_DECODERS: dict[str, str] = {
    "string": 'w["S"]',
    "uuid": 'w["S"]',
    "integer": 'int(w["N"])',
    "float": 'float(w["N"])',
    "decimal": 'Decimal(w["N"])',
    "duration": 'from_duration(w["N"])',
    "number_text": 'w["N"]',
    "boolean": 'w["BOOL"]',
    "binary": 'b64decode(w["B"])',
    "timestamp": "time",
    "date": 'w["S"]',
    "string_set": 'w["SS"]',
    "number_set": '[Decimal(n) for n in w["NS"]]',
    "binary_set": '[b64decode(b) for b in w["BS"]]',
}


# Several times as fast as Pydantic's parser, which handles what is not in ISO form. The hyphen
# keeps a number of seconds stored as text from being parsed as a compact date.
_TIME_LINES = (
    '        time = w["S"]',
    "        try:",
    '            time = from_iso(time) if time[4:5] == "-" else time',
    "        except ValueError:",
    "            pass",
)


def _decoding(spec: FieldSpec) -> str:
    if spec.stored == "epoch":
        return 'from_seconds(w["N"])'
    if spec.stored == "epoch_ms":
        return 'from_milliseconds(w["N"])'
    kind = spec.kind if spec.codec is None else spec.codec.kind
    return _DECODERS.get(kind, "read_document(w)")


_WIRE_TYPES = {
    **dict.fromkeys(("string", "uuid", "date", "timestamp"), "S"),
    **dict.fromkeys(("integer", "float", "decimal", "duration"), "N"),
    "boolean": "BOOL",
    "binary": "B",
    "list": "L",
    "map": "M",
    "string_set": "SS",
    "number_set": "NS",
    "binary_set": "BS",
}


def _several_forms(spec: FieldSpec) -> Callable[[WireItem], dict[str, Any]]:
    """Reads a field by the type that its attribute has in an item."""
    own = replace(spec, marks=())
    as_text = spec.kind == "string"  # Pydantic makes no text of a number.
    decoders = {}
    for form in spec.others:
        wire = "N" if form.stored.startswith("epoch") else _WIRE_TYPES[form.kind]
        kind = "number_text" if as_text and wire == "N" else form.kind
        decoders[wire] = compile_decoder([replace(form, marks=(), kind=kind)])
    usual = compile_decoder([own])
    kind = spec.kind if spec.codec is None else spec.codec.kind
    decoders["N" if spec.stored.startswith("epoch") else _WIRE_TYPES[kind]] = usual

    def decode(item: WireItem) -> dict[str, Any]:
        found = next(iter(item.get(spec.attribute, ())), "")
        return decoders.get(found, usual)(item)

    return decode


def compile_decoder(specs: list[FieldSpec]) -> Callable[[WireItem], dict[str, Any]]:
    """`decode(item)` returns the field values, which Pydantic then validates."""
    lines = ["def decode(item):", "    values = {}", "    get = item.get"]
    namespace: dict[str, Any] = {}
    for position, spec in enumerate(specs):
        if spec.reader is not None:
            namespace[f"k{position}"] = spec.reader
            lines.append(f"    values[{spec.name!r}] = k{position}(item)")
            continue
        if spec.others:
            namespace[f"k{position}"] = _several_forms(spec)
            lines.append(f"    values.update(k{position}(item))")
            continue
        if spec.codec is not None:
            namespace[f"c{position}"] = spec.codec.read
        lines.append(f"    w = get({spec.attribute!r})")
        lines.append('    if w is not None and "NULL" not in w:')
        lines += _TIME_LINES if _decoding(spec) == "time" else ()
        found = _decoding(spec)
        found = f"c{position}({found})" if spec.codec is not None else found
        lines.append(f"        values[{spec.name!r}] = {found}")
        if spec.kind.endswith("_set") and not spec.optional:
            # DynamoDB has no empty set. Pass one for an absent attribute, since Pydantic would
            # deep-copy the default.
            lines.append("    else:")
            lines.append(f"        values[{spec.name!r}] = ()")
        elif spec.optional and spec.required:
            lines.append("    else:")
            lines.append(f"        values[{spec.name!r}] = None")
    lines.append("    return values")
    namespace |= {
        "Decimal": Decimal,
        "b64decode": base64.b64decode,
        "read_document": read_document,
        "from_iso": datetime.fromisoformat,
        "from_duration": _from_duration,
        "from_seconds": from_seconds,
        "from_milliseconds": from_milliseconds,
    }
    exec("\n".join(lines), namespace)
    return namespace["decode"]  # type: ignore[no-any-return]


_INLINE = {
    "string": '{"S": v if type(v) is str else text(v)}',
    "integer": '{"N": str(v) if type(v) is int else number(v)}',
    "boolean": '{"BOOL": v}',
}


def compile_encoder(specs: list[FieldSpec]) -> Callable[[Mapping[str, Any]], WireItem]:
    """`encode(values)` returns the attributes; None and empty sets are omitted."""
    lines = ["def encode(values):", "    item = {}"]
    namespace: dict[str, Any] = {"text": _text, "number": _number}
    for position, spec in enumerate(specs):
        if spec.reader is not None:
            continue
        namespace[f"e{position}"] = encoder(spec)
        value = _INLINE.get(spec.kind, f"e{position}(v)")
        present = "v" if spec.kind.endswith("_set") else "v is not None"
        lines.append(f"    v = values[{spec.name!r}]")
        lines.append(f"    if {present}:")
        lines.append(f"        item[{spec.attribute!r}] = {value}")
    lines.append("    return item")
    exec("\n".join(lines), namespace)
    return namespace["encode"]  # type: ignore[no-any-return]
