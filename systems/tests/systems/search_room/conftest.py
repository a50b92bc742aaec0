"""Search Room on a recording backend with a clock that stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity
from keyfold_engine.clock import ManualClock
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    CombinedCriteria,
    LatestCriteria,
    Listing,
    Member,
    Room,
    UserCriteria,
)
from keyfold_systems.search_room.payloads import NewCriteria, NewListing, NewRoom
from keyfold_systems.search_room.service import SearchRoom
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import IndexLag, Recorder, recording

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)
MIA, JONAS, INES = (Identity.of(one) for one in ("mia", "jonas", "ines"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW.timestamp())


@pytest.fixture
def table() -> str:
    return "search-room"


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


class Home:
    """A service with a room of Mia's that Jonas is in."""

    def __init__(self, service: SearchRoom) -> None:
        self.service = service
        self.room: Room

    async def open(self) -> Room:
        for who in (MIA, JONAS, INES):
            await self.meet(who)
        new = NewRoom(name="Ours", search_type="rent")
        self.room = await self.service.create_room(new, MIA)
        await self.join(JONAS)
        return self.room

    async def meet(self, who: Identity) -> None:
        """Somebody who can be asked into rooms."""
        await self.service.save_profile(who.id, who.id.capitalize())

    async def join(self, who: Identity) -> Member:
        await self.meet(who)
        await self.service.invite(self.room.room_id, who.id, MIA)
        return await self.service.join(self.room.room_id, who)

    async def listing(self, external_id: str | None = None, **values: Any) -> Listing:
        given = {"source_brand": "homegate", "title": "Flat", "external_id": external_id, **values}
        new = NewListing.model_validate(given)
        return await self.service.add_listing(self.room.room_id, new, MIA)

    async def wish(self, who: Identity, **wishes: Any) -> Any:
        new = NewCriteria(criteria=wishes)
        return await self.service.save_criteria(self.room.room_id, new, who)


@pytest.fixture
async def home(db: AsyncDb) -> Home:
    opened = Home(SearchRoom(db))
    await opened.open()
    return opened


def most(criteria: UserCriteria | LatestCriteria | CombinedCriteria) -> object:
    """The highest price that somebody looks for."""
    price = criteria.criteria["price"]
    assert isinstance(price, Span)
    return price.max


async def in_rooms(client: Recorder) -> list[dict[str, Any]]:
    """All that is stored but for who people are."""
    return [one for one in await client.items() if one["SK"]["S"] != "PROFILE"]
