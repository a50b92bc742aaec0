"""Pages of other origins that may ask, and the headers that tell their browsers so."""

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
"""What a browser is told that asks whether it may."""


def allows(origins: Collection[str], origin: str) -> bool:
    """Whether a page of this origin may ask; one that is listed without a port may from any."""
    if "*" in origins or origin in origins:
        return True
    without_port, _, port = origin.rpartition(":")
    return port.isdecimal() and without_port in origins


def permission(origin: bytes) -> bytes:
    """The headers by which an answer can be read by the page that asked."""
    return (
        b"Access-Control-Allow-Origin: %b\r\nVary: Origin\r\n"
        b"Access-Control-Expose-Headers: x-amzn-RequestId,x-amz-crc32\r\n" % origin
    )
