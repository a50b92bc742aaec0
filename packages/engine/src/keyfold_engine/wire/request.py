"""One complete request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold_engine.wire import answer

if TYPE_CHECKING:
    from keyfold_engine.wire.protocol import Connection


class WireRequest:
    """One complete request, and how to answer it."""

    __slots__ = (
        "body",
        "connection",
        "content_type",
        "extra",
        "headers",
        "held",
        "keep_alive",
        "method",
        "target",
        "url",
    )

    def __init__(
        self,
        connection: Connection,
        method: bytes,
        url: bytes,
        headers: dict[bytes, bytes],
        body: bytes,
        keep_alive: bool,
        held: int,
        target: bytes = b"",
    ) -> None:
        self.connection = connection
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.keep_alive = keep_alive
        self.target = target
        """The operation, if all else of its head is known and was checked."""
        self.held = held
        """Bytes that it takes of the budget."""
        self.content_type = answer.JSON_1_0
        self.extra = b""
        """Header lines of the answer."""
