"""Inviter on a recording engine with a clock that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyfold import AsyncDb, new_ulid
from keyfold_web import Identity
from keyfold_engine.clock import ManualClock
from keyfold.streams import AsyncConsumer
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Group, Hangout
from keyfold_systems.inviter.payloads import NewHangout
from keyfold_systems.inviter.service import Inviter
from tests.systems.conftest import IndexLag, Recorder, recording

NOW = datetime(2031, 8, 9, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW.timestamp())


@pytest.fixture
def table() -> str:
    return "InviterTable"


@pytest.fixture
def index_lag() -> IndexLag:
    return None


@pytest.fixture
async def client(clock: ManualClock, table: str, index_lag: IndexLag) -> AsyncIterator[Recorder]:
    async with recording(table, clock, index_lag=index_lag) as opened:
        yield opened


@pytest.fixture
async def db(client: Recorder, clock: ManualClock) -> AsyncIterator[AsyncDb]:
    opening = design.open_async(client, clock=clock, on_loop="raise", table_prefix=client.prefix)
    async with await opening as opened:
        yield opened


class Town:
    """A service with a few people in it."""

    def __init__(self, service: Inviter) -> None:
        self.service = service
        self.ada, self.ben, self.cleo = (Identity.of(one) for one in ("ada", "ben", "cleo"))

    async def settle(self) -> Group:
        for one in (self.ada, self.ben, self.cleo):
            await self.service.save_user(one.id, f"{one.id.title()} A")
        group = await self.service.create_group("Runners", self.ada)
        await self.service.join_group(group.group_id, self.ben)
        return group

    async def drain(self) -> None:
        """Let the stream do what it has to."""
        await AsyncConsumer(self.service.db).drain()

    async def hangout(self, group: Group, hours: int = 24, **values: Any) -> Hangout:
        starts = NOW + timedelta(hours=hours)
        given = {
            "title": "Run",
            "starts_at": starts,
            "ends_at": starts + timedelta(hours=2),
            "group_ids": {group.group_id},
            **values,
        }
        if hours < 0:
            # Planned when it still was to come.
            guests = given.pop("user_ids", set()) | {"ada"}
            past = Hangout(
                hangout_id=new_ulid(), host_id="ada", host_name="Ada A", user_ids=guests, **given
            )
            return await self.service.db.create(past)
        return await self.service.create_hangout(NewHangout.model_validate(given), self.ada)


@pytest.fixture
def town(db: AsyncDb) -> Town:
    return Town(Inviter(db))
