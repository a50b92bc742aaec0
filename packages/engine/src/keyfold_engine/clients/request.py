"""Requests as bytes, and the configuration of both HTTP clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from keyfold_engine.clients.address import Endpoint, Remote
from keyfold_engine.clients.credentials import CredentialSource, source
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.clients.signer import Credentials, Signer
from keyfold_engine.clock import Clock, SystemClock
from keyfold_engine.operations import STREAMS, target


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Configuration of a client."""

    retries: RetryPolicy = field(default_factory=RetryPolicy)
    connect_seconds: float = 3.0
    answer_seconds: float = 10.0
    """The read timeout."""
    connections: int = 50
    """The number of persistent connections; an async client opens no more."""
    ca_file: str | None = None
    credentials: CredentialSource | None = None
    clock: Clock = field(default_factory=SystemClock)


class RequestWriter:
    """Writes the signed requests of one operation."""

    def __init__(self, endpoint: Endpoint, region: str, target: str) -> None:
        self.endpoint = endpoint
        self._signer = Signer(endpoint.authority, region, target)

    def write(self, body: bytes, credentials: Credentials, now: float) -> bytes:
        signed = self._signer.headers(credentials, body, now)
        return b"POST / HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (signed, len(body), body)


class RequestWriters(dict[str, RequestWriter]):
    """The request writers of a server by operation, created on first use.

    Amazon has a separate endpoint for streams.
    """

    def __init__(self, remote: Remote) -> None:
        super().__init__()
        self._remote = remote

    def __missing__(self, operation: str) -> RequestWriter:
        remote = self._remote
        is_stream = operation in STREAMS
        endpoint = remote.streams_endpoint if is_stream else remote.endpoint
        made = RequestWriter(endpoint, remote.region, target(operation))
        return self.setdefault(operation, made)


class Requests:
    """What both clients of a server have."""

    def __init__(self, remote: Remote, options: ClientOptions) -> None:
        self._options, self._now = options, options.clock.now
        self._writers = RequestWriters(remote)
        self._credentials = options.credentials or source(
            profile=remote.profile, is_amazon=remote.is_amazon
        )
        self._tls = None
        if remote.endpoint.tls:
            import ssl

            # The system's authorities, or the user's file.
            bundle = options.ca_file or os.environ.get("AWS_CA_BUNDLE")
            self._tls = ssl.create_default_context(cafile=bundle)


def encode(request: Mapping[str, Any]) -> bytes:
    """The JSON of a request."""
    return orjson.dumps(request, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a wire value: {value!r}")
