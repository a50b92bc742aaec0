"""Random operations by people at once: verify is clean and everything equals a plain model.

The model knows what was answered and nothing else. It needs no order of things that happened at
once: a membership is there if it was entered once more than left, and of several edits of one
thing that with the highest version counts.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from itertools import count
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Missing, NotAllowed, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold.errors import ConditionFailed, ItemError, TransactionConflict
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy
from keyfold_systems.search_room.entities import (
    Activity,
    Invitation,
    InvitationStatus,
    LatestCriteria,
    Listing,
    Member,
    Room,
    UserCriteria,
    UserRoom,
)
from keyfold_systems.search_room.payloads import (
    ListingChange,
    NewCriteria,
    NewListing,
    NewRoom,
    RoomChange,
)
from keyfold_systems.search_room.service import SearchRoom
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import ADDRESS, IndexLag, Recorder

FOUNDER = "founder"
USERS = [f"u{number}" for number in range(8)]
EXTERNAL = ["1", "2", "3", "a#b", None]
OPERATIONS = 10_000 if os.environ.get("KEYFOLD_FULL") else 1_000
AT_ONCE = 8
HISTORIES: list[tuple[int, IndexLag]] = [(1, None), (2, None)]
if ADDRESS is None:
    HISTORIES += [(3, (0.0, 2.0)), (4, "held")]
REFUSED = (Conflict, Missing, NotAllowed, ItemError, ConditionFailed, TransactionConflict)
VERBS = {
    "room": 1,
    "rename": 2,
    "invite": 7,
    "join": 9,
    "decline": 1,
    "withdraw": 1,
    "leave": 3,
    "add": 6,
    "move": 4,
    "seen": 4,
    "drop": 2,
    "wish": 3,
    "say": 4,
    "delete": 0.3,
}


class Idle(Exception):
    """There is nothing to do of this kind now; it does not count."""


class Model:
    """What must be there, by what was answered."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[int, str]] = {}
        self.gone: set[str] = set()
        self.places: Counter[tuple[str, str]] = Counter()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.listings: dict[tuple[str, str], tuple[int, Status]] = {}
        self.external: dict[tuple[str, str], str | None] = {}
        self.dropped: set[tuple[str, str]] = set()
        self.seen: dict[tuple[str, str], set[str]] = {}
        self.criteria: dict[tuple[str, str], list[str]] = {}
        self.said: Counter[str] = Counter()

    def members(self) -> set[tuple[str, str]]:
        return {place for place, times in self.places.items() if times and self.open(place[0])}

    def invited(self) -> set[tuple[str, str]]:
        return {place for place, times in self.asked.items() if times and self.open(place[0])}

    def open(self, room_id: str) -> bool:
        return room_id not in self.gone

    def saved(self) -> dict[tuple[str, str], tuple[Status, set[str], str | None]]:
        return {
            key: (status, self.seen.get(key, set()), self.external[key])
            for key, (_, status) in self.listings.items()
            if key not in self.dropped and self.open(key[0])
        }


