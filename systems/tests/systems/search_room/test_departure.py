"""People who leave for good, and what they take along."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest, Refused
from keyfold_engine.clock import ManualClock
from keyfold.errors import ConditionFailed, ItemError
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from keyfold_systems.search_room.entities import (
    CombinedCriteria,
    Invitation,
    Member,
    Person,
    Role,
    Room,
)
from keyfold_systems.search_room.payloads import ListingChange, NewListing, NewRoom, RoomChange
from tests.systems.conftest import Recorder

from .conftest import INES, JONAS, MIA, Home

LOFT = NewListing(source_brand="flatfox", title="Loft")
ROOM = NewRoom(name="Another", search_type="buy")


async def lived(home: Home, db: AsyncDb) -> None:
    """Jonas did everything that one can do, in a room he is in and one that he left."""
    service = home.service
    for stays in (False, True):
        await home.open()
        room_id = home.room.room_id
        flat = await home.listing("7")
        mine = await service.add_listing(room_id, LOFT, JONAS)
        for one in (flat, mine):
            await service.mark_seen(room_id, one.listing_id, JONAS)
            await service.vote(room_id, one.listing_id, JONAS, "like")
        await home.wish(JONAS, price={"max": 2000})
        await home.wish(MIA, price={"max": 2400})
        await home.wish(JONAS, price={"max": 2100})
        await service.combine_criteria(room_id, "mixed", JONAS)
        await service.compute_compatibility(room_id, JONAS)
        for number in range(30):
            await service.say(room_id, f"Hi {number}", JONAS)
        await service.change_role(room_id, JONAS.id, Role.OWNER, MIA)
        await service.invite(room_id, INES.id, JONAS)
        await service.create_link(room_id, JONAS)
        if not stays:
            await service.leave(room_id, JONAS.id, JONAS)
    await AsyncConsumer(db).drain()


async def traces(client: Recorder, user_id: str = "jonas") -> list[str]:
    """Where somebody's id still stands."""
    return [one["SK"]["S"] for one in await client.items() if user_id in str(one)]


def said(one: tuple[str, dict[str, Any]]) -> str:
    return str(one[1].get("text", ""))


