"""How an application follows a migration: it asks a router which side to use.

    async with router.writing(caller.id) as side:
        store = stores[side]

The router reads the migration's state and acts by it for a fraction of a second. While writes
change sides they wait; nothing fails. Who has just written reads from the side that was written
to until the copy has arrived, so everybody sees their own writes.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, Final

from keyfold_engine.clients.protocol import AsyncClient, Client
from keyfold_engine.clock import Clock, SystemClock
from keyfold.errors import ConditionFailed, TableNotFound, Unavailable
from keyfold.migrations.applications import ROUTER_LEASE, ROUTER_REFRESH
from keyfold.migrations.migration import Side
from keyfold.migrations.state import (
    CAUGHT_UP,
    SUPPORT,
    SWITCHING,
    State,
    part_key,
    state_attributes,
)
from keyfold.runtime.flow import Answer, Call, Flow, drive, drive_async

STALE_SECONDS: Final = 5.0
"""If copying lags by more than this, reads go to the side that is written."""
PATIENCE_SECONDS: Final = 15.0
"""How long writes wait during a switch, unless the migrator asks for less."""
SILENCE_SECONDS: Final = 0.75
"""How long they wait for a silent migrator."""
MARGIN_SECONDS: Final = 1.0
"""The assumed clock difference of two machines."""
_REMEMBERED: Final = 10_000


class Routing:
    """A router's knowledge and decisions, without I/O."""

    def __init__(self, migration: str, prefix: str, clock: Clock, *, doubles: bool = False) -> None:
        self.name, self.clock, self.doubles = migration, clock, doubles
        self.state = State()
        self._table = f"{prefix}{SUPPORT.name}"
        self._id = f"router:{uuid.uuid4()}"
        self._read_at = float("-inf")
        self._caught_up = 0.0
        self._acknowledged = -1
        self._lease_until = 0.0
        self._running: dict[int, int] = {}
        self._wrote: dict[str, float] = {}
        self._beat: object = None
        self._beat_at = float("-inf")
        self._patience: float | None = None

    def is_fresh(self) -> bool:
        """Whether the state is recent enough to act on."""
        age = self.clock.now() - self._read_at
        return age < (ROUTER_REFRESH / 5 if self.state.closed else ROUTER_REFRESH)

    def side_to_read(self, state: State, caller: str) -> Side:
        if state.reads == state.writes:
            return state.reads
        if self.clock.now() - self._caught_up > STALE_SECONDS:
            return state.writes
        wrote = self._wrote.get(caller)
        if wrote is not None and wrote + MARGIN_SECONDS >= self._caught_up:
            return state.writes
        return state.reads

    def remember(self, state: State, caller: str) -> None:
        """Also before reads switch: the last write may still be in flight."""
        if not caller or not state.active:
            return
        now = self.clock.now()
        self._wrote[caller] = now
        if len(self._wrote) > _REMEMBERED:
            recent = now - STALE_SECONDS - MARGIN_SECONDS
            self._wrote = {who: at for who, at in self._wrote.items() if at > recent}

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
            self.state = State.read((yield from self._get("state")))
        except TableNotFound:
            self.state = State()
        if self.state.closed:
            yield from self._listen()
        if self.state.active:
            if self.state.reads != self.state.writes:
                item = yield from self._get(CAUGHT_UP)
                self._caught_up = float(item["at"]["N"]) if item else 0.0
            yield from self._acknowledge()
        self._read_at = asked

    def open_again(self, state: State) -> Flow[None]:
        """The migrator died during the switch: writes stay where they were."""
        opened = replace(state, closed=False, epoch=state.epoch + 1)
        request = {
            "TableName": self._table,
            "Item": {**part_key(self.name, "state"), **state_attributes(opened)},
            "ConditionExpression": "epoch = :before",
            "ExpressionAttributeValues": {":before": {"N": str(state.epoch)}},
        }
        try:
            yield Call("PutItem", request)
        except ConditionFailed:
            return

    def has_waited_enough(self, seconds: float) -> bool:
        """Whether writes have waited long enough to go back; too long is an error."""
        if seconds > 2 * PATIENCE_SECONDS:
            raise Unavailable(f"the migration {self.name} blocks writes")
        silent = self._beat is not None and time.monotonic() - self._beat_at > SILENCE_SECONDS
        return silent or seconds > (self._patience or PATIENCE_SECONDS)

    def _listen(self) -> Flow[None]:
        """Whether the migrator that holds writes back is still alive."""
        beat = yield from self._get(SWITCHING)
        if beat != self._beat:
            self._beat, self._beat_at = beat, time.monotonic()
            self._patience = float(beat["patience"]["N"]) if beat else None

    def _acknowledge(self) -> Flow[None]:
        """Report the oldest epoch still in use here."""
        epoch = min([*self._running, self.state.epoch])
        now = self.clock.now()
        if epoch == self._acknowledged and now < self._lease_until - ROUTER_LEASE / 2:
            return
        item = {
            **part_key(self.name, self._id),
            "epoch": {"N": str(epoch)},
            "until": {"N": repr(now + ROUTER_LEASE)},
        }
        if self.doubles:
            item["doubles"] = {"BOOL": True}
        yield Call("PutItem", {"TableName": self._table, "Item": item})
        self._acknowledged, self._lease_until = epoch, now + ROUTER_LEASE

    def _get(self, part: str) -> Flow[dict[str, Any] | None]:
        key = part_key(self.name, part)
        answer: Answer = yield Call(
            "GetItem", {"TableName": self._table, "Key": key, "ConsistentRead": True}
        )
        return answer.get("Item")


