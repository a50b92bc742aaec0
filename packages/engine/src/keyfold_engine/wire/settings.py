"""Server settings: data location, access, limits."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from keyfold_engine.addresses import is_loopback
from keyfold_engine.engine import dialects
from keyfold_engine.engine.delays import DelaySetting
from keyfold_engine.engine.engine import Dialect, Durability
from keyfold_engine.engine.principal import HOME_ACCOUNT
from keyfold_engine.errors import KeyfoldError
from keyfold_engine.limits import KB, MB, REQUEST_BYTES
from keyfold_engine.wire.cors import LOOPBACK_ORIGINS

if TYPE_CHECKING:
    from pathlib import Path

    from keyfold_engine.clients.signer import Credentials


class ServeError(KeyfoldError):
    """The server cannot start with these settings."""


class ClientLimits(NamedTuple):
    """What clients may use of one worker."""

    body_bytes: int = REQUEST_BYTES
    head_bytes: int = 64 * KB
    headers: int = 100
    connections: int = 1000
    """Includes TLS connections before their handshake."""
    handshakes: int = 128
    """TLS connections before their handshake; others wait in the system's queue."""
    held_bytes: int = 256 * MB
    """For all clients: unanswered requests and unsent answers."""
    receive_seconds: float = 30.0
    """From a request's first byte to its last."""
    send_seconds: float = 30.0
    """For a client to read an answer that does not fit the socket's buffer."""
    idle_seconds: float = 120.0
    """Between two requests on a connection."""
    drain_seconds: float = 10.0
    """For requests in progress when the server stops."""


class ServerSettings(NamedTuple):
    """All settings of `keyfold serve`."""

    data: str = ":memory:"
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    region: str = "us-east-1"
    regions: bool = False
    """Whether each signing region has its own tables."""
    accounts: bool = False
    """Whether each caller's account has its own tables, per region."""
    dialect: Dialect = "current"
    durability: Durability = "full"
    credentials: tuple[Credentials, ...] = ()
    """The accepted credentials; without any, every well-formed signature is accepted."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    insecure_bind: bool = False
    origins: tuple[str, ...] = LOOPBACK_ORIGINS
    """Allowed origins; `*` for all. Ports are ignored."""
    request_log: str | None = None
    """A file, or `-` for standard output."""
    tracing: bool = False
    buckets: Path | None = None
    """A directory whose subdirectories stand for S3 buckets."""
    kinesis: str | None = None
    """Where Kinesis destinations deliver: a directory, or a server on this machine."""
    delays: DelaySetting = "at once"
    """The duration of table changes."""
    clients: ClientLimits = ClientLimits()

    def check(self) -> None:
        """Refuse unsafe or impossible settings."""
        if not 0 <= self.port <= 65535:
            raise ServeError(f"Invalid port {self.port}: choose 0 to 65535.")
        if self.workers < 1:
            raise ServeError(f"--workers must be at least 1, not {self.workers}")
        if (self.regions or self.accounts) and self.workers > 1:
            option = "--regions" if self.regions else "--accounts"
            raise ServeError(f"{option} needs --workers 1: regions replicate within one process")
        if self.workers > 1 and self.data == ":memory:":
            raise ServeError(
                f"--workers {self.workers} needs a data file that the processes share: give --data "
                "FILE, or use --workers 1"
            )
        if self.workers > 1 and not hasattr(socket, "SO_REUSEPORT"):
            raise ServeError("this system cannot share a port between workers: use --workers 1")
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ServeError("TLS needs both --tls-cert and --tls-key")
        try:
            dialects.named(self.dialect)
        except ValueError as error:
            raise ServeError(str(error)) from None
        if not self.credentials and not self.insecure_bind and not is_loopback(self.host):
            raise ServeError(
                f"{self.host} can be reached by others and no credentials are configured: give "
                "--credentials FILE, listen on 127.0.0.1, or use --insecure-bind"
            )


def read_credentials(file: Path | None, environment: Mapping[str, str]) -> tuple[Credentials, ...]:
    """From a file in AWS format, or from `KEYFOLD_CREDENTIALS`."""
    if file is not None:
        return _from_file(file)
    text = environment.get("KEYFOLD_CREDENTIALS", "")
    if not text:
        return ()
    from keyfold_engine.clients.signer import Credentials

    found = []
    for pair in filter(None, (part.strip() for part in text.split(","))):
        access_key, colon, secret = pair.partition(":")
        if not (access_key and colon and secret):
            raise ServeError("KEYFOLD_CREDENTIALS must be ACCESS_KEY:SECRET[,ACCESS_KEY:SECRET…]")
        found.append(Credentials(access_key, secret, None, _principal(access_key)))
    return tuple(found)


def _from_file(file: Path) -> tuple[Credentials, ...]:
    import configparser

    from keyfold_engine.clients.signer import Credentials

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(file.read_text(), source=str(file))
    except OSError as error:
        raise ServeError(f"cannot read credentials from {file}: {error.strerror}") from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ServeError(f"{file} is not a credentials file: {error}") from error
    found = []
    for name in parser.sections():
        section = parser[name]
        access_key = section.get("aws_access_key_id")
        secret = section.get("aws_secret_access_key")
        if not access_key or not secret:
            raise ServeError(f"{file}: [{name}] needs aws_access_key_id and aws_secret_access_key")
        principal = section.get("principal") or _principal(name)
        found.append(Credentials(access_key, secret, section.get("aws_session_token"), principal))
    if not found:
        raise ServeError(f"{file} has no credentials: add a section such as [default]")
    return tuple(found)


def _principal(name: str) -> str:
    """The principal of a key without an ARN: a user of the server's account."""
    return f"arn:aws:iam::{HOME_ACCOUNT}:user/{name}"
