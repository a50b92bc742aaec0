"""From HTTP request to HTTP answer, shared by the ASGI application and the Lambda proxy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode
from zlib import crc32

import orjson
from pydantic import TypeAdapter

from keyfold.design import Page
from keyfold_engine.tracing import instance
from keyfold_web.arguments import Texts, from_request
from keyfold_web.auth import Tokens, authenticate
from keyfold_web.dispatch import Caller, Dispatch, Surface, left_out
from keyfold_web.identity import ANONYMOUS, Identity
from keyfold_web.log import log_failure
from keyfold_web.parameters import Operation
from keyfold_web.problems import CHANGED, Problem, Refused, problem_for

JSON: Final = "application/json"
PROBLEM_JSON: Final = "application/problem+json"
BODY_BYTES: Final = 1024 * 1024


class UnsupportedMedia(Refused):
    status = 415
    title = "Unsupported media type"
    default_code = "UNSUPPORTED_MEDIA_TYPE"


class BodyTooLarge(Refused):
    status = 413
    title = "Body too large"
    default_code = "BODY_TOO_LARGE"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request to one operation; header names are in lower case."""

    operation: Operation
    url: str
    path: Mapping[str, str]
    query: Texts
    headers: Mapping[str, str]
    body: bytes
    address: str = ""
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


async def answer(
    dispatch: Dispatch, tokens: Tokens | None, request: HttpRequest, surface: Surface = "rest"
) -> HttpAnswer:
    """Run the operation; every error becomes a problem+json answer."""
    try:
        return await _answer(dispatch, tokens, request, surface)
    except Exception as error:
        return problem_answer(problem_for(error))


def problem_answer(problem: Problem) -> HttpAnswer:
    """A problem as problem+json, with the headers of its status."""
    headers = {"content-type": PROBLEM_JSON}
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return HttpAnswer(problem.status, orjson.dumps(problem.body(instance())), headers)


async def _answer(
    dispatch: Dispatch, tokens: Tokens | None, request: HttpRequest, surface: Surface
) -> HttpAnswer:
    operation, headers = request.operation, request.headers
    identity = request.identity
    if identity is None:
        try:
            identity = await authenticate(tokens, headers.get("authorization"))
        except Exception as error:
            nobody = Caller(ANONYMOUS, request.address)
            if not isinstance(error, Refused):
                log_failure(operation.name, error)
            dispatch.note(operation, problem_for(error).code, nobody, surface, 0.0)
            raise
    left_out.set(0)
    result = await dispatch.call(
        operation,
        lambda: _arguments(request),
        Caller(identity, request.address),
        surface,
    )
    try:
        return _result_answer(request, result)
    except Exception as error:
        log_failure(operation.name, error)
        raise


def _result_answer(request: HttpRequest, result: Any) -> HttpAnswer:
    """The answer that carries a result."""
    operation, headers = request.operation, request.headers
    if operation.result is type(None):
        return HttpAnswer(operation.status)
    if operation.item is not None:
        return _with_gaps(_page(operation, request, result))
    body = dump(operation.answer, result)
    tag = _etag(result)
    if operation.kind == "query":
        if not _matches(headers, tag):
            return problem_answer(CHANGED)
        if tag is not None and _matches_tag(headers, tag):
            return HttpAnswer(304, headers={"etag": tag})
    sent = {"content-type": JSON} | ({"etag": tag} if tag is not None else {})
    return _with_gaps(HttpAnswer(operation.status, body, sent))


def _with_gaps(made: HttpAnswer) -> HttpAnswer:
    """The answer, which says how many items cannot be read and are left out."""
    if left_out.get():
        made.headers["keyfold-left-out"] = str(left_out.get())
    return made


def dump(adapter: TypeAdapter[Any], value: Any) -> bytes:
    """A result as JSON; one that does not match its declared type is a bug of the service."""
    return adapter.dump_json(value, by_alias=True, warnings="error")


def _arguments(request: HttpRequest) -> dict[str, Any]:
    if request.operation.body is not None:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise UnsupportedMedia(f"Send the body as {JSON}.")
        refuse_encoding(request.headers)
    return from_request(
        request.operation, request.path, request.query, request.headers, request.body
    )


def refuse_encoding(headers: Mapping[str, str]) -> None:
    """Refuse a compressed body: a small one could expand to any size."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsupportedMedia(f"Send the body without Content-Encoding, not as {encoding[:40]}.")


def _page(operation: Operation, request: HttpRequest, page: Page[Any]) -> HttpAnswer:
    items = dump(operation.items_answer, page.items)
    headers = {"content-type": JSON}
    following: str | None = None
    if page.cursor is not None:
        asked = [(name, text) for name, texts in request.query.items() for text in texts]
        kept = [(name, text) for name, text in asked if name != "cursor"]
        following = f"{quote(request.url)}?{urlencode([*kept, ('cursor', page.cursor)])}"
        headers["link"] = f'<{following}>; rel="next"'
    tail = orjson.dumps({"cursor": page.cursor, "next": following})
    return HttpAnswer(operation.status, b'{"items":' + items + b"," + tail[1:], headers)


def _matches(headers: Mapping[str, str], tag: str | None) -> bool:
    """Whether If-Match, if sent, contains this tag."""
    given = headers.get("if-match")
    return given is None or given.strip() == "*" or tag in _tags(given)


def _matches_tag(headers: Mapping[str, str], tag: str) -> bool:
    """Whether If-None-Match contains this tag."""
    given = headers.get("if-none-match", "")
    return given.strip() == "*" or tag in _tags(given)


def _tags(given: str) -> set[str]:
    """The tags in a header; proxies that compress make them weak."""
    return {one.strip().removeprefix("W/") for one in given.split(",")}


def _etag(result: Any) -> str | None:
    """The version, plus a hash of the answer if some fields change without a new version."""
    name = getattr(type(result), "__version_field__", None)
    if name is None:
        return None
    version = getattr(result, name)
    spec = getattr(type(result), "__spec__", None)
    moving = spec is not None and (spec.unversioned or spec.kept)
    return f'"{version}-{_hash(result):08x}"' if moving else f'"{version}"'


def _hash(result: Any) -> int:
    """A hash that ignores the order of sets, which differs between processes."""

    def plain(value: Any) -> Any:
        return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)

    return crc32(json.dumps(result.model_dump(), sort_keys=True, default=plain).encode())
