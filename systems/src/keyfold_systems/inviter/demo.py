"""A town's worth of friends, groups and hangouts."""

from __future__ import annotations

import random
from datetime import timedelta

from keyfold import AsyncDb, create
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupInvitation,
    Hangout,
    Response,
    User,
)
from keyfold_systems.inviter.operations.groups import member_of
from keyfold_systems.inviter.oversight import Report
from keyfold_systems.inviter.spelling import spelt

USERS: list[tuple[str, str, list[str]]] = [
    ("ada", "Ada Lang", []),
    ("ben", "Ben Okafor", []),
    ("chloe", "Chloé Martin", []),
    ("noor", "Noor Aziz", ["moderator"]),
]
TRY = "/users/ada/hangouts"

_FIRST = [
    "Mia",
    "Noah",
    "Emma",
    "Liam",
    "Lina",
    "Elias",
    "Zoe",
    "Omar",
    "Ines",
    "Luca",
    "Sara",
    "Finn",
    "Nora",
    "Jonas",
    "Aylin",
    "Theo",
]
_LAST = [
    "Keller",
    "Rossi",
    "Nguyen",
    "Silva",
    "Haas",
    "Kaya",
    "Novak",
    "Weber",
    "Costa",
    "Meier",
    "Dubois",
    "Larsen",
    "Brandt",
]
_GROUPS = (
    "Sunday runners",
    "Board game night",
    "Lake swimmers",
    "Book circle",
    "Five-a-side",
    "Climbing hall",
    "Film club",
    "Choir friends",
    "Old flatmates",
    "Dog walkers",
    "Street food hunters",
    "Photo walks",
    "Chess in the park",
    "Brunch crew",
    "Hikers",
    "Jazz evenings",
)
_PLACES = (
    "the old mill",
    "Café Nord",
    "Riverside park",
    "the boathouse",
    "Anna's garden",
    "Hall 3",
)
_WHAT = {
    "Long run": 9,
    "Game night": 19,
    "Swim before work": 7,
    "Picnic": 14,
    "Open-air cinema": 21,
    "Bouldering": 17,
    "Ramen and a walk": 18,
    "Rehearsal": 16,
    "Lunch": 12,
    "Day hike": 8,
    "Photo walk at dusk": 20,
    "Blitz tournament": 15,
}
"""What people do, and at which hour."""


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; gives how many items were made, pointers not counted."""
    dice = random.Random(7)
    everybody = [User(user_id=user, **spelt(name)) for user, name, _ in USERS]
    people, moderators = everybody[:3], everybody[3:]
    for number in range(97):
        name = f"{dice.choice(_FIRST)} {dice.choice(_LAST)}"
        people.append(User(user_id=f"u{number:03d}", **spelt(name)))
    await db.bulk(people + moderators)
    made = len(people) + len(moderators)
    groups = []
    for number, name in enumerate(_GROUPS):
        members = people[:3] if number < 4 else []
        members = members + dice.sample(people[3:], dice.randint(8, 20))
        owner = members[number % 3].user_id
        group = Group(
            group_id=f"g{number:02d}", name=name, owner_id=owner, private=number in (3, 9)
        )
        groups.append((group, members))
        joins = [member_of(group, one) for one in members]
        await db.transact(create(group), *(create(join) for join in joins))
        made += 1 + len(members)
    hangouts: list[Hangout] = []
    responses: list[Response] = []
    for number in range(80):
        group, members = dice.choice(groups)
        hangouts.append(_hangout(db, dice, number, group, members))
        responses += _responses(dice, hangouts[-1], group, members)
    await db.bulk(hangouts)
    await db.bulk(responses)
    made += len(hangouts) + len(responses)
    for group, members in groups[9:11]:
        await db.create(_invitation(group, members[0], people[0]))
    await db.bulk(_report(db, one, people[0]) for one in hangouts[:2])
    return made + 4


def _report(db: AsyncDb, hangout: Hangout, reporter: User) -> Report:
    return Report(
        kind="hangout",
        subject_id=hangout.hangout_id,
        reporter_id=reporter.user_id,
        owner_id=hangout.host_id,
        reason="This looks like an advertisement.",
        excerpt=hangout.title,
        created_at=db.context.now() - timedelta(hours=3),
    )


def _hangout(
    db: AsyncDb, dice: random.Random, number: int, group: Group, members: list[User]
) -> Hangout:
    host = dice.choice(members)
    title, hour = dice.choice(list(_WHAT.items()))
    today = db.context.now().replace(hour=hour, minute=0, second=0, microsecond=0)
    starts = today + timedelta(days=dice.randint(-8, 16))
    friends = {one.user_id for one in dice.sample(members, 2)}
    return Hangout(
        hangout_id=f"h{number:03d}",
        host_id=host.user_id,
        host_name=host.name,
        title=title,
        place=dice.choice(_PLACES),
        description="Bring something to share.",
        starts_at=starts,
        ends_at=starts + timedelta(hours=dice.randint(1, 4)),
        group_ids={group.group_id},
        user_ids={*friends, host.user_id},
        cancelled=dice.random() < 0.04,
    )


def _responses(
    dice: random.Random, hangout: Hangout, group: Group, members: list[User]
) -> list[Response]:
    guests = dice.sample(members, dice.randint(2, len(members) // 2))
    return [
        Response(
            hangout_id=hangout.hangout_id,
            user_id=one.user_id,
            user_name=one.name,
            answer=dice.choices(list(Answer), [6, 2, 2])[0],
            group_id=group.group_id,
        )
        for one in guests
    ]


def _invitation(group: Group, by: User, user: User) -> GroupInvitation:
    return GroupInvitation(
        group_id=group.group_id,
        user_id=user.user_id,
        group_name=group.name,
        user_name=user.name,
        invited_by=by.user_id,
        invited_by_name=by.name,
    )
