"""What Search Room announces: each change once, also when requests are repeated."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keyfold import AsyncDb
from keyfold.streams import AsyncConsumer, Event, Queue
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.payloads import ListingChange
from keyfold_systems.search_room.status import Status
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import check_repeats

from .conftest import INES, JONAS, MIA, Home
from .test_repeats import STEPS

ANNOUNCED = {
    "createRoom": "RoomCreated",
    "renameRoom": "RoomRenamed",
    "deleteRoom": "RoomDeleted",
    "invite": "InvitationSent",
    "decline": "InvitationDeclined",
    "withdraw": "InvitationClosed",
    "join": "MemberJoined",
    "changeRole": "RoleChanged",
    "leave": "MemberLeft",
    "addListing": "ListingPinned",
    "updateListing": "ListingChanged",
    "markSeen": "ListingSeen",
    "deleteListing": "ListingRemoved",
    "say": "MessageSent",
    "saveCriteria": "CriteriaSaved",
    "combineCriteria": "CriteriaCombined",
    "computeCompatibility": "CompatibilityComputed",
}


async def announced(db: AsyncDb) -> list[Event]:
    """Everything that was sent out so far."""
    queue = Queue("events")
    await AsyncConsumer(db, sinks=[queue]).drain()
    return await db.run(queue.messages(db.context))


async def test_every_mutation_is_announced_once_though_each_is_sent_twice(
    home: Home, client: Recorder, db: AsyncDb
) -> None:
    before = Counter(event.name for event in await announced(db))
    async with served(home.service) as web:
        await check_repeats(web, client, STEPS)
    names = Counter(event.name for event in await announced(db)) - before
    assert set(ANNOUNCED) == {step.operation for step in STEPS}
    # The founder joins and leaves with the room; three are invited, and each is closed in the end.
    times = {"MemberJoined": 2, "MemberLeft": 2, "InvitationSent": 3, "InvitationClosed": 3}
    # Seeing a new listing moves it.
    assert names == {**dict.fromkeys(ANNOUNCED.values(), 1), **times, "ListingMoved": 1}


async def test_an_event_says_what_happened_and_no_more(home: Home, db: AsyncDb) -> None:
    listing = await home.listing("7")
    before = len(await announced(db))
    room: dict[str, Any] = {"roomId": home.room.room_id}
    flat = {**room, "listingId": listing.listing_id}
    service, address = home.service, (home.room.room_id, listing.listing_id)
    await service.update_listing(*address, ListingChange(status=Status.APPLIED, title="Flat"))
    await service.mark_seen(*address, JONAS)
    await service.mark_seen(*address, JONAS)
    await service.change_role(home.room.room_id, "jonas", Role.OWNER)
    await service.invite(home.room.room_id, "ines", MIA)
    await service.decline("ines", home.room.room_id)
    await service.invite(home.room.room_id, "ines", MIA)
    await service.rename_room(home.room.room_id, "Theirs")
    asked = {**room, "userId": "ines", "role": "member", "invitedBy": "mia"}
    events = [(one.name, one.payload) for one in (await announced(db))[before:]]
    assert events == [
        ("ListingMoved", {**flat, "status": "APPLIED"}),
        ("ListingSeen", {**flat, "userId": "jonas"}),
        ("RoleChanged", {**room, "userId": "jonas", "role": "owner"}),
        ("InvitationSent", asked),
        ("InvitationDeclined", {**room, "userId": INES.id}),
        ("InvitationSent", asked),
        ("RoomRenamed", {**room, "name": "Theirs"}),
    ]
