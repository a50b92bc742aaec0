"""The types of values along a path inside a field, as its annotation says."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as Invalid

_OPEN = (dict, Mapping, list, tuple, Sequence, Any, object)
_HOLDERS = (dict, Mapping, list, tuple, set, frozenset, Sequence)


def value_types(annotation: Any, *, element: bool) -> list[Any]:
    """The types a value may have: the field's, or its elements'."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return value_types(inner[0], element=element)
    if origin in (Union, types.UnionType):
        return [kind for member in inner for kind in value_types(member, element=element)]
    if element and (origin in _HOLDERS or annotation in _HOLDERS):
        return (
            [Any]
            if not inner or origin in (dict, Mapping)
            else value_types(inner[0], element=False)
        )
    return [annotation]


def is_of(kind: Any, value: object) -> bool:
    """Whether a value has this type, or is the text of an enum member."""
    if kind in (Any, object):
        return True
    try:
        found = _adapter(kind).validate_python(value)
    except Invalid:
        return False
    return bool(found == value or (isinstance(found, Enum) and found.value == value))


@lru_cache(maxsize=4096)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """The models that a value of this type may be."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return models_of(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [model for member in get_args(annotation) for model in models_of(member)]
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return [annotation] if is_model else []


def is_open(annotation: Any) -> bool:
    """Whether a value of this type can have undeclared parts."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_open(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return any(is_open(member) for member in get_args(annotation))
    named = hasattr(annotation, "__required_keys__")
    return named or annotation in _OPEN or origin in _OPEN


def element_type(annotation: Any) -> Any:
    """The element type of a list or map."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return element_type(inner[0])
    if origin in (Union, types.UnionType):
        held = [element_type(one) for one in inner if one is not type(None)]
        return held[0] if len(held) == 1 else Any
    if origin in (dict, Mapping):
        return inner[1]
    return inner[0] if origin in (list, Sequence) else Any
