"""Pydantic types as GraphQL types: objects, inputs, enums, unions, connections, scalars."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from operator import attrgetter
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

import annotated_types
from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLString,
    GraphQLUnionType,
    assert_enum_value_name,
    get_nullable_type,
    is_input_object_type,
    is_list_type,
)
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from keyfold.design import Page
from keyfold.errors import DeclarationError
from keyfold_web.names import camel
from keyfold_web.parameters import RelatedField, takes_none

ATTRIBUTE = "attribute"
"""The extension of a field that names its source attribute."""
_NULL_LEFT_OUT = "null is left out"
"""The extension of an input: fields whose null means "not given"."""
_INT_BITS = 31
_LISTS = (list, set, frozenset, tuple)


def _text(name: str, description: str) -> GraphQLScalarType:
    """A scalar parsed by Pydantic, so that REST and GraphQL accept and return the same text."""
    return GraphQLScalarType(name, description=description, coerce_output_value=to_jsonable_python)


def _number(value: Any) -> Any:
    """As REST takes it: texts and booleans are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GraphQLError(f"Expected a number, found {value!r}.")
    return value


LONG = GraphQLScalarType("Long", description="A whole number.", coerce_input_value=_number)
NUMBER = GraphQLScalarType(
    "Number", description="A number, whole or not.", coerce_input_value=_number
)
JSON = _text("JSON", "Any JSON value.")
SCALARS: dict[type, GraphQLScalarType] = {
    str: GraphQLString,
    bool: GraphQLBoolean,
    float: GraphQLFloat,
    datetime: _text("DateTime", "A moment, as 2026-01-31T12:00:00Z."),
    date: _text("Date", "A day, as 2026-01-31."),
    time: _text("Time", "A time of day, as 12:00:00."),
    timedelta: _text("Duration", "A span of time, as PT1H."),
    Decimal: _text("Decimal", "An exact number, as text."),
    UUID: _text("UUID", "A UUID."),
    bytes: _text("Bytes", "Bytes, as text."),
}


@dataclass(frozen=True, slots=True)
class PageEdge:
    """A page's item; only the last one has a cursor, because cursors continue pages."""

    node: Any
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PageInfo:
    """Where a page ends."""

    end_cursor: str | None
    has_next_page: bool


class PageConnection:
    """A page as Relay's connection."""

    def __init__(self, page: Page[Any]) -> None:
        self.nodes = page.items
        self.page_info = PageInfo(page.cursor, page.cursor is not None)

    @property
    def edges(self) -> list[PageEdge]:
        last = len(self.nodes) - 1
        return [
            PageEdge(node, self.page_info.end_cursor if place == last else None)
            for place, node in enumerate(self.nodes)
        ]


def attribute(name: str, kind: Any, description: str | None = None) -> GraphQLField:
    """A field that is read from an attribute of its source."""
    get = attrgetter(name)
    return GraphQLField(
        kind,
        resolve=lambda source, _info: get(source),
        description=description,
        extensions={ATTRIBUTE: name},
    )


_PAGE_INFO = GraphQLObjectType(
    "PageInfo",
    {
        "endCursor": attribute("end_cursor", GraphQLString),
        "hasNextPage": attribute("has_next_page", GraphQLNonNull(GraphQLBoolean)),
    },
    description=PageInfo.__doc__,
)


