"""The pass over criteria that were written without retention."""

from __future__ import annotations

from datetime import timedelta

from keyfold import AsyncDb
from keyfold.api import PageRequest
from keyfold.clock import ManualClock
from keyfold_systems.search_room.entities import SUPERSEDED_CRITERIA_DAYS, UserCriteria
from keyfold_systems.search_room.patterns import latest_user_criteria
from keyfold_systems.search_room.retention import tidy
from keyfold_systems.search_room.wishes import Span

from .conftest import MIA, NOW, Home, most

PAGE = PageRequest(limit=50)


async def fill(home: Home, db: AsyncDb, user: str) -> None:
    for day in (3, 1, 4, 2):
        criteria = UserCriteria(
            room_id=home.room.room_id,
            user_id=user,
            timestamp=NOW - timedelta(days=day),
            criteria_id="0",
            criteria={"price": Span(max=day)},
        )
        await db.create(criteria)


async def test_the_latest_stays_and_all_others_get_an_end(home: Home, db: AsyncDb) -> None:
    await fill(home, db, "jonas")
    assert await tidy(db) == 3
    latest = await latest_user_criteria(db, home.room.room_id, "jonas")
    assert latest is not None
    assert most(latest) == 1
    page = await home.service.criteria_history(home.room.room_id, "jonas", PAGE)
    end = NOW + timedelta(days=SUPERSEDED_CRITERIA_DAYS)
    assert [one.expires_at for one in page] == [None, end, end, end]


async def test_it_can_be_repeated_and_moves_no_end(
    home: Home, db: AsyncDb, clock: ManualClock
) -> None:
    await fill(home, db, "jonas")
    await tidy(db)
    clock.advance(3600)
    assert await tidy(db) == 0


async def test_what_was_said_since_then_stays_the_latest(home: Home, db: AsyncDb) -> None:
    await fill(home, db, "mia")
    await home.wish(MIA, price={"max": 99})
    await tidy(db)
    latest = await latest_user_criteria(db, home.room.room_id, "mia")
    assert latest is not None
    assert most(latest) == 99


async def test_who_left_has_no_latest(home: Home, db: AsyncDb) -> None:
    await fill(home, db, "ines")
    await tidy(db)
    assert await latest_user_criteria(db, home.room.room_id, "ines") is None
