"""Parses what a caller sent into an operation's typed arguments, once for every surface."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pydantic
from pydantic import BaseModel

from keyfold_web.page_request import PageRequest
from keyfold_web.parameters import Operation
from keyfold_web.problems import (
    FieldError,
    Invalid,
    PreconditionUnsupported,
    invalid_input,
    invalid_json,
)

_REQUEST_ID = re.compile(r"[!-~]{1,255}")
_DIGITS = re.compile(r"[0-9]{1,15}")

Texts = Mapping[str, Sequence[str]]
PAGE_ARGUMENTS: Final = {"first": "limit", "after": "cursor"}


def from_request(
    operation: Operation,
    path: Mapping[str, str],
    query: Texts,
    headers: Mapping[str, str],
    body: bytes,
) -> dict[str, Any]:
    """The arguments of an HTTP request: texts are converted, the JSON body is validated
    strictly.
    """
    given: dict[str, Any] = dict(path)
    for name, texts in query.items():
        if name in path:
            raise Invalid(name, "is already in the path")
        if len(texts) > 1 and name in operation.taking_one:
            raise Invalid(name, f"is given {len(texts)} times, but takes one value")
        given[name] = list(texts) if name in operation.taking_many else texts[0]
    arguments = _plain(operation, given)
    if operation.body is not None:
        try:
            value = operation.body.validate_json(body, strict=True)
        except pydantic.ValidationError as wrong:
            raise invalid_json(wrong, body) from None
        _add_body(operation, arguments, value)
    if operation.takes_request_id:
        arguments["request_id"] = _request_id("Idempotency-Key", headers.get("idempotency-key"))
    if operation.takes_version:
        tag = headers.get("if-match", "*").strip()
        # A proxy that compressed the answer makes the tag weak; the version is the same. A hash
        # after the hyphen distinguishes answers of one version.
        text = tag.removeprefix("W/").strip('"').partition("-")[0]
        arguments["expected_version"] = None if tag == "*" else _version("If-Match", text)
    elif operation.kind == "mutation" and "if-match" in headers:
        raise PreconditionUnsupported("If-Match")
    if operation.kind == "mutation" and "if-none-match" in headers:
        raise PreconditionUnsupported("If-None-Match")
    return arguments


def from_values(operation: Operation, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments from JSON values by public name, as GraphQL and AppSync pass them."""
    values = {k: v for k, v in values.items() if v is not None or k not in operation.null_left_out}
    injected: dict[str, Any] = {}
    if operation.takes_request_id:
        injected["request_id"] = _request_id("requestId", values.pop("requestId", None))
    if operation.takes_version:
        version = values.pop("expectedVersion", None)
        injected["expected_version"] = _version("expectedVersion", version)
    in_body = operation.in_body
    plain = {k: v for k, v in values.items() if k not in in_body}
    arguments = _plain(operation, plain, PAGE_ARGUMENTS if operation.page is not None else {})
    if operation.body is not None:
        given: Any = {k: v for k, v in values.items() if k in in_body}
        prefix = ""
        if operation.body_parameter is not None:
            (prefix,) = in_body
            if prefix not in given:
                raise Invalid([FieldError(prefix, "is required")])
            given = given[prefix]
        try:
            value = operation.body.validate_python(given)
        except pydantic.ValidationError as wrong:
            raise invalid_input(wrong, given, prefix) from None
        _add_body(operation, arguments, value)
    return arguments | injected


def _plain(
    operation: Operation, given: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Parameters outside the body; `names` are the caller's names where they differ."""
    if not given and not operation.takes_plain:
        return {}
    named = names or {}
    sent = {named.get(k, k): v for k, v in given.items()}
    try:
        model = operation.plain.model_validate(sent)
    except pydantic.ValidationError as wrong:
        theirs = {ours: theirs for theirs, ours in named.items()}
        raise invalid_input(wrong, sent, names=theirs) from None
    arguments = _field_values(model)
    if operation.page is not None:
        limit, cursor = arguments.pop("limit"), arguments.pop("cursor")
        arguments[operation.page] = PageRequest(limit, cursor or None)
    return arguments


def _add_body(operation: Operation, arguments: dict[str, Any], value: Any) -> None:
    if operation.body_parameter is not None:
        arguments[operation.body_parameter] = value
    else:
        arguments.update(_field_values(value))


def _field_values(model: BaseModel) -> dict[str, Any]:
    return dict(model.__dict__)


def _request_id(where: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _REQUEST_ID.fullmatch(value):
        raise Invalid(where, "must be 1 to 255 printable characters")
    return value


def _version(where: str, value: object) -> int | None:
    if value is None:
        return None
    if not _DIGITS.fullmatch(str(value)):
        raise Invalid(where, 'must be a version from an ETag, like "3"')
    return int(str(value))
