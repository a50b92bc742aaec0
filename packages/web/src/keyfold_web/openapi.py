"""The OpenAPI 3.1 document of a service's operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode

from keyfold_web.exchange import JSON, PROBLEM_JSON
from keyfold_web.parameters import Operation
from keyfold_web.problems import ProblemBody
from keyfold_web.samples import Samples
from keyfold_web.service import Service

_REFERENCE: Final = "#/components/schemas/{model}"
_PROBLEM: Final = ("problem", "")
_TITLES: Final = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    409: "Conflict",
    412: "Changed by another request, or not possible in its state",
    413: "Body too large",
    415: "Unsupported media type",
    422: "Invalid input",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable; try again",
}

Key = tuple[str, str]
Schema = dict[str, Any]


def openapi_document(service: type[Service]) -> Schema:
    """The document, without `servers`."""
    paths, schemas = paths_and_schemas(service)
    info = {"title": service.title, "version": "1"}
    if description := (service.__doc__ or "").strip():
        info["description"] = description
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"bearer": bearer}},
    }


def paths_and_schemas(service: type[Service]) -> tuple[Schema, Schema]:
    """The `paths` and the `components.schemas` of a service."""
    operations = service.operations.values()
    wanted: list[tuple[Key, JsonSchemaMode, TypeAdapter[Any]]] = [
        (_PROBLEM, "serialization", TypeAdapter(ProblemBody))
    ]
    for one in operations:
        wanted += _adapters(one)
    found, definitions = TypeAdapter.json_schemas(wanted, ref_template=_REFERENCE)
    components: Schema = definitions.get("$defs", {})
    schemas = {key: schema for (key, _mode), schema in found.items()}
    for one in operations:
        # Parameters are listed individually; as a model they would not help a reader.
        name = schemas[one.name, "parameters"].get("$ref", "").rpartition("/")[2]
        schemas[one.name, "parameters"] = components.pop(name)
    paths: Schema = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.verb.lower()] = _operation(one, schemas, components)
    return paths, components


def _adapters(one: Operation) -> Iterable[tuple[Key, JsonSchemaMode, TypeAdapter[Any]]]:
    yield (one.name, "parameters"), "validation", TypeAdapter(one.plain)
    if one.body is not None:
        yield (one.name, "body"), "validation", one.body
    if one.item is not None:
        yield (one.name, "answer"), "serialization", TypeAdapter(one.item)
    elif one.result is not type(None):
        yield (one.name, "answer"), "serialization", one.answer


def _operation(one: Operation, schemas: dict[Key, Schema], components: Schema) -> Schema:
    access = f"Allowed for: {one.allow.name}."
    document: Schema = {
        "operationId": one.name,
        "tags": [one.path.split("/")[1]],
        "summary": one.summary,
        "description": f"{one.description}\n\n{access}".strip(),
        "parameters": [*_parameters(one, schemas[one.name, "parameters"]), *_headers(one)],
        "responses": _responses(one, schemas),
    }
    if one.body is not None:
        content: Schema = {"schema": schemas[one.name, "body"]}
        example = _body_sample(one, schemas[one.name, "body"], components)
        if example is not None:
            content["example"] = example
        document["requestBody"] = {"required": True, "content": {JSON: content}}
    document["security"] = [{"bearer": []}] + ([{}] if one.allow.anonymous else [])
    return document


def _parameters(one: Operation, schema: Schema) -> list[Schema]:
    places = {parameter.public: parameter for parameter in one.parameters}
    listed = []
    for public, described in schema.get("properties", {}).items():
        parameter = places.get(public)
        place = parameter.place if parameter else "query"
        entry: Schema = {
            "name": public,
            "in": place,
            "required": place == "path" or (parameter is not None and parameter.required),
            "schema": {key: value for key, value in described.items() if key != "title"},
        }
        listed.append(entry)
    return listed


def _headers(one: Operation) -> list[Schema]:
    listed = []
    if one.takes_request_id:
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
        listed.append(
            _header("Idempotency-Key", "Requests with the same key have one effect.", schema)
        )
    if one.takes_version:
        schema = {"type": "string", "pattern": '^(\\*|"[0-9]{1,15}")$'}
        listed.append(_header("If-Match", "The ETag of what you read.", schema))
    return listed


def _header(name: str, description: str, schema: Schema) -> Schema:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": schema,
    }


def _body_sample(one: Operation, schema: Schema, components: Schema) -> Any | None:
    """A generated example body, unless the operation would not accept it."""
    assert one.body is not None
    try:
        sample = Samples(components).of(schema)
        one.body.validate_json(orjson.dumps(sample), strict=True)
    except (ValidationError, RecursionError):
        return None
    return sample


def _responses(one: Operation, schemas: dict[Key, Schema]) -> Schema:
    responses: Schema = {str(one.status): _success(one, schemas)}
    if one.kind == "query" and one.item is None and one.result is not type(None):
        responses["304"] = {"description": "Not modified"}
    statuses = [400, 404, 422, 429, 500, 503]
    if not one.allow.anonymous:
        statuses += [403]
    if one.kind == "mutation":
        statuses += [409, 412]
    if one.body is not None:
        statuses += [413, 415]
    problem = {"content": {PROBLEM_JSON: {"schema": schemas[_PROBLEM]}}}
    for status in sorted([401, *statuses]):
        responses[str(status)] = {"description": _TITLES[status], **problem}
    return responses


def _success(one: Operation, schemas: dict[Key, Schema]) -> Schema:
    if one.result is type(None):
        return {"description": "Done"}
    schema = schemas[one.name, "answer"]
    if one.item is not None:
        link = {"description": "The next page", "schema": {"type": "string"}}
        return {
            "description": "A page",
            "headers": {"Link": link},
            "content": {JSON: {"schema": _page_schema(schema)}},
        }
    return {"description": "Done", "content": {JSON: {"schema": schema}}}


def _page_schema(item: Schema) -> Schema:
    text = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "type": "object",
        "required": ["items", "cursor", "next"],
        "properties": {
            "items": {"type": "array", "items": item},
            "cursor": text,
            "next": text,
        },
    }
