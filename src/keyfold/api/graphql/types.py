"""Pydantic types as Strawberry types: objects, inputs, enums, unions, connections, scalars."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Optional, Union, get_args, get_origin
from uuid import UUID

import annotated_types
import strawberry
from graphql import GraphQLInputType, get_nullable_type, is_input_object_type, is_list_type
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.scalar import ScalarDefinition

from keyfold.api.names import camel
from keyfold.api.parameters import RelatedField, takes_none
from keyfold.design import Page
from keyfold.errors import DeclarationError

Long = NewType("Long", int)
Json = NewType("Json", object)

_INT_BITS = 31
_TEXTS = (datetime, date, time, timedelta, Decimal, UUID, bytes)
_LISTS = (list, set, frozenset, tuple)


def _as_given(value: Any) -> Any:
    return value


def _text(name: str, description: str) -> ScalarDefinition:
    """A scalar whose text Pydantic reads, so that REST and GraphQL take and give the same."""
    return strawberry.scalar(
        name=name, description=description, serialize=to_jsonable_python, parse_value=_as_given
    )


SCALARS: dict[object, ScalarDefinition] = {
    Long: strawberry.scalar(name="Long", description="A whole number.", parse_value=_as_given),
    Json: _text("JSON", "Any JSON value."),
    datetime: _text("DateTime", "A moment, as 2026-01-31T12:00:00Z."),
    date: _text("Date", "A day, as 2026-01-31."),
    time: _text("Time", "A time of day, as 12:00:00."),
    timedelta: _text("Duration", "A span of time, as PT1H."),
    Decimal: _text("Decimal", "An exact number, as text."),
    UUID: _text("UUID", "A UUID."),
    bytes: _text("Bytes", "Bytes, as text."),
}


@strawberry.type(description="Where a page ends.")
class PageInfo:
    end_cursor: str | None
    has_next_page: bool


@dataclass(frozen=True, slots=True)
class PageEdge:
    """A page's item; only the last one has a cursor, since pages are what a cursor continues."""

    node: Any
    cursor: str | None


class PageConnection:
    """A page as Relay's connection."""

    def __init__(self, page: Page[Any]) -> None:
        self.nodes = page.items
        self.page_info = PageInfo(end_cursor=page.cursor, has_next_page=page.cursor is not None)

    @property
    def edges(self) -> list[PageEdge]:
        last = len(self.nodes) - 1
        return [
            PageEdge(node, self.page_info.end_cursor if place == last else None)
            for place, node in enumerate(self.nodes)
        ]