async def test_nothing_of_somebody_who_left_stays(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    await lived(home, db)
    assert await traces(client) != []
    await home.service.delete_person(JONAS.id)
    await AsyncConsumer(db).drain()
    assert await traces(client) == []
    assert (await db.run(verification(db.context))).clean
    assert {one.user_id async for one in db.scan(Member)} == {"mia"}


async def test_news_that_come_late_name_nobody_who_left(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    """The stream comes to what they did after they are gone."""
    await home.service.say(home.room.room_id, "Bye", JONAS)
    await home.service.delete_person(JONAS.id)
    await AsyncConsumer(db).drain()
    assert await traces(client) == []


async def test_rooms_are_handed_over_or_go(home: Home, db: AsyncDb) -> None:
    room_id = home.room.room_id
    alone = await Home.open(other := Home(home.service))
    await home.service.leave(alone.room_id, JONAS.id, JONAS)
    await home.service.delete_person(MIA.id)
    await AsyncConsumer(db).drain()
    assert await db.find(Room.key(room_id=other.room.room_id)) is None
    handed = await db.get(Member.key(room_id=room_id, user_id=JONAS.id))
    assert handed.role == Role.OWNER
    assert (await db.run(verification(db.context))).clean


async def test_a_departure_that_was_cut_off_goes_on_by_the_stream(
    home: Home,
    db: AsyncDb,
    client: Recorder,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await lived(home, db)
    call, left = client.call, 3

    async def failing(operation: str, request: Any) -> dict[str, Any]:
        nonlocal left
        left -= operation == "TransactWriteItems"
        if left < 0:
            raise asyncio.CancelledError
        return await call(operation, request)

    monkeypatch.setattr(client, "call", failing)
    with pytest.raises(asyncio.CancelledError):
        await home.service.delete_person(JONAS.id)
    monkeypatch.undo()
    assert await traces(client) != []
    clock.advance(3600)
    await AsyncConsumer(db).drain()
    assert await traces(client) == []


async def test_personal_data_is_deleted_until_nothing_is_left(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    await lived(home, db)
    while not (await home.service.delete_personal_data(JONAS.id, JONAS)).done:
        await AsyncConsumer(db).drain()
    assert await traces(client) == []


@pytest.mark.parametrize("answer", ["none", "declined", "withdrawn", "swept", "removed"])
async def test_nothing_stays_of_somebody_who_was_only_asked(
    home: Home, db: AsyncDb, client: Recorder, answer: str
) -> None:
    """Activities and notifications of others name them, also without an invitation."""
    service, room_id = home.service, home.room.room_id
    await service.invite(room_id, INES.id, MIA)
    if answer == "declined":
        await service.decline(INES.id, room_id)
    elif answer == "withdrawn":
        await service.withdraw(room_id, INES.id, MIA)
    elif answer == "removed":
        await service.join(room_id, INES)
        await service.leave(room_id, INES.id, MIA)
    elif answer == "swept":
        await db.delete(Invitation.key(room_id=room_id, user_id=INES.id))
    await AsyncConsumer(db).drain()
    assert await traces(client, INES.id) != []
    await service.delete_person(INES.id)
    await AsyncConsumer(db).drain()
    assert await traces(client, INES.id) == []


WRITES: dict[str, Callable[[Home, str], Awaitable[object]]] = {
    "say": lambda home, _: home.service.say(home.room.room_id, "Hi", JONAS),
    "addListing": lambda home, _: home.service.add_listing(home.room.room_id, LOFT, JONAS),
    "updateListing": lambda home, flat: home.service.update_listing(
        home.room.room_id, flat, ListingChange(title="Loft"), JONAS
    ),
    "deleteListing": lambda home, flat: home.service.delete_listing(home.room.room_id, flat, JONAS),
    "markSeen": lambda home, flat: home.service.mark_seen(home.room.room_id, flat, JONAS),
    "vote": lambda home, flat: home.service.vote(home.room.room_id, flat, JONAS, "like"),
    "saveCriteria": lambda home, _: home.wish(JONAS, price=3),
    "combineCriteria": lambda home, _: home.service.combine_criteria(home.room.room_id, "all", MIA),
    "computeCompatibility": lambda home, _: home.service.compute_compatibility(
        home.room.room_id, JONAS
    ),
    "updateRoom": lambda home, _: home.service.update_room(
        home.room.room_id, RoomChange(name="Hers"), JONAS
    ),
    "changeRole": lambda home, _: home.service.change_role(
        home.room.room_id, MIA.id, Role.MEMBER, JONAS
    ),
    "leave": lambda home, _: home.service.leave(home.room.room_id, JONAS.id, MIA),
    "invite": lambda home, _: home.service.invite(home.room.room_id, INES.id, JONAS),
    "be invited": lambda home, _: home.service.invite(home.room.room_id, JONAS.id, MIA),
    "createLink": lambda home, _: home.service.create_link(home.room.room_id, JONAS),
    "createRoom": lambda home, _: home.service.create_room(ROOM, JONAS),
    "joinByLink": lambda home, _: join_another(home),
}


async def join_another(home: Home) -> None:
    room = await home.service.create_room(ROOM, MIA)
    link = await home.service.create_link(room.room_id, MIA)
    await home.service.join_by_link(room.room_id, link.link_id, JONAS)


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("moment", ["while they leave", "after they left"])
async def test_what_is_written_while_somebody_leaves_for_good_does_not_name_them(
    home: Home, db: AsyncDb, client: Recorder, what: str, moment: str
) -> None:
    """The request was allowed, and its write comes late."""
    room_id = home.room.room_id
    await home.service.change_role(room_id, JONAS.id, Role.OWNER, MIA)
    flat = await home.listing("7")
    await home.wish(JONAS, price=4)
    await home.wish(MIA, price=4)
    held = asyncio.Event()
    call, removing = client.call, asyncio.current_task()

    async def late(operation: str, request: Any) -> dict[str, Any]:
        if asyncio.current_task() is removing:
            if moment == "while they leave" and "'REMOVAL'" not in str(request):
                held.set()
        elif operation in ("TransactWriteItems", "UpdateItem") and "jonas" in str(request):
            await held.wait()
        return await call(operation, request)

    client.call = late  # type: ignore[method-assign]
    writing = asyncio.create_task(outcome(WRITES[what](home, flat.listing_id)))
    await asyncio.sleep(0.05)
    await home.service.delete_person(JONAS.id)
    held.set()
    await writing
    client.call = call  # type: ignore[method-assign]
    await AsyncConsumer(db).drain()
    assert await traces(client) == []
    assert (await db.run(verification(db.context))).clean


async def outcome(work: Awaitable[object]) -> object:
    try:
        return await work
    except (Refused, ItemError, ConditionFailed) as refused:
        return refused


async def test_what_was_combined_of_somebodys_wishes_alone_goes_with_them(
    home: Home, db: AsyncDb
) -> None:
    room_id = home.room.room_id
    await home.wish(JONAS, garden=True)
    await home.service.combine_criteria(room_id, "strict", MIA)
    await home.wish(MIA, lift=True)
    await home.service.combine_criteria(room_id, "strict", MIA)
    await home.service.delete_person(JONAS.id)
    left = [one async for one in db.scan(CombinedCriteria)]
    assert [(one.from_user_ids, set(one.criteria)) for one in left] == [
        (["mia"], {"garden", "lift"})
    ]


async def test_an_export_has_what_others_did_about_somebody(home: Home) -> None:
    """Also where they were asked and never came."""
    await home.service.change_role(home.room.room_id, JONAS.id, Role.OWNER, MIA)
    await home.service.invite(home.room.room_id, INES.id, MIA)
    for who, what in (
        (JONAS, ["MemberInvited", "MemberJoined", "RoleChanged"]),
        (INES, ["MemberInvited"]),
    ):
        found = [item for kind, item in await exported(home, who, 7) if kind == "Activity"]
        assert sorted(one["type"] for one in found) == what


async def test_reports_forget_who_left(home: Home, db: AsyncDb, client: Recorder) -> None:
    """What they shared stays and is still looked into; who reported them has nobody to report."""
    service, room_id = home.service, home.room.room_id
    loft = await service.add_listing(room_id, LOFT, JONAS)
    await service.report("person", "jonas", "Rude", MIA)
    await service.report("listing", f"{room_id}/{loft.listing_id}", "A fake", MIA)
    await service.report("person", "mia", "Rude", JONAS)
    await service.delete_person(JONAS.id)
    await AsyncConsumer(db).drain()
    assert await traces(client) == []
    (left,) = await service.reports(PageRequest(10))
    assert (left.kind, left.owner_name) == ("listing", None)
    noor = Identity.of("noor", "moderator")
    await service.decide("listing", left.subject_id, "remove", "A fake", caller=noor)
    assert await db.find(loft.ref()) is None


async def test_an_export_has_everything_once_though_somebody_came_and_went(home: Home) -> None:
    service, room_id = home.service, home.room.room_id
    await service.say(room_id, "Hello", JONAS)
    for _ in range(2):
        await service.leave(room_id, JONAS.id, JONAS)
        await service.invite(room_id, JONAS.id, MIA)
        assert [said(one) for one in await exported(home, JONAS, 7)].count("Hello") == 1
        await service.join(room_id, JONAS)
        assert [said(one) for one in await exported(home, JONAS, 7)].count("Hello") == 1


async def test_who_comes_back_begins_anew(home: Home, db: AsyncDb) -> None:
    await home.service.delete_person(JONAS.id)
    await home.service.welcome(JONAS)
    assert (await db.get(Person.key(user_id="jonas"))).unread_count == 0
    assert (await home.service.rooms(JONAS.id, PageRequest(50))).items == []


async def exported(home: Home, who: Identity, limit: int) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    cursor: str | None = None
    while True:
        page = await home.service.personal_data(who.id, PageRequest(limit, cursor))
        found += [(one.kind, one.item) for one in page]
        cursor = page.cursor
        if cursor is None:
            return found


async def test_an_export_has_all_that_is_kept_whatever_the_pages(home: Home, db: AsyncDb) -> None:
    await lived(home, db)
    found = await exported(home, JONAS, 7)
    assert found == await exported(home, JONAS, 100)
    kinds = {kind for kind, _ in found}
    assert kinds == {
        "Person",
        "UserRoom",
        "FormerRoom",
        "notifications",
        "UserCriteria",
        "Activity",
        "Listing",
    }
    said = [item["text"] for kind, item in found if kind == "Activity"]
    assert sum(text.startswith("Hi ") for text in said) == 60
    assert {item["userId"] for kind, item in found if kind == "UserCriteria"} == {"jonas"}
