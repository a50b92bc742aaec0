"""What others did, as a list for each person: kept by the stream, read and unread."""

from __future__ import annotations

from keyfold import AsyncDb
from keyfold_web import PageRequest
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from keyfold_systems.search_room.entities import Notification, Person, Role
from keyfold_systems.search_room.payloads import ListingChange, RoomChange
from keyfold_systems.search_room.status import Status
from tests.systems.conftest import Recorder
from tests.systems.opening import forget_progress

from .conftest import INES, JONAS, MIA, Home

PAGE = PageRequest(limit=50)


async def told(home: Home, who: str, *, unread: bool = False) -> list[tuple[str, str | None]]:
    found = await home.service.notifications(who, PAGE, unread)
    return [(one.type, one.sender_name) for one in found]


async def test_others_are_told_once_and_who_did_it_is_not(home: Home, db: AsyncDb) -> None:
    await AsyncConsumer(db).drain()
    before = len(await told(home, "jonas")), len(await told(home, "mia"))
    await home.service.say(home.room.room_id, "Look!", MIA)
    for _ in range(2):
        await AsyncConsumer(db).drain()
        await forget_progress(db)
    assert (await told(home, "jonas"))[0] == ("ChatMessage", "Mia")
    after = len(await told(home, "jonas")), len(await told(home, "mia"))
    assert after == (before[0] + 1, before[1])


async def test_they_are_read_and_unread_and_counted(home: Home, db: AsyncDb) -> None:
    for text in ("one", "two", "three"):
        await home.service.say(home.room.room_id, text, MIA)
    await AsyncConsumer(db).drain()
    service = home.service
    count = len(await told(home, "jonas", unread=True))
    assert (await service.profile("jonas")).unread_count == count >= 3
    newest = (await service.notifications("jonas", PAGE))[0]
    assert (await service.read_notifications("jonas", {newest.activity_id})).count == 1
    assert len(await told(home, "jonas", unread=True)) == count - 1
    assert (await service.read_notifications("jonas", {newest.activity_id}, read=False)).count == 1
    alone = await service.read_notifications("jonas", {newest.activity_id})
    assert alone.count == 1
    assert (await service.read_notifications("jonas")).count == count - 1
    assert (await service.read_notifications("jonas")).count == 0
    await AsyncConsumer(db).drain()
    assert (await service.profile("jonas")).unread_count == 0
    assert len(await told(home, "jonas")) == count


async def test_they_go_with_who_leaves_the_room(home: Home, db: AsyncDb) -> None:
    await home.join(INES)
    await home.service.say(home.room.room_id, "Hi", MIA)
    await AsyncConsumer(db).drain()
    assert await told(home, "ines") != []
    await home.service.leave(home.room.room_id, "ines", INES)
    await home.service.say(home.room.room_id, "Bye", MIA)
    await AsyncConsumer(db).drain()
    assert await told(home, "ines") == []
    assert {one.user_id async for one in db.scan(Notification)} == {"mia", "jonas"}
    assert (await db.get(Person.key(user_id="ines"))).unread_count == 0
    assert (await db.run(verification(db.context))).clean


async def test_what_changes_in_several_ways_is_an_activity_for_each(home: Home) -> None:
    """And none for what is given and stays as it was."""
    service, room_id = home.service, home.room.room_id
    flat = await home.listing(title="Flat", price=900)
    loft = ListingChange(title="Loft", price=900, status=Status.SEEN)
    await service.update_listing(room_id, flat.listing_id, loft, MIA)
    await service.update_room(room_id, RoomChange(name="Nest", search_type="buy"), MIA)
    again = await service.update_room(room_id, RoomChange(name="Nest", search_type="rent"), MIA)
    same = await service.update_room(room_id, RoomChange(name="Nest", context=None), MIA)
    assert same == again
    found = await service.activities(room_id, PageRequest(5))
    assert [(one.type, one.text) for one in reversed(found.items)] == [
        ("ListingChanged", "Loft"),
        ("ListingMoved", "SEEN"),
        ("RoomRenamed", "Nest"),
        ("RoomChanged", "searchType"),
        ("RoomChanged", "searchType"),
    ]


async def test_news_name_who_did_it_and_what_it_is_about_in_one_batch(
    home: Home, db: AsyncDb, client: Recorder
) -> None:
    service, room_id = home.service, home.room.room_id
    flat = await home.listing()
    await service.mark_seen(room_id, flat.listing_id, MIA)
    await service.invite(room_id, "ines", MIA)
    await AsyncConsumer(db).drain()
    client.requests.clear()
    activities = (await service.activities(room_id, PageRequest(3))).items
    news = (await service.notifications("jonas", PageRequest(3))).items
    reads = ["Query", "BatchGetItem"]
    assert [operation for operation, _ in client.requests] == reads * 2
    for found in (activities, news):
        assert [(one.type, one.sender_name, one.about_name) for one in found] == [
            ("MemberInvited", "Mia", "Ines"),
            ("ListingMoved", "Mia", "Flat"),
            ("ListingPinned", "Mia", "Flat"),
        ]


async def test_everything_that_changes_a_room_is_an_activity(home: Home) -> None:
    service, room_id = home.service, home.room.room_id
    flat = await home.listing("7")
    address = room_id, flat.listing_id
    await service.update_listing(*address, ListingChange(title="Loft"), MIA)
    await service.update_listing(*address, ListingChange(status=Status.REJECTED), MIA)
    await service.delete_listing(*address, MIA)
    await service.update_room(room_id, RoomChange(name="Theirs"), MIA)
    await service.update_room(room_id, RoomChange(search_type="buy", has_copilot=True), MIA)
    await service.change_role(room_id, "jonas", Role.OWNER, MIA)
    await home.wish(MIA, price={"max": 1})
    await home.wish(JONAS, price={"max": 1})
    await service.combine_criteria(room_id, "all", MIA)
    await service.compute_compatibility(room_id, MIA)
    link = await service.create_link(room_id, MIA)
    await service.revoke_link(room_id, link.link_id, MIA)
    await home.join(INES)
    await service.leave(room_id, "ines", MIA)
    await service.leave(room_id, "jonas", JONAS)
    found = await service.activities(room_id, PageRequest(100))
    noted = [(one.type, one.text, one.about) for one in reversed(found.items)][3:]
    flat_id = flat.listing_id
    assert noted == [
        ("ListingPinned", "Flat", flat_id),
        ("ListingChanged", "Loft", flat_id),
        ("ListingMoved", "REJECTED", flat_id),
        ("ListingRemoved", "Loft", flat_id),
        ("RoomRenamed", "Theirs", None),
        ("RoomChanged", "hasCopilot, searchType", None),
        ("RoleChanged", "owner", "jonas"),
        ("CriteriaSaved", "price", None),
        ("CriteriaSaved", "price", None),
        ("CriteriaCombined", "all", None),
        ("CompatibilityComputed", "100% (excellent)", None),
        ("LinkCreated", "", None),
        ("LinkRevoked", "", None),
        ("MemberInvited", "", "ines"),
        ("MemberJoined", "", None),
        ("MemberRemoved", "", "ines"),
        ("MemberLeft", "", None),
    ]
