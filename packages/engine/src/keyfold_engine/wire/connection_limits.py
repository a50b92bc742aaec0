"""A worker's connections: their number, their memory budget, and which are closed first."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from keyfold_engine.wire import answer
from keyfold_engine.wire.settings import ClientLimits

if TYPE_CHECKING:
    from keyfold_engine.wire.front import FrontDoor
    from keyfold_engine.wire.listener import Handshake
    from keyfold_engine.wire.metrics import Metrics
    from keyfold_engine.wire.protocol import Connection

# A client counts as slow only after this time.
_SLOW_SECONDS = 1.0


class ConnectionRegistry:
    """A worker's connections, their budget, and a clock that ticks once a second.

    The budget counts the bytes of unanswered requests and unsent answers. Requests beyond it are
    refused, unless closing the slowest client makes room.
    """

    def __init__(self, front: FrontDoor, limits: ClientLimits, metrics: Metrics) -> None:
        self.front, self.limits, self.metrics = front, limits, metrics
        self.request_id = answer.request_ids()
        self.open: set[Connection] = set()
        self.handshakes: dict[Handshake, float] = {}
        """TLS connections that have not shown who they are, and since when."""
        self.now = 0.0
        self.draining = False
        self._held = 0
        self._was_large = False

    def tick(self, now: float) -> None:
        """Update the clock and close connections that timed out."""
        self.now = now
        for connection in list(self.open):
            if connection.deadline and now > connection.deadline:
                connection.expire()
            else:
                connection.probe()

    def drain(self) -> None:
        """Answer requests in progress, then close; idle connections close at once."""
        self.draining = True
        for handshake in list(self.handshakes):
            handshake.drop()
        for connection in list(self.open):
            connection.close_when_idle()

    def admits(self) -> bool:
        """Whether one more connection is allowed."""
        if not self.draining and (
            len(self.open) + len(self.handshakes) < self.limits.connections or self._close_slowest()
        ):
            return True
        self.metrics.add("refused_connections", 1)
        return False

    def has_room_for_handshake(self) -> bool:
        """Whether one more handshake is allowed, if necessary after closing the slowest."""
        if len(self.handshakes) < self.limits.handshakes:
            return True
        slowest, since = next(iter(self.handshakes.items()))
        # Many may wait for this one, so the clock's tick is too coarse.
        now = monotonic()
        if since <= now - _SLOW_SECONDS:
            if slowest.has_unread:
                # A busy worker has not read yet what it sent: others may be slower.
                del self.handshakes[slowest]
                self.handshakes[slowest] = now
            else:
                self._drop(slowest, since, now)
        return len(self.handshakes) < self.limits.handshakes

    def end_handshake(self, handshake: Handshake) -> None:
        if self.handshakes.pop(handshake, None) is not None:
            self.note_large()

    def enter(self, connection: Connection) -> None:
        self.open.add(connection)
        self.metrics.add("connections", 1)

    def leave(self, connection: Connection) -> None:
        if connection in self.open:
            self.open.discard(connection)
            self.metrics.add("connections", -1)

    def has_room(self, amount: int) -> bool:
        """Whether the budget has room for more bytes, if necessary after closing others."""
        while self._held + amount > self.limits.held_bytes:
            if not self._close_slowest(holding=True):
                return False
        return True

    def hold(self, amount: int) -> None:
        """Add bytes to the budget in use; negative numbers release them."""
        self._held += amount
        self.note_large()

    def note_large(self) -> None:
        """Note a large request or answer: memory can be returned once it is done."""
        self._was_large = True

    def is_calm_again(self) -> bool:
        """Whether large requests or answers occurred since the last call, and all are done."""
        calm = self._was_large and not self._held
        if calm:
            self._was_large = False
        return calm

    def _close_slowest(self, *, holding: bool = False) -> bool:
        """Close the slowest client; returns whether there was one."""
        waits: list[tuple[float, Connection | Handshake]] = [
            (connection.waits_since, connection)
            for connection in self.open
            if connection.waits_since and (connection.held_bytes or not holding)
        ]
        if not holding:
            waits += [(since, handshake) for handshake, since in self.handshakes.items()]
        since, slowest = min(waits, key=lambda each: each[0], default=(self.now, None))
        return slowest is not None and self._drop(slowest, since, self.now)

    def _drop(self, slowest: Connection | Handshake, since: float, now: float) -> bool:
        """Close a client that is slow; returns whether it is."""
        if since > now - _SLOW_SECONDS:
            return False
        self.metrics.add("slow_clients", 1)
        slowest.drop()
        return True
