"""HTTP requests as Lambda receives them: from API Gateway, function URLs and load balancers.

Three shapes: HTTP APIs and function URLs send payload version 2.0, REST APIs version 1.0, and a
load balancer a variant of 1.0 with a percent-encoded query string.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from keyfold_engine.tracing import instance
from keyfold_web.exchange import BODY_BYTES, BodyTooLarge, HttpAnswer
from keyfold_web.problems import Invalid

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HttpEvent:
    """An event that contains an HTTP request; header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    address: str
    authorizer: Mapping[str, Any]
    event: Event

    def query(self) -> dict[str, list[str]]:
        """The query string: every name with its values."""
        try:
            return _query(self.event)
        except UnicodeDecodeError:
            raise Invalid("query", "is not UTF-8 text") from None

    def body(self) -> bytes:
        """The body; refused if it exceeds the limit."""
        text = self.event.get("body") or ""
        try:
            encoded = self.event.get("isBase64Encoded")
            # Invalid Unicode is refused by the JSON parser.
            body = (
                base64.b64decode(text, validate=True)
                if encoded
                else text.encode(errors="surrogatepass")
            )
        except ValueError:
            raise Invalid("body", "is not in base64, as the event says") from None
        if len(body) > BODY_BYTES:
            raise BodyTooLarge(f"The body must not exceed {BODY_BYTES} bytes.")
        return body

    def claims(self) -> Mapping[str, Any] | None:
        """The caller according to the gateway: a JWT's claims, or a Lambda authorizer's context."""
        given = self.authorizer
        named = given.get("jwt", {}).get("claims") or given.get("claims") or given.get("lambda")
        claims = named or {**given, "sub": given.get("sub") or given.get("principalId")}
        return claims if claims.get("sub") else None

    def answer(self, made: HttpAnswer) -> dict[str, Any]:
        """An answer in the shape that the event's sender expects."""
        headers = {**made.headers, "x-request-id": instance()}
        answer: dict[str, Any] = {
            "statusCode": made.status,
            "headers": headers,
            "body": "" if self.method == "HEAD" else made.body.decode(),
            "isBase64Encoded": False,
        }
        if _is_from_balancer(self.event):
            answer["statusDescription"] = f"{made.status} {HTTPStatus(made.status).phrase}"
            if "multiValueHeaders" in self.event:
                del answer["headers"]
                answer["multiValueHeaders"] = {name: [text] for name, text in headers.items()}
        return answer


def http_event(event: Event) -> HttpEvent | None:
    """The HTTP request in an event; None if it contains none."""
    context = event.get("requestContext") or {}
    http = context.get("http") or {}
    method = event.get("httpMethod") or http.get("method")
    path = event.get("rawPath") or event.get("path")
    if not method or not path:
        return None
    headers = _headers(event)
    address = http.get("sourceIp") or (context.get("identity") or {}).get("sourceIp")
    if _is_from_balancer(event):
        # The balancer appends the address it saw; earlier entries can be forged.
        address = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return HttpEvent(
        method=str(method),
        path=str(path),
        headers=headers,
        address=str(address or ""),
        authorizer=context.get("authorizer") or {},
        event=event,
    )


def _is_from_balancer(event: Event) -> bool:
    return "elb" in (event.get("requestContext") or {})


def _headers(event: Event) -> dict[str, str]:
    single, many = event.get("headers") or {}, event.get("multiValueHeaders") or {}
    first = {name.lower(): str(texts[0]) for name, texts in many.items() if texts}
    return first | {name.lower(): str(text) for name, text in single.items()}


def _query(event: Event) -> dict[str, list[str]]:
    if "rawQueryString" in event:
        return parse_qs(event["rawQueryString"], keep_blank_values=True, errors="strict")
    many = event.get("multiValueQueryStringParameters")
    if many is None:
        single = event.get("queryStringParameters") or {}
        many = {name: [text] for name, text in single.items()}
    if not _is_from_balancer(event):
        return dict(many)
    return {_unquote(name): [_unquote(text) for text in texts] for name, texts in many.items()}


def _unquote(text: str) -> str:
    return unquote_plus(text, errors="strict")
