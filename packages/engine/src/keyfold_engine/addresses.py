"""The addresses that servers listen on."""

from __future__ import annotations

import socket

from keyfold_engine.errors import KeyfoldError


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host in ("localhost", "127.0.0.1", "::1"):
        return True
    # Servers rarely listen elsewhere.
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def open_port(
    host: str, port: int, *, option: str = "--port", shared: bool = False
) -> socket.socket:
    """A listening socket for a command; what prevents it is said with the option that chooses the
    port.
    """
    try:
        return listening_socket(host, port, shared=shared)
    except socket.gaierror as error:
        raise KeyfoldError(f"no address for host {host}: {error.strerror}") from None
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "choose 0 to 65535"
        raise KeyfoldError(
            f"cannot listen on {host} port {port} ({reason}); choose another: {option} NUMBER"
        ) from None


def listening_socket(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket bound to a host and port, `shared` with other processes.

    Raises OSError, or OverflowError for an impossible port.

    Its connections send small answers at once, also under asyncio, which looks at the protocol.
    """
    if not 0 <= port <= 65535:
        # The system would take its last 16 bits.
        raise OverflowError(f"Invalid port {port}: choose 0 to 65535.")
    # As bytes: for text Python would load its IDNA tables.
    name = host.encode() if host.isascii() else host
    [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
        name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(address)
    except BaseException:
        listener.close()
        raise
    return listener
