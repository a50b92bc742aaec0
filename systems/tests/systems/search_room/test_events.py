"""What Search Room announces: each change once, also when requests are repeated."""

from __future__ import annotations

from collections import Counter
from typing import Any

from keyfold import AsyncDb
from keyfold.streams import AsyncConsumer, Event, Queue
from keyfold_systems.search_room.entities import Role
from keyfold_systems.search_room.payloads import ListingChange, RoomChange
from keyfold_systems.search_room.status import Status
from tests.systems.conftest import Recorder, served
from tests.systems.repeats import check_repeats

from .conftest import INES, JONAS, MIA, Home
from .test_repeats import STEPS

ANNOUNCED = {
    "report": "ContentReported",
    "decide": "ModeratorDecided",
    "suspendUser": "ModeratorDecided",
    "restoreUser": "ModeratorDecided",
    "createRoom": "RoomCreated",
    "saveProfile": "PersonRenamed",
    "updateRoom": "RoomRenamed",
    "deleteRoom": "RoomDeleted",
    "deletePerson": "PersonLeft",
    "deletePersonalData": "PersonLeft",
    "invite": "InvitationSent",
    "decline": "InvitationDeclined",
    "withdraw": "InvitationClosed",
    "join": "MemberJoined",
    "createLink": "LinkCreated",
    "joinByLink": "MemberJoined",
    "revokeLink": "LinkClosed",
    "changeRole": "RoleChanged",
    "leave": "MemberLeft",
    "addListing": "ListingPinned",
    "updateListing": "ListingChanged",
    "markSeen": "ListingSeen",
    "vote": "ListingVoted",
    "deleteListing": "ListingRemoved",
    "say": "MessageSent",
    "advise": "MessageSent",
    "readNotifications": "NotificationRead",
    "saveCriteria": "CriteriaSaved",
    "combineCriteria": "CriteriaCombined",
    "computeCompatibility": "CompatibilityComputed",
}


async def announced(db: AsyncDb) -> list[Event]:
    """Everything that was sent out so far."""
    queue = Queue("events")
    await AsyncConsumer(db, sinks=[queue]).drain()
    return await db.run(queue.messages(db.context))


async def test_no_event_tells_a_link(home: Home, db: AsyncDb) -> None:
    link = await home.service.create_link(home.room.room_id, MIA)
    await home.service.revoke_link(home.room.room_id, link.link_id, MIA)
    told = [one.body().decode() for one in await announced(db)]
    assert len([one for one in told if '"Link' in one]) == 2
    assert [one for one in told if link.link_id in one] == []


async def test_every_mutation_is_announced_once_though_each_is_sent_twice(
    home: Home, client: Recorder, db: AsyncDb
) -> None:
    before = Counter(event.name for event in await announced(db))
    async with served(home.service) as web:
        await check_repeats(web, client, STEPS)
    names = Counter(event.name for event in await announced(db)) - before
    assert set(ANNOUNCED) == {step.operation for step in STEPS}
    # The founder joins and leaves with the room, as do who was asked and who had a link; three are
    # invited, and each is closed in the end.
    times = {"MemberJoined": 3, "MemberLeft": 3, "InvitationSent": 3, "InvitationClosed": 3}
    # Who comes for the first time has a profile.
    times |= {"PersonJoined": 5, "PersonRenamed": 2, "PersonLeft": 2}
    times |= {"ModeratorDecided": 3, "MessageSent": 2, "CriteriaSaved": 2, "RoomChanged": 1}
    # Seeing a new listing moves it. There was nothing yet to be read.
    times |= {"ListingMoved": 1, "NotificationRead": 0}
    assert names == +Counter({**dict.fromkeys(ANNOUNCED.values(), 1), **times})


async def test_an_event_says_what_happened_and_no_more(home: Home, db: AsyncDb) -> None:
    listing = await home.listing("7")
    before = len(await announced(db))
    room: dict[str, Any] = {"roomId": home.room.room_id}
    flat = {**room, "listingId": listing.listing_id}
    service, address = home.service, (home.room.room_id, listing.listing_id)
    change = ListingChange(status=Status.VISIT_PLANNED, title="Flat")
    await service.update_listing(*address, change, MIA)
    await service.mark_seen(*address, JONAS)
    await service.mark_seen(*address, JONAS)
    await service.change_role(home.room.room_id, "jonas", Role.OWNER, MIA)
    await service.invite(home.room.room_id, "ines", MIA)
    await service.decline("ines", home.room.room_id)
    await service.invite(home.room.room_id, "ines", MIA)
    await service.update_room(home.room.room_id, RoomChange(name="Theirs"), MIA)
    asked = {**room, "userId": "ines", "role": "member", "invitedBy": "mia"}
    events = [(one.name, one.payload) for one in (await announced(db))[before:]]
    assert events == [
        ("ListingMoved", {**flat, "status": "VISIT_PLANNED"}),
        ("ListingSeen", {**flat, "userId": "jonas"}),
        ("RoleChanged", {**room, "userId": "jonas", "role": "owner"}),
        ("InvitationSent", asked),
        ("InvitationDeclined", {**room, "userId": INES.id}),
        ("InvitationSent", asked),
        ("RoomRenamed", {**room, "name": "Theirs"}),
    ]
