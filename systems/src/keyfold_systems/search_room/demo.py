"""The demo's data: six households that look for a home around Bern. A function of the time alone.

It obeys the rules of the service: members alone see, say and want something, what was seen is not
UNSEEN, and everything is younger than its room.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from keyfold import AsyncDb
from keyfold_systems.search_room.combination import combine
from keyfold_systems.search_room.entities import (
    Activity,
    CombinedCriteria,
    Compatibility,
    Listing,
    Member,
    Person,
    Role,
    Room,
    Status,
    UserCriteria,
)
from keyfold_systems.search_room.fit import fit
from keyfold_systems.search_room.wishes import Span, Voice

PEOPLE = {
    "mia": "Mia Keller",
    "jonas": "Jonas Haas",
    "ines": "Ines Costa",
    "lea": "Lea Frei",
    "noah": "Noah Graf",
    "nora": "Nora Moser",
    "jan": "Jan Huber",
    "eva": "Eva Suter",
    "tim": "Tim Lang",
}
USERS: list[tuple[str, str, list[str]]] = [
    (one, PEOPLE[one], []) for one in ("mia", "jonas", "ines")
]
TRY = "/users/mia/rooms"

HOUSEHOLDS: list[tuple[str, str, list[str]]] = [
    ("Our first home", "rent", ["mia", "jonas"]),
    ("Bigger for three", "buy", ["ines", "lea", "mia"]),
    ("Flat share by the river", "rent", ["noah", "nora", "jan"]),
    ("Near the lake", "rent", ["eva", "tim"]),
    ("Back to Bern", "buy", ["jan", "eva"]),
    ("Close to both offices", "rent", ["jonas", "tim"]),
]
PLACES = ["Bern", "Thun", "Köniz", "Ostermundigen", "Münsingen", "Muri", "Ittigen", "Worb"]
BRANDS = ["homegate", "immoscout24", "comparis", "flatfox"]
HOMES = [
    "Attic with a view",
    "Bright corner flat",
    "Old-town flat with beams",
    "Terraced house with a garden",
    "Loft in the old brewery",
    "New building, first let",
    "Quiet flat at the back",
    "Top floor, two balconies",
    "Ground floor with a yard",
    "Studio above a bakery",
]
SAID = [
    "The kitchen looks tiny.",
    "I love the light in this one.",
    "Ten minutes to the station, I timed it.",
    "Can we visit on Saturday?",
    "They want references, I'll send ours.",
    "Too loud for me, sorry.",
    "What about the one in Thun again?",
    "The landlord just called back!",
]
SEEN = [Status.SEEN, Status.SEEN, Status.VISIT_PLANNED, Status.VISITED, Status.APPLIED]


def data(now: datetime) -> list[list[Any]]:
    """What is written, in the order in which it is written."""
    dice, now = random.Random(11), now.replace(microsecond=0)
    made: list[list[Any]] = [
        [Person(user_id=one, name=name) for one, name in PEOPLE.items()],
        [],
        [],
        [],
    ]
    for number, (name, kind, people) in enumerate(HOUSEHOLDS):
        room_id, opened = f"r{number}", now - timedelta(days=40 - 3 * number)
        room: dict[str, Any] = {"room_id": room_id, "name": name, "created_by_user_id": people[0]}
        room |= {"search_type": kind, "context": {"people": len(people)}, "created_at": opened}
        made[1].append(Room.model_validate(room))
        made[2] += [
            Member(
                room_id=room_id,
                user_id=one,
                role=Role.OWNER if one == people[0] else Role.MEMBER,
                joined_at=opened + timedelta(hours=at),
            )
            for at, one in enumerate(people)
        ]
        made[3] += _listings(dice, room_id, kind, people, opened)
        made[3] += _criteria(dice, room_id, kind, people, opened)
        made[3] += _talk(dice, room_id, people, opened, now)
    return made


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; returns how many items it has, without pointers."""
    made = data(db.context.now())
    for items in made:
        await db.bulk(items)
    return sum(map(len, made))


def _listings(
    dice: random.Random, room_id: str, kind: str, people: list[str], opened: datetime
) -> list[Listing]:
    made = []
    for at, title in enumerate(dice.sample(HOMES, dice.randint(6, 9))):
        rooms = dice.randint(2, 6) + dice.choice([0, 0.5])
        seen = dice.sample(people, dice.randint(0, len(people)))
        dear = 420 if kind == "rent" else 175_000
        made.append(
            Listing(
                listing_id=f"l{at}",
                room_id=room_id,
                source_brand=dice.choice(BRANDS),
                external_id=f"{dice.randrange(10**7, 10**8)}" if at % 7 else None,
                title=title,
                location=dice.choice(PLACES),
                price=round(rooms * dear * dice.uniform(0.9, 1.5), -1),
                rooms=rooms,
                status=dice.choice(SEEN) if seen else Status.UNSEEN,
                seen_by=seen,
                added_at=opened + timedelta(days=at, hours=2),
            )
        )
    return made


def _criteria(
    dice: random.Random,
    room_id: str,
    kind: str,
    people: list[str],
    opened: datetime,
) -> list[Any]:
    made, latest = list[Any](), list[UserCriteria]()
    for at, who in enumerate(people):
        most = dice.randrange(1600, 3200, 100) * (1 if kind == "rent" else 400)
        for age in reversed(range(dice.randint(1, 3))):
            said = UserCriteria(
                room_id=room_id,
                user_id=who,
                timestamp=opened + timedelta(days=6 - 2 * age, minutes=at),
                criteria={
                    "price": Span(max=most + 100 * age),
                    "rooms": Span(min=dice.randint(2, 4)),
                    "location": sorted(dice.sample(PLACES, dice.randint(2, 4))),
                    **({dice.choice(["balcony", "lift", "garden"]): True} if age == 0 else {}),
                },
                weights={"price": round(dice.uniform(0.4, 1), 1)},
            )
            made.append(said)
        latest.append(said)
    voices = [Voice(one.user_id, one.criteria, one.weights) for one in latest]
    merged, fitting = combine(voices, "mixed"), fit(voices)
    made.append(
        CombinedCriteria(
            room_id=room_id,
            timestamp=opened + timedelta(days=7),
            criteria=merged.wishes,
            weights=merged.weights,
            from_user_ids=people,
            combine_mode="mixed",
        )
    )
    if fitting is not None:
        made.append(
            Compatibility(
                room_id=room_id,
                timestamp=opened + timedelta(days=7, minutes=1),
                score_percent=fitting.percent,
                level=fitting.level,
                comment=fitting.comment,
                criteria_refs=[one.ref().wire()["SK"]["S"] for one in latest],
            )
        )
    return made


def _talk(
    dice: random.Random, room_id: str, people: list[str], opened: datetime, now: datetime
) -> list[Activity]:
    after, whole = opened + timedelta(hours=len(people)), now - opened
    return [
        Activity(
            room_id=room_id,
            activity_id=f"a{at}",
            type="ChatMessage",
            created_at=after + (whole - timedelta(hours=len(people))) * (at / len(SAID)),
            sender_type="user",
            sender_id=dice.choice(people),
            text=text,
        )
        for at, text in enumerate(dice.sample(SAID, len(SAID)))
    ]
