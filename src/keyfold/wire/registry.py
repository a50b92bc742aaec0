"""The connections of a worker: how many there may be, what they may hold, and who goes first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from keyfold.wire import answer
from keyfold.wire.settings import ClientLimits

if TYPE_CHECKING:
    from keyfold.wire.metrics import Metrics
    from keyfold.wire.protocol import Connection, WireRequest

# Who has kept the server waiting for less is not yet slow.
_SLOW_SECONDS = 1.0


class Front(Protocol):
    """Whoever answers requests, now or later, by `request.connection.reply`."""

    def handle(self, request: WireRequest) -> None: ...


class ConnectionRegistry:
    """The connections of a worker, their budget, and a coarse clock that ticks once a second.

    The budget is one number of bytes for requests that are not answered yet and answers that are
    not taken yet. What it has no room for is refused, unless closing the slowest client makes room.
    """

    def __init__(self, front: Front, limits: ClientLimits, metrics: Metrics) -> None:
        self.front, self.limits, self.metrics = front, limits, metrics
        self.request_id = answer.request_ids()
        self.open: set[Connection] = set()
        self.handshakes: dict[asyncio.Task[None], float] = {}
        """TLS connections that have not shown who they are, and since when."""
        self.now = 0.0
        self.draining = False
        self._held = 0
        self._was_large = False

    def tick(self, now: float) -> None:
        """Note the time and end the connections whose time is up."""
        self.now = now
        for connection in list(self.open):
            if connection.deadline and now > connection.deadline:
                connection.expire()
            else:
                connection.probe()

    def drain(self) -> None:
        """Answer what is under way, then close; idle connections close at once."""
        self.draining = True
        for handshake in list(self.handshakes):
            handshake.cancel()
        for connection in list(self.open):
            connection.close_when_idle()

    def admits(self) -> bool:
        """Whether one more connection may come in."""
        if not self.draining and (
            len(self.open) + len(self.handshakes) < self.limits.connections or self._close_slowest()
        ):
            return True
        self.metrics.add("refused_connections", 1)
        return False

    def enter(self, connection: Connection) -> None:
        self.open.add(connection)
        self.metrics.add("connections", 1)

    def leave(self, connection: Connection) -> None:
        if connection in self.open:
            self.open.discard(connection)
            self.metrics.add("connections", -1)

    def has_room(self, amount: int) -> bool:
        """Whether the budget has room for more bytes, if need be after closing others."""
        while self._held + amount > self.limits.held_bytes:
            if not self._close_slowest(holding=True):
                return False
        return True

    def hold(self, amount: int) -> None:
        """Bytes that are held from now on; less than nothing gives them back."""
        self._held += amount
        self.note_large()

    def note_large(self) -> None:
        """Something large came or goes: the allocator has a lot once it is over."""
        self._was_large = True

    def is_calm_again(self) -> bool:
        """Whether large requests or answers came since this was asked, and all have gone."""
        calm = self._was_large and not self._held
        if calm:
            self._was_large = False
        return calm

    def _close_slowest(self, *, holding: bool = False) -> bool:
        """Close whoever keeps the server waiting longest; whether there was anybody."""
        waits: list[tuple[float, Connection | asyncio.Task[None]]] = [
            (connection.waits_since, connection)
            for connection in self.open
            if connection.waits_since and (connection.held or not holding)
        ]
        if not holding:
            waits += [(since, task) for task, since in self.handshakes.items()]
        since, slowest = min(waits, key=lambda each: each[0], default=(self.now, None))
        if slowest is None or since > self.now - _SLOW_SECONDS:
            return False
        self.metrics.add("slow_clients", 1)
        if isinstance(slowest, asyncio.Task):
            del self.handshakes[slowest]
            slowest.cancel()
        else:
            slowest.drop()
        return True
