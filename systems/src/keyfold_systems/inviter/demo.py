"""The demo's data: sixteen friends, eight groups, and what they plan. A function of the time alone.

It obeys the rules of the service: hosts invite groups of their own, only invited users answer, and
everything is younger than what it is about.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from keyfold import AsyncDb
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    GroupMembership,
    Hangout,
    Response,
    User,
)
from keyfold_systems.inviter.operations import membership_of, once

PEOPLE = {
    "ada": "Ada Lang",
    "ben": "Ben Okafor",
    "chloe": "Chloé Martin",
    "dev": "Dev Rao",
    "elena": "Elena Rossi",
    "farid": "Farid Kaya",
    "grace": "Grace Silva",
    "hugo": "Hugo Haas",
    "ines": "Ines Costa",
    "jonas": "Jonas Keller",
    "kira": "Kira Novak",
    "luca": "Luca Weber",
    "mia": "Mia Larsen",
    "noor": "Noor Aziz",
    "omar": "Omar Nguyen",
    "petra": "Petra Dubois",
}
USERS: list[tuple[str, str, list[str]]] = [(one, PEOPLE[one], []) for one in ("ada", "ben", "noor")]
TRY = "/users/ada/hangouts"

# Each group, and what it does: a title, an hour, how long in hours, a place.
PLANS: dict[str, list[tuple[str, int, int, str]]] = {
    "Sunday runners": [
        ("Long run along the river", 9, 2, "Mill bridge"),
        ("Hill repeats", 18, 1, "Castle stairs"),
        ("Recovery run and pancakes", 10, 2, "Café Nord"),
    ],
    "Board game night": [
        ("Trains and trades", 19, 4, "Ada's kitchen"),
        ("Two new games", 19, 3, "The old library"),
        ("A campaign begins", 18, 5, "Ben's place"),
    ],
    "Lake swimmers": [
        ("Swim before work", 7, 1, "North pier"),
        ("Across the bay and back", 8, 2, "Boathouse"),
        ("Night swim", 21, 1, "South beach"),
    ],
    "Book circle": [
        ("The one with the lighthouse", 19, 2, "Corner bookshop"),
        ("Short stories by the fire", 20, 2, "Chloé's place"),
    ],
    "Street food": [
        ("Ramen and a walk", 18, 2, "Harbour market"),
        ("Dumplings, a contest", 12, 3, "Elena's garden"),
        ("The new falafel van", 12, 1, "Station square"),
    ],
    "Hikers": [
        ("Three peaks", 7, 9, "Valley station"),
        ("Sunrise on the ridge", 5, 4, "Upper car park"),
    ],
    "Jazz evenings": [
        ("Quartet at the Cellar", 20, 3, "The Cellar"),
        ("Open session", 21, 3, "Blue Note bar"),
    ],
    "Photo walks": [
        ("Blue hour at the harbour", 20, 2, "Pier 4"),
        ("Trams in the rain", 17, 2, "Depot"),
    ],
}
SAY = [Answer.GOING] * 6 + [Answer.MAYBE] * 2 + [Answer.NOT_GOING] * 2


def data(now: datetime) -> list[list[Any]]:
    """What is written, in the order in which it is written."""
    dice = random.Random(5)
    born = now - timedelta(days=90)
    people = [User(user_id=one, name=name, created_at=born) for one, name in PEOPLE.items()]
    groups, members = [], list[GroupMembership]()
    for number, name in enumerate(PLANS):
        group = Group(group_id=f"g{number}", name=name, created_at=born + timedelta(days=number))
        mine = dice.sample(people[3:], dice.randint(4, 8)) + (people[:2] if number < 5 else [])
        joined = now - timedelta(days=60)
        members += [
            membership_of(group, one).model_copy(update={"joined_at": joined}) for one in mine
        ]
        groups.append(group)
    hangouts = _hangouts(dice, now, groups, members)
    answers = [one for hangout in hangouts for one in _answers(dice, now, hangout, members)]
    return [people, groups, members, hangouts, answers]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; returns how many items it has, without pointers."""
    made = data(db.context.now())
    for items in made:
        await db.bulk(items)
    return sum(map(len, made))


def _hangouts(
    dice: random.Random, now: datetime, groups: list[Group], members: list[GroupMembership]
) -> list[Hangout]:
    today, made = now.replace(hour=0, minute=0, second=0, microsecond=0), list[Hangout]()
    for group, plans in zip(groups, PLANS.values(), strict=True):
        mine = [one.user_id for one in members if one.group_id == group.group_id]
        for at, (title, hour, hours, place) in enumerate(plans):
            number, host = len(made), dice.choice(mine)
            starts = today + timedelta(days=at * 6 + (number * 5) % 9 - 2, hours=hour)
            direct = dice.sample(sorted(PEOPLE.keys() - set(mine)), dice.randint(0, 2))
            planned = min(now, starts) - timedelta(days=dice.randint(3, 9))
            made.append(
                Hangout(
                    hangout_id=f"h{number:02d}",
                    host_id=host,
                    title=title,
                    description="Bring something to share." if hours > 1 else "",
                    location=place,
                    start_timestamp=starts,
                    end_timestamp=starts + timedelta(hours=hours),
                    associated_groups=[group.group_id],
                    invited_users=once([host, *direct]),
                    created_at=planned,
                )
            )
    return made


def _answers(
    dice: random.Random, now: datetime, hangout: Hangout, members: list[GroupMembership]
) -> list[Response]:
    """Answers of some who are invited, given after the hangout was planned."""
    [group_id] = hangout.associated_groups
    mine = [one.user_id for one in members if one.group_id == group_id]
    invited = once([*hangout.invited_users, *mine])
    made = []
    for who in dice.sample(invited, dice.randint(len(invited) // 3, len(invited) - 1)):
        direct = who in hangout.invited_users
        made.append(
            Response(
                hangout_id=hangout.hangout_id,
                user_id=who,
                answer=Answer.GOING if who == hangout.host_id else dice.choice(SAY),
                group_id=None if direct else group_id,
                guest_id=who if direct else None,
                at=min(now, hangout.start_timestamp) - timedelta(hours=dice.randint(1, 48)),
            )
        )
    return made
