"""A JSON Schema of design files, for editors without a language server.

It describes which words are allowed where and the type of each value. The reader of design files
checks what they mean.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, Literal, Union, get_args, get_origin

from keyfold.design import records
from keyfold.design.file import KINDS
from keyfold.design.flow import Effect
from keyfold.design.schema import (
    INTENTS,
    AttributeSchema,
    EntitySchema,
    Index,
    Intent,
    PatternSchema,
    Schema,
    TableSchema,
)
from keyfold.design.template import Template
from keyfold_engine.expressions.ast import And

Json = dict[str, Any]

TEXT: Json = {"type": ["string", "number", "boolean"]}
ANYTHING: Json = {}
_KEY: Json = {"type": ["array", "object"], "description": "[PK, SK], or {PK: S, SK: N}"}
_SIDES = "of several attributes: {partition: [country, city], sort: {rooms: N, rent: N}}"
_INDEX_KEY: Json = {**_KEY, "description": f"{_KEY['description']}; {_SIDES}"}
_NAMES: Json = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}


def design_file_schema() -> Json:
    """The JSON Schema of a design file."""
    own = {
        "$schema": TEXT,
        "design": {**TEXT, "description": "The design's name."},
        "tables": _under_names(
            _record(
                TableSchema,
                key=_KEY,
                indexes=_under_names(_record(Index, key=_INDEX_KEY)),
            )
        ),
        "entities": _under_names(_entity()),
        "patterns": _under_names(_pattern()),
        "stated": {"type": "object"},
        "before": {"$ref": "#"},
        "observed": {"$ref": "#"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "keyfold design file",
        **_record(Schema, **own),
    }


def _entity() -> Json:
    attribute = {"anyOf": [TEXT, {"type": "array"}, _record(AttributeSchema)]}
    return _record(
        EntitySchema,
        key={"type": ["object", "null"], "additionalProperties": TEXT},
        attributes={"type": "object", "additionalProperties": attribute},
        indexes={"type": "object", "additionalProperties": {"type": ["object", "array"]}},
        ttl=ANYTHING,
    )


def _pattern() -> Json:
    kinds = dict.fromkeys(KINDS, _NAMES)
    return _record(
        PatternSchema, partition=_NAMES, limit=TEXT, where=TEXT, condition=ANYTHING, **kinds
    )


def _under_names(inner: Json) -> Json:
    return {
        "type": ["object", "null"],
        "additionalProperties": {"anyOf": [inner, {"type": "null"}]},
    }


def _record(kind: type[Any], **own: Json) -> Json:
    known = records.hints(kind)  # type: ignore[arg-type]  # mypy: a class is hashable
    stated = {word: _value(hint) for word, (_, hint) in known.items()}
    return {"type": "object", "additionalProperties": False, "properties": {**stated, **own}}


def _value(hint: Any) -> Json:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if And in parts:
            return _NAMES
        present = [one for one in parts if one is not type(None)]
        return {"anyOf": [_value(present[0]), {"type": "null"}]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple and parts[0] is Intent:
        return {"type": "object", "propertyNames": {"enum": list(INTENTS)}}
    if origin is tuple and records.is_named(parts[0]):
        return _under_names(_record(parts[0]))
    if origin is tuple:
        inner = _value(parts[0])
        return {"anyOf": [{"type": "array", "items": inner}, inner]}
    if hint in (Template, str):
        return TEXT
    if hint is Effect:
        return {"anyOf": [TEXT, _record(Effect)]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint is not Schema:
        return _record(hint)
    return {bool: {"type": "boolean"}, int: {"type": "integer"}, float: {"type": "number"}}.get(
        hint, ANYTHING
    )
