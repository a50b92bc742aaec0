"""Requests as bytes, and what both HTTP clients are configured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from keyfold.clients.address import Endpoint, Remote
from keyfold.clients.credentials import CredentialSource
from keyfold.clients.retry import RetryPolicy
from keyfold.clients.signer import Credentials, Signer
from keyfold.clock import Clock, SystemClock

STREAM_OPERATIONS: Final = frozenset(
    {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
)


@dataclass(frozen=True, slots=True)
class Options:
    """How a client behaves towards a server."""

    retries: RetryPolicy = field(default_factory=RetryPolicy)
    connect_seconds: float = 3.0
    answer_seconds: float = 10.0
    """The longest silence while an answer is awaited."""
    connections: int = 50
    """Kept open; an async client opens no more than these."""
    ca_file: str | None = None
    credentials: CredentialSource | None = None
    clock: Clock = field(default_factory=SystemClock)


class RequestWriter:
    """Writes signed requests to one endpoint."""

    def __init__(self, endpoint: Endpoint, region: str) -> None:
        self.endpoint = endpoint
        self._signer = Signer(endpoint.authority, region)

    def write(self, operation: str, body: bytes, credentials: Credentials, now: float) -> bytes:
        api = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
        signed = self._signer.headers(credentials, f"{api}_20120810.{operation}", body, now)
        return b"POST / HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (signed, len(body), body)


class RequestWriters:
    """The endpoints of a server: Amazon has another one for streams."""

    def __init__(self, remote: Remote) -> None:
        self._tables = RequestWriter(remote.endpoint, remote.region)
        self._streams = (
            self._tables
            if remote.streams_endpoint == remote.endpoint
            else RequestWriter(remote.streams_endpoint, remote.region)
        )

    def of(self, operation: str) -> RequestWriter:
        return self._streams if operation in STREAM_OPERATIONS else self._tables


def encode(request: Mapping[str, Any]) -> bytes:
    """The JSON of a request."""
    return orjson.dumps(request, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a wire value: {value!r}")
