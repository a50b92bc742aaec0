"""Connecting to a server: TCP, an optional proxy, TLS."""

from __future__ import annotations

import base64
import socket
import ssl
import urllib.request
from urllib.parse import unquote, urlsplit

from keyfold_engine.clients.address import Endpoint
from keyfold_engine.clients.request import ClientOptions
from keyfold_engine.errors import Timeout, TransportError, Unreachable, Untrusted


def connect(endpoint: Endpoint, options: ClientOptions) -> socket.socket:
    """A TCP connection to the endpoint, through the environment's proxy if one is set."""
    proxy = _proxy(endpoint)
    host, port = (endpoint.host, endpoint.port) if proxy is None else proxy[:2]
    try:
        connected = socket.create_connection((host, port), options.connect_seconds)
    except OSError as error:
        raise failure(error, endpoint, sent=False) from error
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if proxy is not None:
            _ask_for_tunnel(connected, endpoint, proxy[2])
    except BaseException:
        connected.close()
        raise
    return connected


def connect_tls(
    endpoint: Endpoint, options: ClientOptions, context: ssl.SSLContext | None
) -> socket.socket:
    """A connection ready for requests."""
    plain = connect(endpoint, options)
    if context is None:
        return plain
    try:
        return context.wrap_socket(plain, server_hostname=endpoint.host)
    except OSError as error:
        plain.close()
        raise failure(error, endpoint, sent=False) from error


def failure(error: BaseException, endpoint: Endpoint, *, sent: bool) -> TransportError:
    """A socket error as one of ours."""
    if isinstance(error, TransportError):
        return error
    if isinstance(error, (TimeoutError, BlockingIOError)):
        doing = "a response" if sent else "a connection"
        return Timeout(f"{endpoint.url}: timed out waiting for {doing}", sent=sent)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Untrusted(f"{endpoint.url}: {error.verify_message}", sent=False)
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Unreachable(f"{endpoint.url}: {reason}", sent=sent)


def _proxy(endpoint: Endpoint) -> tuple[str, int, str | None] | None:
    proxies = urllib.request.getproxies_environment()
    url = proxies.get("https" if endpoint.tls else "http")
    if not url or urllib.request.proxy_bypass(endpoint.host):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise Unreachable(f"the proxy must be an http:// URL, not {url!r}", sent=False)
    login = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = base64.b64encode(pair.encode()).decode()
    return parts.hostname, parts.port or 80, login


def _ask_for_tunnel(connected: socket.socket, endpoint: Endpoint, login: str | None) -> None:
    target = f"{endpoint.host}:{endpoint.port}"
    authorization = f"Proxy-Authorization: Basic {login}\r\n" if login else ""
    connected.sendall(
        f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n".encode("latin-1")
    )
    head = b""
    while b"\r\n\r\n" not in head:
        received = connected.recv(4096)
        if not received or len(head) > 65536:
            raise Unreachable(f"the proxy refused a tunnel to {target}", sent=False)
        head += received
    status = head.split(b" ", 2)[1] if head.count(b" ") else b""
    if status != b"200":
        line = head.partition(b"\r\n")[0].decode("latin-1")
        raise Unreachable(f"the proxy refused a tunnel to {target}: {line}", sent=False)
