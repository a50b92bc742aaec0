"""Couples, families and flat shares that look for a home around Bern."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from keyfold import AsyncDb, Entity, create, new_ulid, put
from keyfold_systems.search_room.combination import combine
from keyfold_systems.search_room.entities import (
    Activity,
    CombinedCriteria,
    Compatibility,
    Invitation,
    LatestCriteria,
    Listing,
    Member,
    Person,
    Role,
    Room,
    UserCriteria,
)
from keyfold_systems.search_room.fit import fit
from keyfold_systems.search_room.oversight import Report
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Span, Voice

USERS: list[tuple[str, str, list[str]]] = [
    ("mia", "Mia Keller", []),
    ("jonas", "Jonas Haas", []),
    ("ines", "Ines Costa", []),
    ("copilot", "Copilot", ["ai_copilot"]),
    ("noor", "Noor Aziz", ["moderator"]),
]
TRY = "/users/mia/rooms"

_OTHERS = 100

_PLACES = ["Bern", "Thun", "Köniz", "Ostermundigen", "Münsingen", "Muri", "Ittigen", "Worb"]
_BRANDS = ["homegate", "immoscout24", "comparis", "flatfox"]
_KINDS = [
    "Bright flat",
    "Attic with a view",
    "Old-town flat",
    "Terraced house",
    "Loft",
    "New build",
]
_FEATURES = ["balcony", "lift", "garden", "bathtub", "parking", "washing machine"]
_SAID = [
    "The kitchen looks tiny.",
    "I love the light in this one.",
    "Ten minutes to the station, I timed it.",
    "Can we visit on Saturday?",
    "They want references, I'll send ours.",
    "Too loud for me, sorry.",
    "What about the one in Thun again?",
    "The landlord just called back!",
]
_WAYS: list[list[Status]] = [
    [],
    [],
    [Status.SEEN],
    [Status.SEEN],
    [Status.VISIT_PLANNED],
    [Status.VISIT_PLANNED, Status.VISITED],
    [Status.VISIT_PLANNED, Status.VISITED, Status.APPLIED],
    [Status.SEEN, Status.REJECTED],
]
_FIRST = ["Lea", "Noah", "Lina", "Luca", "Nora", "Jan", "Eva", "Tim", "Ana", "Ben"]
_LAST = ["Frei", "Graf", "Moser", "Huber", "Suter", "Baumann", "Lang", "Roth", "Kunz", "Vogt"]
_ROOMS = ["Our first home", "Bigger for three", "Flat share 2.0", "Near the lake", "Back to Bern"]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; gives how many items were made."""
    dice = random.Random(11)
    others = [f"{dice.choice(_FIRST)} {dice.choice(_LAST)}" for _ in range(_OTHERS)]
    known = [(user, name) for user, name, _ in USERS]
    known += [(f"p{number:03d}", name) for number, name in enumerate(others)]
    made = await db.put_many([Person(user_id=user, name=name) for user, name in known])
    for number in range(24):
        people = ["mia", "jonas"] if number == 0 else _people(dice, number)
        made += await _room(db, dice, number, people)
    await db.put(_report(db, await db.get(Room.key(room_id="r000"))))
    return made + 1


def _report(db: AsyncDb, room: Room) -> Report:
    return Report(
        kind="room",
        subject_id=room.room_id,
        reporter_id="jonas",
        owner_id=room.created_by_user_id,
        reason="The name says more about us than I like.",
        excerpt=room.name,
        created_at=db.context.now() - timedelta(hours=3),
    )


def _people(dice: random.Random, number: int) -> list[str]:
    known = [user for user, _, _ in USERS]
    others = [f"p{dice.randrange(_OTHERS):03d}" for _ in range(dice.randint(1, 3))]
    return list(dict.fromkeys([known[number % 3], *others] if number < 9 else others))