class Crowd:
    """People who do things at once; each answer goes into the model."""

    def __init__(self, service: SearchRoom, seed: int) -> None:
        self.service, self.model = service, Model()
        self.dice = random.Random(seed)
        self.acted = self.refused = 0

    async def act(self) -> None:
        verb = self.dice.choices(list(VERBS), list(VERBS.values()))[0]
        try:
            await getattr(self, f"_{verb}")(Identity.of(self.dice.choice(USERS)))
        except Idle:
            return
        except REFUSED:
            self.refused += 1
        self.acted += 1

    def _a_room(self) -> str:
        return self.dice.choice(list(self.model.names) or ["none"])

    def _a_listing(self) -> tuple[str, str]:
        return self.dice.choice(list(self.model.listings) or [("none", "none")])

    def _somebody(self, room_id: str, anybody: Identity) -> Identity:
        """Mostly who is in a room by what was answered; they may be leaving it at this moment."""
        inside = [who for room, who in self.model.members() if room == room_id]
        stranger = not inside or self.dice.random() < 0.2
        return anybody if stranger else Identity.of(self.dice.choice(sorted(inside)))

    async def _room(self, _: Identity) -> None:
        if len(self.model.names) - len(self.model.gone) >= 6:
            raise Idle
        new = NewRoom(name="New", search_type="rent")
        room = await self.service.create_room(new, Identity.of(FOUNDER))
        self.model.names[room.room_id] = (room.version, room.name)
        self.model.places[room.room_id, FOUNDER] += 1
        self.model.said[room.room_id] += 1

    async def _rename(self, _: Identity) -> None:
        room_id = self._a_room()
        change = RoomChange(name=f"Name {self.dice.randrange(1000)}")
        room = await self.service.update_room(room_id, change, Identity.of(FOUNDER))
        known = self.model.names[room_id]
        self.model.names[room_id] = max(known, (room.version, room.name))
        self.model.said[room_id] += 1

    async def _invite(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.invite(room_id, who.id, Identity.of(FOUNDER))
        self.model.asked[room_id, who.id] += 1
        self.model.said[room_id] += 1

    async def _join(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.join(room_id, who)
        self.model.asked[room_id, who.id] -= 1
        self.model.places[room_id, who.id] += 1
        self.model.said[room_id] += 1

    async def _decline(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.decline(who.id, room_id)
        self.model.asked[room_id, who.id] -= 1
        self.model.said[room_id] += 1

    async def _withdraw(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.withdraw(room_id, who.id, Identity.of(FOUNDER))
        self.model.asked[room_id, who.id] -= 1
        self.model.said[room_id] += 1

    async def _leave(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.leave(room_id, who.id, who)
        self.model.places[room_id, who.id] -= 1
        self.model.said[room_id] += 1

    async def _add(self, who: Identity) -> None:
        room_id, external = self._a_room(), self.dice.choice(EXTERNAL)
        new = NewListing(source_brand="homegate", external_id=external, title="Flat")
        listing = await self.service.add_listing(room_id, new, self._somebody(room_id, who))
        key = room_id, listing.listing_id
        self.model.listings[key] = listing.version, listing.status
        self.model.external[key] = external
        self.model.said[room_id] += 1

    async def _move(self, who: Identity) -> None:
        key = self._a_listing()
        who = self._somebody(key[0], who)
        change = ListingChange(status=self.dice.choice(list(Status)[2:]))
        self._edited(key, await self.service.update_listing(*key, change, who))

    async def _seen(self, who: Identity) -> None:
        key = self._a_listing()
        who = self._somebody(key[0], who)
        self._edited(key, await self.service.mark_seen(*key, who))
        self.model.seen.setdefault(key, set()).add(who.id)

    def _edited(self, key: tuple[str, str], listing: Listing) -> None:
        newest = max(self.model.listings[key], (listing.version, listing.status))
        self.model.listings[key] = newest

    async def _drop(self, who: Identity) -> None:
        key = self._a_listing()
        await self.service.delete_listing(*key, self._somebody(key[0], who))
        self.model.dropped.add(key)
        self.model.said[key[0]] += 1

    async def _wish(self, who: Identity) -> None:
        room_id = self._a_room()
        who = self._somebody(room_id, who)
        new = NewCriteria(criteria={"price": Span(max=self.dice.randrange(5000))})
        said = await self.service.save_criteria(room_id, new, who)
        self.model.criteria.setdefault((room_id, who.id), []).append(said.criteria_id)
        self.model.said[room_id] += 1

    async def _say(self, who: Identity) -> None:
        room_id = self._a_room()
        await self.service.say(room_id, "Hi", self._somebody(room_id, who))
        self.model.said[room_id] += 1

    async def _delete(self, _: Identity) -> None:
        room_id = self._a_room()
        await self.service.delete_room(room_id)
        self.model.gone.add(room_id)


async def everything(db: AsyncDb, entity: type[Any]) -> list[Any]:
    return [item async for item in db.scan(entity)]


@pytest.mark.parametrize(("seed", "index_lag"), HISTORIES)
async def test_random_operations_end_as_the_model(
    db: AsyncDb, client: Recorder, clock: ManualClock, seed: int
) -> None:
    service = SearchRoom(db)
    for user in (FOUNDER, *USERS):
        await service.save_profile(user, user)
    crowd = Crowd(service, seed)
    consumer = AsyncConsumer(db, options=ConsumerOptions(policy=Policy(patience=1)))
    for number in count():
        if crowd.acted >= OPERATIONS:
            break
        await asyncio.gather(*(crowd.act() for _ in range(AT_ONCE)))
        clock.advance(0.05)
        if number % 8 == 0:
            await consumer.run_once()
    client.catch_up()
    await consumer.drain()
    client.catch_up()
    report = await db.run(verification(db.context))
    assert report.clean, report

    model = crowd.model
    assert set(model.places.values()) <= {0, 1}
    assert set(model.asked.values()) <= {0, 1}
    rooms = {room.room_id: room for room in await everything(db, Room)}
    members = model.members()
    assert {r: (x.version, x.name) for r, x in rooms.items()} == {
        room_id: known for room_id, known in model.names.items() if model.open(room_id)
    }
    assert {(m.room_id, m.user_id) for m in await everything(db, Member)} == members
    assert {(m.room_id, m.user_id) for m in await everything(db, UserRoom)} == members
    assert {r: x.member_count for r, x in rooms.items()} == {
        room_id: len([1 for room, _ in members if room == room_id]) for room_id in rooms
    }
    pending = InvitationStatus.PENDING
    invited = {(i.room_id, i.user_id): i for i in await everything(db, Invitation)}
    assert {place for place, one in invited.items() if one.status == pending} == model.invited()
    assert not model.invited() & members
    for user in USERS:
        open_ones = await service.my_invitations(user, PageRequest(100))
        assert {one.room_id: one.room_name for one in open_ones} == {
            room: model.names[room][1] for room, who in model.invited() if who == user
        }
        listed = await service.rooms(user, PageRequest(100))
        assert {one.room_id: one.room_name for one in listed} == {
            room: model.names[room][1] for room, who in members if who == user
        }
    stored = {
        (x.room_id, x.listing_id): (x.status, x.seen_by, x.external_id)
        for x in await everything(db, Listing)
    }
    assert stored == model.saved()
    held = [(room, external) for (room, _), (*_, external) in stored.items() if external]
    assert len(held) == len(set(held))
    for room_id in rooms:
        for status in Status:
            found = await service.listings(room_id, PageRequest(200), Identity.of(FOUNDER), status)
            wanted = {key[1] for key, x in stored.items() if key[0] == room_id and x[0] == status}
            assert {x.listing_id for x in found} == wanted
    notes = await everything(db, Activity)
    moves = Counter(one.about for one in notes if one.type == "ListingMoved")
    versions = {x.listing_id: x.version for x in await everything(db, Listing)}
    assert {x: 1 + moves[x] for x in versions} == versions
    said = Counter(one.room_id for one in notes if one.type != "ListingMoved")
    assert said == {r: times for r, times in model.said.items() if model.open(r)}
    history = Counter((c.room_id, c.user_id) for c in await everything(db, UserCriteria))
    kept = {key: len(ids) for key, ids in model.criteria.items() if model.open(key[0])}
    assert history == kept
    latest = {(c.room_id, c.user_id): c.criteria_id for c in await everything(db, LatestCriteria)}
    assert set(latest) <= members
    assert all(latest[key] in model.criteria[key] for key in latest)
    assert crowd.refused > OPERATIONS // 50
    assert len(members) > 10
    assert len(stored) > 10