class TypeRegistry:
    """The GraphQL types of one schema, each created once.

    Non-null types are GraphQLNonNull. The fields of an object or input are created when the schema
    is complete, so that models may refer to each other.
    """

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

    def connection(self, item: Any) -> GraphQLObjectType:
        """The connection type for pages of this item."""
        node = self.output(item)
        name = getattr(item, "__name__", "Item")

        def make() -> GraphQLObjectType:
            edge = self._plain(
                f"{name}Edge",
                {"node": attribute("node", node), "cursor": attribute("cursor", GraphQLString)},
            )
            fields = {
                "nodes": attribute("nodes", _list_of(node)),
                "edges": attribute("edges", _list_of(GraphQLNonNull(edge))),
                "pageInfo": attribute("page_info", GraphQLNonNull(_PAGE_INFO)),
            }
            return self._plain(f"{name}Connection", fields)

        return self._once("connection", item, make)  # type: ignore[no-any-return]

    def _type(
        self, annotation: Any, metadata: Iterable[Any], model: Callable[[type[BaseModel]], Any]
    ) -> Any:
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self._type(parts[0], (*metadata, *parts[1:]), model)
        if origin in (Union, types.UnionType):
            return self._union(parts, metadata, model)
        if origin in _LISTS:
            return _list_of(self._type(parts[0], (), model))
        return GraphQLNonNull(self._named_type(annotation, metadata, model))

    def _named_type(
        self, annotation: Any, metadata: Iterable[Any], model: Callable[[type[BaseModel]], Any]
    ) -> Any:
        if get_origin(annotation) is Literal:
            kinds = {type(one) for one in get_args(annotation)}
            return self._named_type(kinds.pop(), (), model) if len(kinds) == 1 else JSON
        if not isinstance(annotation, type):
            return JSON
        if issubclass(annotation, BaseModel):
            return model(annotation)
        if issubclass(annotation, Enum):
            return self._enum(annotation)
        if annotation is int:
            return GraphQLInt if _fits_an_int(metadata) else LONG
        if (scalar := SCALARS.get(annotation)) is not None:
            return scalar
        return GraphQLString if issubclass(annotation, str) else JSON

    def _union(
        self,
        parts: tuple[Any, ...],
        metadata: Iterable[Any],
        model: Callable[[type[BaseModel]], Any],
    ) -> Any:
        present = tuple(one for one in parts if one is not type(None))
        if len(present) == 1:
            inner = self._type(present[0], metadata, model)
        elif model == self._object and all(_is_model(one) for one in present):
            inner = GraphQLNonNull(self._object_union(present))
        elif set(present) == {int, float}:
            inner = GraphQLNonNull(NUMBER)
        else:
            inner = GraphQLNonNull(JSON)
        return get_nullable_type(inner) if len(present) < len(parts) else inner

    def _object_union(self, models: tuple[type[BaseModel], ...]) -> Any:
        name = "Or".join(one.__name__ for one in models)
        members = [self._object(one) for one in models]
        return self._once("union", models, lambda: GraphQLUnionType(name, members))

    def _enum(self, kind: type[Enum]) -> Any:
        def make() -> GraphQLEnumType:
            self._claim(kind.__name__, kind)
            values = {_enum_name(one): GraphQLEnumValue(one) for one in kind}
            return GraphQLEnumType(kind.__name__, values)

        return self._once("enum", kind, make)

    def _object(self, model: type[BaseModel]) -> Any:
        def fields() -> dict[str, GraphQLField]:
            found = {
                _public(model, field, info): attribute(
                    field, self.output(info.annotation, info.metadata), info.description
                )
                for field, info in model.model_fields.items()
            }
            for field, computed in model.model_computed_fields.items():
                name = computed.alias or camel(field)
                kind = self.output(computed.return_type)
                found[name] = attribute(field, kind, computed.description)
            for one in self._related:
                if issubclass(model, one.parent):
                    found[one.name] = GraphQLField(
                        self.output(one.result),
                        resolve=self._loading(one),
                        description=one.description,
                    )
            return found

        def make() -> GraphQLObjectType:
            name = _plain_name(model)
            self._claim(name, model)
            return GraphQLObjectType(
                name,
                fields,
                is_type_of=lambda value, _info: isinstance(value, model),
                description=_doc(model),
            )

        return self._once("object", model, make)

    def _input(self, model: type[BaseModel]) -> Any:
        def fields() -> dict[str, GraphQLInputField]:
            found = {}
            for field, info in model.model_fields.items():
                kind = self.input(info.annotation, info.metadata)
                kind = kind if info.is_required() else get_nullable_type(kind)
                found[_public(model, field, info)] = GraphQLInputField(
                    kind, description=info.description
                )
            return found

        def make() -> GraphQLInputObjectType:
            name = _plain_name(model)
            name = name if name.endswith("Input") else f"{name}Input"
            self._claim(name, model)
            left_out = {
                _public(model, field, info)
                for field, info in model.model_fields.items()
                # A field of a change without a default of its own refuses null, as in REST.
                if info.default is not None
                and not info.is_required()
                and not takes_none(info.annotation)
            }
            return GraphQLInputObjectType(
                name, fields, description=_doc(model), extensions={_NULL_LEFT_OUT: left_out}
            )

        return self._once("input", model, make)

    def _plain(self, name: str, fields: dict[str, GraphQLField]) -> GraphQLObjectType:
        self._claim(name, name)
        return GraphQLObjectType(name, fields)

    def _once(self, kind: str, of: object, make: Callable[[], Any]) -> Any:
        if (kind, of) not in self._made:
            self._made[kind, of] = make()
        return self._made[kind, of]

    def _claim(self, name: str, owner: object) -> None:
        if self._owners.setdefault(name, owner) != owner:
            raise DeclarationError(
                "O11",
                f"two types would be {name} in GraphQL: {self._owners[name]!r} and {owner!r}.",
                suggestion="Rename one of the classes.",
            )


def plain_values(value: Any, kind: GraphQLInputType) -> Any:
    """An argument as JSON values by public name, without nulls that mean "not given"."""
    inner = get_nullable_type(kind)
    if is_list_type(inner) and isinstance(value, list):
        return [plain_values(one, inner.of_type) for one in value]
    if not is_input_object_type(inner) or not isinstance(value, dict):
        return value
    left_out = inner.extensions[_NULL_LEFT_OUT]
    fields = inner.fields
    return {
        name: plain_values(one, fields[name].type)
        for name, one in value.items()
        if one is not None or name not in left_out
    }


def _list_of(item: Any) -> Any:
    return GraphQLNonNull(GraphQLList(item))


def _plain_name(model: type[BaseModel]) -> str:
    return "".join(character for character in model.__name__ if character.isalnum())


def _enum_name(one: Enum) -> str:
    """Its value, as in REST, if GraphQL can spell it so."""
    try:
        return assert_enum_value_name(one.value)
    except (GraphQLError, TypeError):
        return one.name


def _public(model: type[BaseModel], field: str, info: FieldInfo) -> str:
    """The same name as in REST."""
    name = info.serialization_alias or info.alias or field
    if name == field and camel(field) != field:
        raise DeclarationError(
            "O16",
            f"{model.__name__}.{field} has no public name, so callers would see snake_case.",
            suggestion="Make it a Payload, or give its model_config alias_generator=to_camel.",
        )
    return name


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