class TypeRegistry:
    """The GraphQL types of one schema, each made once."""

    def __init__(
        self,
        related: Iterable[RelatedField],
        loading: Callable[[RelatedField], Callable[..., Any]],
    ) -> None:
        self._related = list(related)
        self._loading = loading
        self._made: dict[tuple[str, object], Any] = {}
        self._owners: dict[str, object] = {}

    def output(self, annotation: Any, metadata: Iterable[Any] = ()) -> Any:
        """The GraphQL type of a result."""
        return self._type(annotation, metadata, self._object)

    def input(self, annotation: Any, metadata: Iterable[Any] = ()) -> Any:
        """The GraphQL type of an argument."""
        return self._type(annotation, metadata, self._input)

    def connection(self, item: Any) -> Any:
        """The connection type for pages of this item."""
        node = self.output(item)
        name = getattr(item, "__name__", "Item")
        if ("connection", item) not in self._made:
            edge = self._make(f"{name}Edge", {"node": node, "cursor": str | None})
            fields: dict[str, Any] = {
                "nodes": list[node],  # type: ignore[valid-type]
                "edges": list[edge],  # type: ignore[valid-type]
                "page_info": PageInfo,
            }
            self._made["connection", item] = self._make(f"{name}Connection", fields)
        return self._made["connection", item]

    def _type(
        self, annotation: Any, metadata: Iterable[Any], model: Callable[[type[BaseModel]], Any]
    ) -> Any:
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._type(parts[0], (*metadata, *parts[1:]), model)
        if origin in (Union, types.UnionType):
            return self._union(parts, metadata, model)
        if origin in _LISTS:
            return list[self._type(parts[0], (), model)]  # type: ignore[misc]
        if origin is Literal and all(isinstance(one, str) for one in parts):
            return str
        if not isinstance(annotation, type):
            return Json
        if issubclass(annotation, BaseModel):
            return model(annotation)
        if issubclass(annotation, Enum):
            return self._enum(annotation)
        if annotation is int:
            return int if _fits_an_int(metadata) else Long
        if annotation in (str, bool, float) or annotation in _TEXTS:
            return annotation
        return str if issubclass(annotation, str) else Json

    def _union(
        self,
        parts: tuple[Any, ...],
        metadata: Iterable[Any],
        model: Callable[[type[BaseModel]], Any],
    ) -> Any:
        present = [one for one in parts if one is not type(None)]
        if len(present) == 1:
            inner = self._type(present[0], metadata, model)
        elif model == self._object and all(_is_model(one) for one in present):
            inner = self._object_union(tuple(present))
        else:
            inner = Json
        return Optional[inner] if len(present) < len(parts) else inner  # noqa: UP045

    def _object_union(self, models: tuple[type[BaseModel], ...]) -> Any:
        if ("union", models) not in self._made:
            name = "Or".join(one.__name__ for one in models)
            members = tuple(self._object(one) for one in models)
            self._made["union", models] = Annotated[
                Union[members], strawberry.union(name)  # noqa: UP007
            ]
        return self._made["union", models]

    def _enum(self, kind: type[Enum]) -> Any:
        if ("enum", kind) not in self._made:
            self._claim(kind.__name__, kind)
            self._made["enum", kind] = strawberry.enum(kind)
        return self._made["enum", kind]

    def _object(self, model: type[BaseModel]) -> Any:
        if ("object", model) in self._made:
            return self._made["object", model]
        name = _plain_name(model)
        self._claim(name, model)
        fields = {
            field: strawberry.field(name=_public(field, info), description=info.description)
            for field, info in model.model_fields.items()
        }
        extra = [one for one in self._related if issubclass(model, one.parent)]
        for one in extra:
            fields[one.function.__name__] = strawberry.field(
                resolver=self._loading(one), name=one.name, description=one.description
            )
        made = strawberry.type(_bare_class(name, fields, model), name=name, description=_doc(model))
        self._made["object", model] = made
        annotations = {
            field: self.output(info.annotation, info.metadata)
            for field, info in model.model_fields.items()
        }
        annotations |= {one.function.__name__: self.output(one.result) for one in extra}
        _annotate(made, annotations)
        return made

    def _input(self, model: type[BaseModel]) -> Any:
        if ("input", model) in self._made:
            return self._made["input", model]
        name = _plain_name(model)
        name = name if name.endswith("Input") else f"{name}Input"
        self._claim(name, model)
        fields = {}
        for field, info in model.model_fields.items():
            fields[field] = strawberry.field(
                name=_public(field, info),
                description=info.description,
                default=MISSING if info.is_required() else strawberry.UNSET,
            )
        made: Any = strawberry.input(_bare_class(name, fields), name=name, description=_doc(model))
        made.null_is_left_out = {
            _public(field, info)
            for field, info in model.model_fields.items()
            if not info.is_required() and not takes_none(info.annotation)
        }
        self._made["input", model] = made
        annotations = {}
        for field, info in model.model_fields.items():
            annotation = self.input(info.annotation, info.metadata)
            annotations[field] = annotation if info.is_required() else Optional[annotation]  # noqa: UP045
        _annotate(made, annotations)
        return made

    def _make(self, name: str, annotations: dict[str, Any]) -> Any:
        self._claim(name, name)
        made = strawberry.type(
            _bare_class(name, {field: strawberry.field() for field in annotations}), name=name
        )
        _annotate(made, annotations)
        return made

    def _claim(self, name: str, owner: object) -> None:
        if self._owners.setdefault(name, owner) != owner:
            raise DeclarationError(
                "O11",
                f"two types would be {name} in GraphQL: {self._owners[name]!r} and {owner!r}.",
                suggestion="Rename one of the classes.",
            )


def plain_values(value: Any, kind: GraphQLInputType) -> Any:
    """An argument as JSON values by public names, without nulls that mean "left out"."""
    inner = get_nullable_type(kind)
    if is_list_type(inner) and isinstance(value, list):
        return [plain_values(one, inner.of_type) for one in value]
    if not is_input_object_type(inner) or not isinstance(value, dict):
        return value
    left_out = inner.extensions["strawberry-definition"].origin.null_is_left_out
    fields = inner.fields
    return {
        name: plain_values(one, fields[name].type)
        for name, one in value.items()
        if one is not None or name not in left_out
    }


def _bare_class(name: str, fields: dict[str, Any], model: type[BaseModel] | None = None) -> type:
    body: dict[str, Any] = {"__annotations__": dict.fromkeys(fields, str), **fields}
    if model is not None:
        body["is_type_of"] = classmethod(lambda _cls, value, _info: isinstance(value, model))
    return type(name, (), body)


def _annotate(made: Any, annotations: dict[str, Any]) -> None:
    # Field types are set after the class exists, so that models may refer to each other.
    for field in made.__strawberry_definition__.fields:
        field.type_annotation = StrawberryAnnotation(annotations[field.python_name])


def _plain_name(model: type[BaseModel]) -> str:
    return "".join(character for character in model.__name__ if character.isalnum())


def _public(field: str, info: FieldInfo) -> str:
    return info.serialization_alias or info.alias or camel(field)


def _doc(model: type[BaseModel]) -> str | None:
    return (model.__dict__.get("__doc__") or "").strip() or None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _fits_an_int(metadata: Iterable[Any]) -> bool:
    low = high = False
    bound = 2**_INT_BITS
    for one in metadata:
        for mark in one.metadata if isinstance(one, FieldInfo) else [one]:
            if isinstance(mark, annotated_types.Ge | annotated_types.Gt):
                limit: Any = getattr(mark, "ge", None) or getattr(mark, "gt", 0)
                low = low or limit >= -bound
            if isinstance(mark, annotated_types.Le | annotated_types.Lt):
                limit = getattr(mark, "le", None) or getattr(mark, "lt", 0)
                high = high or limit < bound
    return low and high