async def _room(db: AsyncDb, dice: random.Random, number: int, people: list[str]) -> int:
    now = db.context.now()
    name = dice.choice(_ROOMS)
    room = Room(
        room_id=f"r{number:03d}",
        name=name,
        created_by_user_id=people[0],
        search_type=dice.choice(["rent", "rent", "buy"]),
        context={"people": len(people)},
        has_copilot=number % 3 == 0,
    )
    members = [
        Member(
            room_id=room.room_id,
            user_id=user,
            role=Role.OWNER if user == people[0] else Role.MEMBER,
            room_name=name,
        )
        for user in people
    ]
    await db.transact(create(room), *(create(one) for one in members))
    listings = [_listing(dice, room, people, place) for place in range(dice.randint(8, 20))]
    await db.bulk(listings)
    for listing in listings:
        for step in dice.choice(_WAYS):
            await db.update(listing.ref(), status=step)
    history: list[Entity] = []
    voices: list[Voice] = []
    references: list[str] = []
    for user in people:
        for age in range(dice.randint(1, 4)):
            criteria = _criteria(dice, room, user, now - timedelta(days=3 * age, hours=1))
            history.append(criteria)
            if age == 0:
                references.append(criteria.criteria_id)
                voices.append(Voice(user, criteria.criteria, criteria.weights))
                latest = criteria.model_dump(exclude={"expires_at"})
                history.append(LatestCriteria.model_validate(latest))
    combined, fitting = combine(voices, "mixed"), fit(voices)
    history.append(
        CombinedCriteria(
            room_id=room.room_id,
            timestamp=now - timedelta(minutes=30),
            combined_id=new_ulid(),
            criteria=combined.wishes,
            weights=combined.weights,
            from_user_ids=people,
            combine_mode="mixed",
        )
    )
    if fitting is not None:
        history.append(
            Compatibility(
                room_id=room.room_id,
                timestamp=now - timedelta(minutes=29),
                compatibility_id=new_ulid(),
                score_percent=fitting.percent,
                level=fitting.level,
                comment=fitting.comment,
                criteria_refs=references,
            )
        )
    for _ in range(dice.randint(12, 40)):
        history.append(
            _message(dice, room, people, now - timedelta(minutes=dice.randint(1, 60000)))
        )
    asked = [user for user, _, roles in USERS if not (user in people or roles or number % 10 != 3)]
    history += [_invitation(room, user, now - timedelta(hours=5)) for user in asked]
    await db.bulk(put(one) for one in history)
    return 1 + len(members) + len(listings) + len(history)


def _invitation(room: Room, user: str, at: datetime) -> Invitation:
    return Invitation(
        room_id=room.room_id,
        user_id=user,
        room_name=room.name,
        invited_by=room.created_by_user_id,
        invited_at=at,
    )


def _listing(dice: random.Random, room: Room, people: list[str], n: int) -> Listing:
    rooms, place = dice.randint(2, 6), dice.choice(_PLACES)
    size = dice.randint(18, 30) * rooms
    return Listing(
        listing_id=f"l{n:03d}",
        room_id=room.room_id,
        source_brand=dice.choice(_BRANDS),
        external_id=f"{dice.randrange(10**8):08d}" if dice.random() < 0.9 else None,
        title=f"{dice.choice(_KINDS)}, {rooms} rooms",
        location=place,
        price=size * dice.randint(*((18, 32) if room.search_type == "rent" else (7000, 11000))),
        rooms=rooms,
        surface=size,
        link=f"https://homes.example/{room.room_id}/{n}",
        seen_by=set(dice.sample(people, dice.randint(0, len(people)))),
        liked_by=set(dice.sample(people, dice.randint(0, 1))),
        added_by=dice.choice(people),
    )


def _criteria(dice: random.Random, room: Room, user: str, at: object) -> UserCriteria:
    most = dice.randrange(1500, 3600, 100) * (1 if room.search_type == "rent" else 400)
    musts = dict.fromkeys(dice.sample(_FEATURES, dice.randint(0, 3)), True)
    return UserCriteria.model_validate(
        {
            "room_id": room.room_id,
            "user_id": user,
            "timestamp": at,
            "criteria_id": new_ulid(),
            "criteria": {
                "price": Span(max=most),
                "rooms": Span(min=dice.randint(2, 4)),
                "location": sorted(dice.sample(_PLACES, dice.randint(1, 4))),
                **musts,
            },
            "weights": {"price": round(dice.random(), 2), "location": round(dice.random(), 2)},
        }
    )


def _message(dice: random.Random, room: Room, people: list[str], at: object) -> Activity:
    return Activity.model_validate(
        {
            "room_id": room.room_id,
            "created_at": at,
            "activity_id": new_ulid(),
            "type": "ChatMessage",
            "sender_type": "user",
            "sender_id": dice.choice(people),
            "text": dice.choice(_SAID),
        }
    )
