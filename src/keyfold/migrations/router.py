"""How an application follows a migration: it asks a router which side to use.

    async with router.writing(caller.id) as side:
        store = stores[side]

The router reads the migration's state and acts by it for a fraction of a second. While writes
change sides they wait; nothing fails. Who has just written reads from the side that was written
to until the copy has arrived, so everybody sees their own writes.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from keyfold.clients.protocol import AsyncClient
from keyfold.clock import Clock, SystemClock
from keyfold.errors import ConditionFailed, TableNotFound, Unavailable
from keyfold.migrations.migration import Side
from keyfold.migrations.runner import ROUTER_LEASE, ROUTER_REFRESH
from keyfold.migrations.state import CAUGHT_UP, SUPPORT, State, part_key, state_attributes

STALE_SECONDS: Final = 5.0
"""When copying is behind by more than this, reads go to the side that is written."""
PATIENCE_SECONDS: Final = 15.0
"""How long writes wait while they change sides, before they go back to where they were."""
_REMEMBERED: Final = 10_000
_MARGIN: Final = 1.0
"""Clocks of two machines may differ by this much."""


class Router:
    """Says which side of a migration to read and to write."""

    def __init__(
        self, client: AsyncClient, migration: str, *, prefix: str = "", clock: Clock | None = None
    ) -> None:
        self._client, self._name = client, migration
        self._table = f"{prefix}{SUPPORT.name}"
        self._clock = clock or SystemClock()
        self._id = f"router:{uuid.uuid4()}"
        self._state = State()
        self._read_at = float("-inf")
        self._caught_up = 0.0
        self._acknowledged = -1
        self._lease_until = 0.0
        self._running: dict[int, int] = {}
        self._wrote: dict[str, float] = {}
        self._refreshing = asyncio.Lock()

    @asynccontextmanager
    async def reading(self, caller: str = "") -> AsyncIterator[Side]:
        """The side to read from."""
        state = await self._refresh()
        with _Counted(self._running, state.epoch):
            yield self._side_to_read(state, caller)

    @asynccontextmanager
    async def writing(self, caller: str = "") -> AsyncIterator[Side]:
        """The side to write to, and to read from for the sake of a write."""
        state = await self._open_state()
        with _Counted(self._running, state.epoch):
            try:
                yield state.writes
            finally:
                if caller and state.active:
                    self._remember(caller)

    def _side_to_read(self, state: State, caller: str) -> Side:
        if state.reads == state.writes:
            return state.reads
        if self._clock.now() - self._caught_up > STALE_SECONDS:
            return state.writes
        wrote = self._wrote.get(caller)
        if wrote is not None:
            if wrote + _MARGIN >= self._caught_up:
                return state.writes
            del self._wrote[caller]
        return state.reads

    def _remember(self, caller: str) -> None:
        """Also before reads switch: the last write may still be on its way when they do."""
        now = self._clock.now()
        self._wrote[caller] = now
        if len(self._wrote) > _REMEMBERED:
            recent = now - STALE_SECONDS - _MARGIN
            self._wrote = {who: at for who, at in self._wrote.items() if at > recent}

    async def _open_state(self) -> State:
        waited = 0.0
        while True:
            state = await self._refresh()
            if not state.closed:
                return state
            if waited > PATIENCE_SECONDS:
                await self._open_again(state)
            if waited > 2 * PATIENCE_SECONDS:
                raise Unavailable(f"the migration {self._name} does not let writes through")
            await asyncio.sleep(ROUTER_REFRESH / 5)
            waited += ROUTER_REFRESH / 5

    async def _refresh(self) -> State:
        if self._clock.now() - self._read_at < ROUTER_REFRESH and not self._state.closed:
            return self._state
        async with self._refreshing:
            if self._clock.now() - self._read_at >= ROUTER_REFRESH / 5:
                await self._read()
        return self._state

    async def _read(self) -> None:
        asked = self._clock.now()
        try:
            self._state = State.read(await self._get("state"))
        except TableNotFound:
            self._state = State()
        if self._state.active:
            if self._state.reads != self._state.writes:
                item = await self._get(CAUGHT_UP)
                self._caught_up = float(item["at"]["N"]) if item else 0.0
            await self._acknowledge()
        self._read_at = asked

    async def _acknowledge(self) -> None:
        """Say by which epoch everything here runs: the oldest one still in use."""
        oldest = min((epoch for epoch, count in self._running.items() if count), default=None)
        epoch = self._state.epoch if oldest is None else min(oldest, self._state.epoch)
        now = self._clock.now()
        if epoch == self._acknowledged and now < self._lease_until - ROUTER_LEASE / 2:
            return
        item = {
            **part_key(self._name, self._id),
            "epoch": {"N": str(epoch)},
            "until": {"N": repr(now + ROUTER_LEASE)},
        }
        await self._client.call("PutItem", {"TableName": self._table, "Item": item})
        self._acknowledged, self._lease_until = epoch, now + ROUTER_LEASE

    async def _open_again(self, state: State) -> None:
        """The migrator is gone in the middle of the switch: writes stay where they were."""
        opened = replace(state, closed=False, epoch=state.epoch + 1)
        request: dict[str, Any] = {
            "TableName": self._table,
            "Item": {**part_key(self._name, "state"), **state_attributes(opened)},
            "ConditionExpression": "epoch = :before",
            "ExpressionAttributeValues": {":before": {"N": str(state.epoch)}},
        }
        try:
            await self._client.call("PutItem", request)
        except ConditionFailed:
            return

    async def _get(self, part: str) -> dict[str, Any] | None:
        request = {
            "TableName": self._table,
            "Key": part_key(self._name, part),
            "ConsistentRead": True,
        }
        found: dict[str, Any] | None = (await self._client.call("GetItem", request)).get("Item")
        return found


class _Counted:
    """Counts what runs under an epoch."""

    def __init__(self, running: dict[int, int], epoch: int) -> None:
        self._running, self._epoch = running, epoch

    def __enter__(self) -> None:
        self._running[self._epoch] = self._running.get(self._epoch, 0) + 1

    def __exit__(self, *_: object) -> None:
        self._running[self._epoch] -= 1
        if not self._running[self._epoch]:
            del self._running[self._epoch]
