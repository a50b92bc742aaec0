"""What a following application knows of a migration's state, and what it reports."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, Final

from keyfold.errors import KeyfoldError, TableNotFound, Unavailable
from keyfold.migrations.applications import ROUTER_LEASE, ROUTER_REFRESH
from keyfold.migrations.state import CAUGHT_UP, SUPPORT, State, part_key
from keyfold.runtime.flow import Answer, Call, Flow, Pause
from keyfold_engine.clock import Clock

MARGIN_SECONDS: Final = 1.0
"""What is assumed of the lag of a stream and of the clocks of two machines."""
_TRIES: Final = 40


def wait_for_copies(migration: str, prefix: str, clock: Clock) -> Flow[None]:
    """Wait until the new side has what the old one has now, as long as the old one is written.

    An item that is missing may only not have been copied yet.
    """
    table, since = f"{prefix}{SUPPORT.name}", clock.now() + MARGIN_SECONDS
    for attempt in range(_TRIES):
        try:
            state = State.read((yield from _stored(table, migration, "state")))
        except TableNotFound:
            return
        if not state.active or state.writes == "new":
            return
        reached = yield from _stored(table, migration, CAUGHT_UP)
        if reached is not None and float(reached["at"]["N"]) >= since:
            return
        yield Pause(0.05 * min(attempt + 1, 5))
    raise Unavailable(
        f"{migration}: an item that is missing here may not have been copied yet. Keep copying "
        "while applications follow: keyfold migrations apply --follow"
    )


def _stored(table: str, migration: str, part: str) -> Flow[dict[str, Any] | None]:
    request = {"TableName": table, "Key": part_key(migration, part), "ConsistentRead": True}
    answer: Answer = yield Call("GetItem", request, excused=True)
    return answer.get("Item")


class Routing:
    """One process's view of a migration, without I/O: it acts on the state it read last for a
    fraction of a second, and reports the oldest one that it still acts on.
    """

    def __init__(self, migration: str, prefix: str, clock: Clock) -> None:
        self.name, self.clock = migration, clock
        self.state = State()
        self._table = f"{prefix}{SUPPORT.name}"
        self._id = f"router:{uuid.uuid4()}"
        self._read_at = float("-inf")
        self._acknowledged = -1
        self._lease_until = 0.0
        self._running: dict[int, int] = {}

    def is_fresh(self) -> bool:
        """Whether the state is recent enough to act on."""
        return self.clock.now() - self._read_at < ROUTER_REFRESH

    def begin(self, state: State) -> None:
        """An operation starts under the state's epoch."""
        self._running[state.epoch] = self._running.get(state.epoch, 0) + 1

    def end(self, state: State) -> None:
        self._running[state.epoch] -= 1
        if not self._running[state.epoch]:
            del self._running[state.epoch]

    def refresh(self) -> Flow[None]:
        asked = self.clock.now()
        try:
            self.state = State.read((yield from _stored(self._table, self.name, "state")))
        except TableNotFound:
            self.state = State()
        if self.state.active:
            yield from self._acknowledge()
        self._read_at = asked

    def _acknowledge(self) -> Flow[None]:
        """Report the oldest epoch still in use here."""
        epoch = min([*self._running, self.state.epoch])
        now = self.clock.now()
        if epoch == self._acknowledged and now < self._lease_until - ROUTER_LEASE / 2:
            return
        item = {
            **self._key,
            "epoch": {"N": str(epoch)},
            "until": {"N": repr(now + ROUTER_LEASE)},
        }
        yield Call("PutItem", {"TableName": self._table, "Item": item})
        self._acknowledged, self._lease_until = epoch, now + ROUTER_LEASE

    def leave(self) -> Flow[None]:
        """Withdraw the report, so that a migration does not wait for a process that has ended."""
        if self._acknowledged >= 0:
            with suppress(KeyfoldError):  # A report that stays expires.
                yield Call("DeleteItem", {"TableName": self._table, "Key": self._key})
            self._acknowledged = -1

    @property
    def _key(self) -> dict[str, Any]:
        return part_key(self.name, self._id)
