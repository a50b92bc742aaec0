"""The types of values along a path inside a field, as its annotation says."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as Invalid

_OPEN = (dict, Mapping, list, tuple, Sequence, Any, object)
_HOLDERS = (dict, Mapping, list, tuple, set, frozenset, Sequence)


def members(annotation: Any) -> Iterator[Any]:
    """The alternatives of a type, without what is only said about it."""
    if hasattr(annotation, "__supertype__") or hasattr(annotation, "__value__"):
        yield from members(getattr(annotation, "__supertype__", None) or annotation.__value__)
    elif get_origin(annotation) is Annotated:
        yield from members(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for one in get_args(annotation):
            yield from members(one)
    else:
        yield annotation


def value_types(annotation: Any, *, element: bool) -> list[Any]:
    """The types a value may have: the field's, or its elements'."""
    found: list[Any] = []
    for one in members(annotation):
        origin, inner = get_origin(one), get_args(one)
        if not element or not (origin in _HOLDERS or one in _HOLDERS):
            found.append(one)
        elif not inner or origin in (dict, Mapping):
            found.append(Any)
        else:
            found += value_types(inner[0], element=False)
    return found


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
    found = members(annotation)
    return [one for one in found if isinstance(one, type) and issubclass(one, BaseModel)]


def is_open(annotation: Any) -> bool:
    """Whether a value of this type can have undeclared parts."""
    return any(
        hasattr(one, "__required_keys__") or one in _OPEN or get_origin(one) in _OPEN
        for one in members(annotation)
    )


def element_type(annotation: Any) -> Any:
    """The element type of a list or map."""
    held = [one for one in members(annotation) if one is not type(None)]
    origin, inner = (get_origin(held[0]), get_args(held[0])) if len(held) == 1 else (None, ())
    if origin not in (dict, Mapping, list, Sequence):
        return Any
    return inner[1] if origin in (dict, Mapping) else inner[0]
