"""HTTP as Lambda hands it over: by API Gateway, function URLs and load balancers.

Three shapes: HTTP APIs and function URLs send payload version 2.0, REST APIs version 1.0, and a
load balancer something like 1.0 whose query string is still percent-encoded.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote_plus

from keyfold.api.exchange import BODY_BYTES, BodyTooLarge, HttpAnswer
from keyfold.api.problems import Invalid
from keyfold.tracing import instance

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HttpEvent:
    """An event that stands for an HTTP request; header names are in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    address: str
    authorizer: Mapping[str, Any]
    event: Event

    def body(self) -> bytes:
        """The body, unless it is larger than it may be."""
        text = self.event.get("body") or ""
        try:
            encoded = self.event.get("isBase64Encoded")
            # What is no Unicode is refused where the JSON is read.
            body = (
                base64.b64decode(text, validate=True)
                if encoded
                else text.encode(errors="surrogatepass")
            )
        except ValueError:
            raise Invalid("body", "is not in base64, as the event says") from None
        if len(body) > BODY_BYTES:
            raise BodyTooLarge(f"The body may have {BODY_BYTES} bytes.")
        return body

    def claims(self) -> Mapping[str, Any] | None:
        """Who the gateway says is calling: a JWT's claims, or what a Lambda authorizer said."""
        given = self.authorizer
        named = given.get("jwt", {}).get("claims") or given.get("claims") or given.get("lambda")
        claims = named or {**given, "sub": given.get("sub") or given.get("principalId")}
        return claims if claims.get("sub") else None

    def answer(self, made: HttpAnswer) -> dict[str, Any]:
        """An answer in the shape that the sender of the event takes."""
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
    """The HTTP request in an event; None where it holds none."""
    context = event.get("requestContext") or {}
    http = context.get("http") or {}
    method = event.get("httpMethod") or http.get("method")
    path = event.get("rawPath") or event.get("path")
    if not method or not path:
        return None
    headers = _headers(event)
    address = http.get("sourceIp") or (context.get("identity") or {}).get("sourceIp")
    if _is_from_balancer(event):
        # The balancer appends the address that it saw; what stands before it, anybody may claim.
        address = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return HttpEvent(
        method=str(method),
        path=str(path),
        query=_query(event),
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
        return parse_qs(event["rawQueryString"], keep_blank_values=True)
    many = event.get("multiValueQueryStringParameters")
    if many is None:
        single = event.get("queryStringParameters") or {}
        many = {name: [text] for name, text in single.items()}
    if not _is_from_balancer(event):
        return dict(many)
    return {
        unquote_plus(name): [unquote_plus(text) for text in texts] for name, texts in many.items()
    }
