"""The pass over criteria that were written without retention."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from keyfold import AsyncDb, create
from keyfold_web import PageRequest
from keyfold_engine.clock import ManualClock
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    SUPERSEDED_CRITERIA_DAYS,
    Member,
    Role,
    Room,
    UserCriteria,
)
from keyfold_systems.search_room.patterns import latest_user_criteria
from keyfold_systems.search_room.retention import (
    BACKEND,
    SCHEDULE,
    Pass,
    handler,
    main,
    run,
    tidy,
)
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import Recorder

from .conftest import JONAS, MIA, NOW, Home, most

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


async def test_what_somebody_who_left_looked_for_goes(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    await home.wish(JONAS, price={"max": 1})
    (item,) = [x for x in await client.items() if x["SK"]["S"] == "CRITERIA_LATEST#jonas"]
    await home.service.leave(home.room.room_id, JONAS.id, JONAS)
    await client.call("PutItem", {"TableName": f"{client.prefix}search-room", "Item": item})
    await tidy(db)
    assert await latest_user_criteria(db, home.room.room_id, "jonas") is None


async def test_what_is_said_during_the_pass_stays_the_latest(home: Home, db: AsyncDb) -> None:
    await fill(home, db, "mia")
    passing = Pass(db)
    old = await home.service.criteria_history(home.room.room_id, "mia", PAGE)
    for one in old:
        await passing.look(one)
    said = await home.wish(MIA, price={"max": 99})
    await passing.look(said)
    page = await home.service.criteria_history(home.room.room_id, "mia", PAGE)
    assert [one.expires_at is None for one in page] == [True, False, False, False, False]


def filled(path: Path) -> None:
    """A table from before, on a file."""
    with design.open(str(path)) as db:
        room = Room(room_id="r", name="Ours", created_by_user_id="mia", search_type="rent")
        owner = Member(room_id="r", user_id="mia", role=Role.OWNER, room_name="Ours")
        db.transact(create(room), create(owner))
        for day in (1, 2, 3):
            db.create(
                UserCriteria(
                    room_id="r",
                    user_id="mia",
                    timestamp=NOW - timedelta(days=day),
                    criteria_id="0",
                    criteria={},
                )
            )


def test_the_clean_up_is_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path / "rooms.db")
    main([str(tmp_path / "rooms.db")])
    main([str(tmp_path / "rooms.db")])
    first, second = capsys.readouterr().out.splitlines()
    assert (first[:1], second[:1]) == ("2", "0")


def test_the_clean_up_is_a_handler_for_a_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "rooms.db")
    monkeypatch.setenv(BACKEND, str(tmp_path / "rooms.db"))
    assert handler({"source": "aws.events"}, None) == {"ended": 2}
    assert handler({"source": "aws.events"}, None) == {"ended": 0}
    assert SCHEDULE == "rate(1 day)"


async def test_every_day_until_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "rooms.db")
    slept: list[float] = []

    async def night(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", night)
    with pytest.raises(asyncio.CancelledError):
        await run(str(tmp_path / "rooms.db"), daily=True)
    assert slept == [86400.0] * 3
