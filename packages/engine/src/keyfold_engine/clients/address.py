"""Backend addresses: a data file, memory, a server's URL, or a region of Amazon DynamoDB."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import environ
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlsplit

from keyfold_engine.errors import KeyfoldError

_FORMS = (
    "use a file (hangouts.db), :memory:, http://host:port, or "
    "dynamodb://region?profile=name&endpoint=url"
)
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d+")
DEFAULT_REGION = "us-east-1"


class AddressError(KeyfoldError):
    """A backend address that cannot be parsed."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(f"backend address {address!r}: {what}; {_FORMS}")


@dataclass(frozen=True, slots=True)
class Embedded:
    """The engine in this process, on a file or in memory."""

    path: str


class Endpoint(NamedTuple):
    """A server that speaks DynamoDB's API."""

    host: str
    port: int
    tls: bool

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"


@dataclass(frozen=True, slots=True)
class Remote:
    """A server and its signing credentials."""

    endpoint: Endpoint
    streams_endpoint: Endpoint
    region: str
    profile: str | None
    is_amazon: bool
    """Amazon requires real credentials; other servers may accept any."""


def parse(address: str) -> Embedded | Remote:
    """Parse an address; raises `AddressError` that lists the valid forms."""
    if not address or address != address.strip():
        raise AddressError(address, "it is empty or has surrounding spaces")
    if address == ":memory:":
        return Embedded(address)
    scheme, separator, _ = address.partition("://")
    if not separator:
        return _file(address)
    if scheme in ("http", "https"):
        endpoint = _endpoint(address, urlsplit(address))
        return Remote(endpoint, endpoint, _region(), None, is_amazon=False)
    if scheme == "dynamodb":
        return _amazon(address)
    if scheme in ("file", "sqlite"):
        raise AddressError(address, f"write a file as a plain path, without {scheme}://")
    raise AddressError(address, f"{scheme}:// is not known")


def _region() -> str:
    """The region that a server's requests are signed for: what the AWS tools would take."""
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def _file(address: str) -> Embedded:
    if re.fullmatch(r"(localhost|\d+\.\d+\.\d+\.\d+)(:\d+)?", address):
        raise AddressError(address, "a server's address begins with http:// or https://")
    if scheme := re.match(r"(dynamodb|https?):", address):
        raise AddressError(address, f"after {scheme[0]} come two slashes, {scheme[0]}//")
    if _REGION.fullmatch(address):
        raise AddressError(address, f"a region is written dynamodb://{address}")
    if address.endswith(("/", "\\")):
        raise AddressError(address, "it is a directory, not a file")
    return Embedded(address)


def _endpoint(address: str, url: SplitResult) -> Endpoint:
    try:
        port = url.port
    except ValueError:
        raise AddressError(address, "the port is not a number up to 65535") from None
    if not url.hostname:
        raise AddressError(address, "the host is missing")
    if url.username or url.password:
        raise AddressError(address, "credentials do not belong in an address")
    if url.path not in ("", "/") or url.query or url.fragment:
        raise AddressError(address, "nothing may follow the host and port")
    tls = url.scheme == "https"
    return Endpoint(url.hostname, port or (443 if tls else 80), tls)


def _amazon(address: str) -> Remote:
    url = urlsplit(address)
    region = url.netloc
    if not _REGION.fullmatch(region):
        raise AddressError(address, f"{region!r} is not a region such as eu-west-1")
    if url.path not in ("", "/") or url.fragment:
        raise AddressError(address, "only ?profile=… and ?endpoint=… may follow the region")
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    if unknown := options.keys() - {"profile", "endpoint"}:
        raise AddressError(address, f"option {sorted(unknown)[0]!r} is not known")
    if empty := [name for name, value in options.items() if not value]:
        raise AddressError(address, f"option {empty[0]!r} has no value")
    profile = options.get("profile")
    if "endpoint" in options:
        endpoint_url = urlsplit(options["endpoint"])
        if endpoint_url.scheme not in ("http", "https"):
            raise AddressError(address, "the endpoint must be an http:// or https:// URL")
        endpoint = _endpoint(address, endpoint_url)
        return Remote(endpoint, endpoint, region, profile, is_amazon=True)
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return Remote(
        Endpoint(f"dynamodb.{region}.{suffix}", 443, tls=True),
        Endpoint(f"streams.dynamodb.{region}.{suffix}", 443, tls=True),
        region,
        profile,
        is_amazon=True,
    )