class Router:
    """Chooses the side of a migration to read and write, on an event loop."""

    def __init__(
        self, client: AsyncClient, migration: str, *, prefix: str = "", clock: Clock | None = None
    ) -> None:
        self._client = client
        self._routing = Routing(migration, prefix, clock or SystemClock())
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def reading(self, caller: str = "") -> AsyncIterator[Side]:
        """The side to read from."""
        state = await self._state()
        self._routing.begin(state)
        try:
            yield self._routing.side_to_read(state, caller)
        finally:
            self._routing.end(state)

    @asynccontextmanager
    async def writing(self, caller: str = "") -> AsyncIterator[Side]:
        """The side to write to, and to read from for the sake of a write."""
        started = time.monotonic()
        while (state := await self._state()).closed:
            if self._routing.has_waited_enough(time.monotonic() - started):
                await self._run(self._routing.open_again(state))
            await asyncio.sleep(ROUTER_REFRESH / 5)
        self._routing.begin(state)
        try:
            yield state.writes
        finally:
            self._routing.remember(state, caller)
            self._routing.end(state)

    async def _state(self) -> State:
        if not self._routing.is_fresh():
            async with self._lock:
                if not self._routing.is_fresh():
                    await self._run(self._routing.refresh())
        return self._routing.state

    async def _run(self, flow: Flow[None]) -> None:
        async def call(one: Call) -> Answer:
            return await self._client.call(one.operation, one.request)

        await drive_async(flow, call)


class SyncRouter:
    """`Router` for threads."""

    def __init__(
        self, client: Client, migration: str, *, prefix: str = "", clock: Clock | None = None
    ) -> None:
        self._client = client
        self._routing = Routing(migration, prefix, clock or SystemClock())
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, caller: str = "") -> Iterator[Side]:
        """The side to read from."""
        with self._lock:
            state = self._state()
            self._routing.begin(state)
            side = self._routing.side_to_read(state, caller)
        try:
            yield side
        finally:
            with self._lock:
                self._routing.end(state)

    @contextmanager
    def writing(self, caller: str = "") -> Iterator[Side]:
        """The side to write to, and to read from for the sake of a write."""
        state = self._begin_to_write()
        try:
            yield state.writes
        finally:
            with self._lock:
                self._routing.remember(state, caller)
                self._routing.end(state)

    def _begin_to_write(self) -> State:
        started = time.monotonic()
        while True:
            with self._lock:
                state = self._state()
                if not state.closed:
                    self._routing.begin(state)
                    return state
                if self._routing.has_waited_enough(time.monotonic() - started):
                    self._run(self._routing.open_again(state))
            time.sleep(ROUTER_REFRESH / 5)

    def _state(self) -> State:
        if not self._routing.is_fresh():
            self._run(self._routing.refresh())
        return self._routing.state

    def _run(self, flow: Flow[None]) -> None:
        drive(flow, lambda one: self._client.call(one.operation, one.request))
