"""REST and GraphQL take and give the same, for every operation of every system."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLSchema,
    get_nullable_type,
    is_enum_type,
    is_introspection_type,
    is_list_type,
    is_non_null_type,
    is_scalar_type,
)

from keyfold_demo.systems import find_systems
from keyfold_web import Service
from keyfold_web.graphql.schema import build_schema
from keyfold_web.graphql.types import ATTRIBUTE
from keyfold_web.openapi import openapi_document
from keyfold_web.parameters import Operation

SYSTEMS = {one.name: one for one in find_systems()}
KINDS = {
    "Boolean": "boolean",
    "Int": "integer",
    "Long": "integer",
    "Float": "number",
    "Number": "number",
    "JSON": "any",
}
"""JSON's kinds of GraphQL's scalars; all others are texts."""

Shape = Mapping[str, str]
"""The kind of each value by its path: `[].price` is `number`, or `number?` if it may be null."""


class Documented:
    """What a system's OpenAPI document says."""

    def __init__(self, service: type[Service]) -> None:
        document = openapi_document(service)
        self.paths, self.schemas = document["paths"], document["components"]["schemas"]

    def operation(self, operation: Operation) -> Any:
        return self.paths[operation.path][operation.verb.lower()]

    def leaves(
        self, schema: Any, path: str, *, sent: bool, null: bool = False, seen: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, str]]:
        """The values in a schema; what need not be `sent` is as good as null."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if name not in seen:
                found = self.schemas[name]
                yield from self.leaves(found, path, sent=sent, null=null, seen=(*seen, name))
            return
        parts = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
        null = null or len(parts) < len(schema.get("anyOf", [schema]))
        (first, *others) = parts
        if len({str(one) for one in parts}) == 1 and first is not schema:
            yield from self.leaves(first, path, sent=sent, null=null, seen=seen)
        elif others:
            kinds = {one.get("type", "any") for one in parts}
            number, text = {"integer", "number"}, {"number", "string"}
            kind = "number" if kinds == number else "string" if kinds == text else "any"
            yield path, _kind(kind, null)
        elif schema.get("type") == "array":
            yield path, _kind("list", null)
            yield from self.leaves(schema["items"], f"{path}[]", sent=sent, seen=seen)
        elif "properties" in schema:
            yield path, _kind("object", null)
            for name, one in schema["properties"].items():
                left_out = sent and name not in schema.get("required", ())
                place = f"{path}.{name}"
                yield from self.leaves(one, place, sent=sent, null=left_out, seen=seen)
        else:
            kind = schema.get("type", "any")
            yield path, _kind("any" if kind == "object" else kind, null)

    def answer(self, operation: Operation) -> Shape:
        found = self.operation(operation)["responses"][str(operation.status)]
        if "content" not in found:
            return {}
        schema = found["content"]["application/json"]["schema"]
        if operation.item is not None:
            schema = schema["properties"]["items"]
        return dict(self.leaves(schema, "", sent=False))

    def arguments(self, operation: Operation) -> Shape:
        found = self.operation(operation)
        shape: dict[str, str] = {}
        for one in found["parameters"]:
            if one["in"] != "header":
                null = not one["required"]
                shape |= self.leaves(one["schema"], one["name"], sent=True, null=null)
        if "requestBody" in found:
            schema = found["requestBody"]["content"]["application/json"]["schema"]
            (name, *_) = [one.public for one in operation.parameters if one.place == "body"]
            if operation.body_parameter is not None:
                shape |= self.leaves(schema, name, sent=True)
            else:
                fields = dict(self.leaves(schema, "", sent=True))
                shape |= {path[1:]: kind for path, kind in fields.items() if path}
        return shape


class Asked:
    """What a system's GraphQL schema says."""

    def __init__(self, service: type[Service]) -> None:
        self.schema: GraphQLSchema = build_schema(service)

    def field(self, operation: Operation) -> GraphQLField:
        roots = {"query": self.schema.query_type, "mutation": self.schema.mutation_type}
        root = roots[operation.kind]
        assert root is not None
        found: GraphQLField = root.fields[operation.name]
        return found

    def leaves(self, kind: Any, path: str, seen: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
        null, inner = not is_non_null_type(kind), get_nullable_type(kind)
        if is_list_type(inner):
            yield path, _kind("list", null)
            yield from self.leaves(inner.of_type, f"{path}[]", seen)
        elif is_enum_type(inner) or is_scalar_type(inner):
            yield path, _kind(KINDS.get(inner.name, "string"), null)
        elif inner.name not in seen:
            yield path, _kind("object", null)
            for name, field in inner.fields.items():
                if ATTRIBUTE in field.extensions or not isinstance(field, GraphQLField):
                    yield from self.leaves(field.type, f"{path}.{name}", (*seen, inner.name))

    def answer(self, operation: Operation) -> Shape:
        found: Any = self.field(operation).type
        if operation.result is type(None):
            return {}
        if operation.item is not None:
            found = found.fields["nodes"].type
        return dict(self.leaves(found, ""))

    def arguments(self, operation: Operation) -> Shape:
        own = {"requestId", "expectedVersion"}
        pages = {"first": "limit", "after": "cursor"} if operation.page is not None else {}
        shape: dict[str, str] = {}
        for name, one in self.field(operation).args.items():
            if name not in own:
                shape |= self.leaves(one.type, pages.get(name, name))
        return shape


def _kind(kind: str, null: bool) -> str:
    return f"{kind}?" if null else kind


@pytest.fixture(params=SYSTEMS)
def service(request: pytest.FixtureRequest) -> type[Service]:
    system = SYSTEMS[request.param]
    with asyncio.Runner() as runner:
        db = runner.run(system.design.open_async(":memory:"))
        found = type(system.serve(db))
        runner.run(db.close())
    return found


def test_both_give_the_same_fields_of_the_same_kinds(service: type[Service]) -> None:
    rest, graphql = Documented(service), Asked(service)
    for one in service.operations.values():
        given, told = dict(rest.answer(one)), dict(graphql.answer(one))
        for shape in (given, told):
            # A failed operation is null in GraphQL.
            shape[""] = shape.get("", "").removesuffix("?")
        assert told == given, one.name


def test_both_take_the_same_arguments(service: type[Service]) -> None:
    rest, graphql = Documented(service), Asked(service)
    for one in service.operations.values():
        assert graphql.arguments(one) == rest.arguments(one), one.name


def test_both_spell_the_values_of_an_enum_alike(service: type[Service]) -> None:
    documented = Documented(service).schemas
    for name, one in Asked(service).schema.type_map.items():
        if is_enum_type(one) and not is_introspection_type(one):
            assert list(one.values) == documented[name]["enum"], name


def test_every_mutation_takes_an_idempotency_key_on_both(service: type[Service]) -> None:
    rest, graphql = Documented(service), Asked(service)
    mutations = [one for one in service.operations.values() if one.kind == "mutation"]
    assert mutations
    for one in mutations:
        headers = {each["name"] for each in rest.operation(one)["parameters"]}
        assert "Idempotency-Key" in headers, one.name
        assert "requestId" in graphql.field(one).args, one.name
