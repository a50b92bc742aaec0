"""CORS: the origins that may call this server, and the headers for their browsers."""

from __future__ import annotations

from collections.abc import Collection

LOOPBACK_ORIGINS = ("http://localhost", "http://127.0.0.1", "http://[::1]")

PREFLIGHT = (
    b"Access-Control-Allow-Methods: POST,GET,OPTIONS\r\n"
    b"Access-Control-Allow-Headers: authorization,content-type,content-encoding,"
    b"x-amz-content-sha256,x-amz-date,x-amz-security-token,x-amz-target,x-amz-user-agent,"
    b"x-amzn-platform-id,x-amzn-trace-id,amz-sdk-invocation-id,amz-sdk-request\r\n"
    b"Access-Control-Max-Age: 172800\r\n"
)
"""Headers of the answer to a preflight request."""


def allows(origins: Collection[str], origin: str) -> bool:
    """Whether this origin is allowed; an origin listed without a port matches any port."""
    if "*" in origins or origin in origins:
        return True
    without_port, _, port = origin.rpartition(":")
    return port.isdecimal() and without_port in origins


def permission(origin: bytes) -> bytes:
    """The headers that let the calling page read the answer."""
    return (
        b"Access-Control-Allow-Origin: %b\r\nVary: Origin\r\n"
        b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amz-crc32\r\n" % origin
    )
