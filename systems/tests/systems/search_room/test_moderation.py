"""What is reported in Search Room, and what becomes of it."""

from __future__ import annotations

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, Invalid, PageRequest
from keyfold.streams import AsyncConsumer
from keyfold_systems.search_room.entities import Listing, Person, Room
from tests.systems.conftest import Recorder
from tests.systems.suspension import check_suspension

from .conftest import INES, JONAS, MIA, Home

MO, ROOT = Identity.of("mo", "moderator"), Identity.of("root", "admin")
PAGE = PageRequest(limit=10)


async def test_a_removed_listing_is_gone_and_noted(home: Home, db: AsyncDb) -> None:
    flat = await home.listing("7", title="Send money first")
    place = f"{home.room.room_id}/{flat.listing_id}"
    await home.service.report("listing", place, "A fraud", caller=JONAS)
    [waiting] = await home.service.reports(PAGE)
    assert (waiting.owner_id, waiting.excerpt) == ("mia", "Send money first")
    await home.service.decide("listing", place, "remove", "A fraud", caller=MO)
    assert [one async for one in db.scan(Listing)] == []
    assert (await home.service.reports(PAGE)).items == []
    [entry] = await home.service.audit(PAGE)
    assert (entry.by, entry.subject) == ("mo", f"listing {place}")
    # Its id on the platform is free again.
    await home.listing("7")


async def test_only_members_report_what_is_in_a_room(home: Home) -> None:
    with pytest.raises(Invalid, match="unknown room"):
        await home.service.report("room", home.room.room_id, "Spam", caller=INES)


async def test_a_removed_room_leaves_every_members_list(home: Home, db: AsyncDb) -> None:
    await home.service.report("room", home.room.room_id, "Spam", caller=JONAS)
    await home.service.decide("room", home.room.room_id, "remove", "Spam", caller=MO)
    await AsyncConsumer(db).drain()
    assert [one async for one in db.scan(Room)] == []
    told = (await home.service.notifications("mia", PAGE))[0]
    assert (told.type, told.text, told.room_id) == (
        "ContentRemoved",
        f"{home.room.name}: Spam",
        None,
    )
    assert (await home.service.rooms("jonas", PAGE)).items == []


async def test_an_administrator_removes_a_person_with_all_that_is_theirs(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    await home.service.report("person", "jonas", "Spam", caller=MIA)
    await home.service.report("person", "ines", "Spam", caller=JONAS)
    await home.service.decide("person", "jonas", "remove", "Abuse", caller=ROOT)
    await AsyncConsumer(db).drain()
    assert sorted([one.user_id async for one in db.scan(Person)]) == ["ines", "mia"]
    assert (await home.service.reports(PAGE)).items == []
    left = [one for one in await client.items() if "jonas" in str(one)]
    assert {one["PK"]["S"] for one in left} == {"AUDIT#2031-05"}


async def test_who_is_suspended_reads_and_does_not_write(home: Home) -> None:
    write = "POST", f"/rooms/{home.room.room_id}/messages", {"text": "Hi"}
    await check_suspension(home.service, "jonas", write, f"/rooms/{home.room.room_id}")
