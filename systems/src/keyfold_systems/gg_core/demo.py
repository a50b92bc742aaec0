"""The demo's data: people with goals, of whom a few have many followers and are promoted.

The same on every run, apart from the day, and as the service would allow it: nobody posts in a
group that they do not lead, and nothing is older than what it belongs to.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from keyfold import AsyncDb
from keyfold_systems.gg_core.entities import (
    Activity,
    Follow,
    Goal,
    Group,
    GroupMember,
    Message,
    Promotion,
    Quest,
    Role,
    Room,
    RoomOfUser,
    Task,
    User,
)
from keyfold_systems.gg_core.operations.chat import room_of_two
from keyfold_systems.gg_core.operations.goals import REWARDS

USERS: list[tuple[str, str, list[str]]] = [
    ("ada", "Ada Lang", []),
    ("ben", "Ben Okafor", []),
    ("root", "The operator", ["admin"]),
]
TRY = "/users/ada/feed"
FAMOUS = {"lina.haas": "Lina Haas", "theo.rossi": "Theo Rossi", "aylin.kaya": "Aylin Kaya"}
"""They have so many followers that an operator has promoted them."""
PEOPLE = {
    "mia.keller": "Mia Keller",
    "noah.silva": "Noah Silva",
    "emma.novak": "Emma Novak",
    "liam.weber": "Liam Weber",
    "elias.costa": "Elias Costa",
    "zoe.meier": "Zoe Meier",
    "omar.nguyen": "Omar Nguyen",
    "ines.dubois": "Ines Dubois",
    "luca.larsen": "Luca Larsen",
    "sara.brandt": "Sara Brandt",
    "finn.moser": "Finn Moser",
    "nora.lind": "Nora Lind",
}
GROUPS = [
    ("early", "Early birds", "Up before the sun, most days.", True),
    ("books", "Read 24 books", "One every two weeks.", True),
    ("marathon", "Half marathon in May", "Twelve weeks, four runs each.", False),
]
GOALS = [
    ("Run a half marathon", ["Buy shoes that fit", "Run 5 km", "Run 10 km", "Sign up"]),
    ("Learn to cook", ["A soup", "Fresh pasta", "Bread that rises"]),
    ("Speak Italian", ["Lesson 1", "Lesson 2", "Order a coffee without English"]),
]
POSTS = [
    "Ten kilometres before breakfast, and the coffee after tasted of victory.",
    "Chapter twelve. Nobody told me the dog dies.",
    "First tomato of the year. It is green. It counts.",
    "Slept through the alarm, ran at lunch instead. Still counts.",
    "Bread, attempt four: it rose!",
    "Anyone up for the long run on Sunday? Easy pace, promise.",
    "Finished the course I started in March. Certificates are silly and I framed it.",
    "Two weeks without sugar. I dream of cake.",
    "Rain all week. Moved the plan indoors.",
    "New shoes, same legs.",
    "Said no to a third project this month. It felt like finishing one.",
    "Pasta by hand: two hours, gone in four minutes.",
    "Today the Italian at the market understood me. Then answered in English.",
    "The library called. The book I ordered in spring is here.",
    "Personal best, by nine seconds, into the wind.",
    "Rest day. The hardest one for me.",
    "Whoever invented hill repeats: we need to talk.",
    "Inbox at zero for the first time since 2019. Screenshot or nobody believes it.",
    "Basil survived the holidays. My neighbour is a hero.",
    "Cleaned the garage and found the other glove.",
]
GROUP_POSTS = {
    "early": "Saturday, 8:00, at the bridge. Bring water.",
    "books": "We are halfway. Thank you all for showing up.",
    "marathon": "Week six: the long run is 14 km now.",
}
CHAT = [
    "Are you coming on Saturday?",
    "Yes! Shall I bring the thermos?",
    "Always bring the thermos.",
    "I may be five minutes late.",
    "You said that last time, and it was twenty.",
]
BEGAN = timedelta(days=60)
"""When everybody signed up, and founded and joined groups, before now."""


def data(now: datetime) -> list[list[Any]]:
    """What is written, in the order in which it is written."""
    dice = random.Random(11)
    began = now - BEGAN
    names = {**FAMOUS, "ada": "Ada Lang", "ben": "Ben Okafor", **PEOPLE}
    users = [
        User(user_id=id, nickname=id, email=f"{id}@example.com", full_name=name, created_at=began)
        for id, name in names.items()
    ]
    flags = [
        Promotion(user_id=one, fanout_enabled=True, thresholds={"followers": 10}) for one in FAMOUS
    ]
    ids = list(names)
    return [
        users,
        flags,
        _follows(dice, ids, began),
        _groups(dice, began),
        _activities(dice, ids, now),
        _goals(now),
        _chat(now),
    ]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; returns how many items it has, without copies and counters."""
    made = data(db.context.now())
    for items in made:
        await db.bulk(items)
    return sum(map(len, made))


def _follows(dice: random.Random, ids: list[str], at: datetime) -> list[Follow]:
    """Everybody follows the famous, and some of the others."""
    found = []
    for one in ids:
        others = [other for other in ids if other != one and other not in FAMOUS]
        followed = {*FAMOUS, *dice.sample(others, 5)} - {one}
        if one in ("ada", "ben"):
            followed |= {"ada", "ben"} - {one}
        found += [
            Follow(follower_id=one, followee_id=other, created_at=at) for other in sorted(followed)
        ]
    return found


def _groups(dice: random.Random, at: datetime) -> list[Group | GroupMember]:
    made: list[Group | GroupMember] = []
    for group_id, name, description, stays in GROUPS:
        owner, *others = dice.sample(list(PEOPLE), 6)
        members = {owner: Role.OWNER, "ada": Role.ADMIN, **dict.fromkeys(others, Role.MEMBER)}
        made.append(
            Group(
                group_id=group_id,
                name=name,
                description=description,
                owner_id=owner,
                is_persistent=stays,
                created_at=at,
            )
        )
        made += [
            GroupMember(group_id=group_id, user_id=user, role=role, joined_at=at)
            for user, role in members.items()
        ]
    return made


def _activities(dice: random.Random, ids: list[str], now: datetime) -> list[Activity]:
    """Of the last ten days; those of the famous come as copies, the others are pulled."""
    made = []
    for number, text in enumerate(POSTS):
        who = dice.choice(list(FAMOUS)) if number % 3 == 0 else dice.choice(ids)
        at = now - timedelta(hours=12 * number + dice.randint(1, 11), minutes=dice.randint(0, 59))
        made.append(_post(who, f"a{number:02d}", text, at))
    for number, (group_id, text) in enumerate(GROUP_POSTS.items()):
        made.append(_post(group_id, f"g{number}", text, now - timedelta(hours=20 + 9 * number)))
    return made


def _post(actor: str, id: str, text: str, at: datetime) -> Activity:
    return Activity(
        activity_id=id,
        actor_id=actor,
        verb="post",
        object_type="Post",
        object_id=id,
        preview_text=text,
        created_at=at,
    )


def _goals(now: datetime) -> list[Goal | Task | Quest]:
    """Goals of Ada and Ben, with some steps done, and a quest each."""
    made: list[Goal | Task | Quest] = []
    for user, goals in (("ada", GOALS[:2]), ("ben", GOALS[2:])):
        for title, steps in goals:
            goal_id = f"{user}-{title.split()[-1].lower()}"
            begun = now - timedelta(days=20 + len(title))
            made.append(Goal(user_id=user, goal_id=goal_id, title=title, created_at=begun))
            for step, name in enumerate(steps):
                made.append(
                    Task(
                        goal_id=goal_id,
                        task_id=f"{goal_id}.{step}",
                        user_id=user,
                        title=name,
                        due_at=now + timedelta(days=3 * step - 2),
                        completed_at=begun + timedelta(days=15) if step == 0 else None,
                    )
                )
        made.append(
            Quest(
                user_id=user,
                quest_id=f"{user}-three",
                title="Three things this month",
                difficulty="medium",
                reward_xp=REWARDS["medium"],
                kind="quantitative",
                target_count=3,
                count_scope="any",
                period_seconds=30 * 86_400,
                created_at=now - timedelta(days=12),
            )
        )
    return made


def _chat(now: datetime) -> list[Room | RoomOfUser | Message]:
    members = ["ada", "ben"]
    room_id, opened = room_of_two(members), now - timedelta(hours=3)
    said = [
        Message(
            room_id=room_id,
            message_id=f"m{number}",
            user_id=members[number % 2],
            text=text,
            created_at=opened + timedelta(minutes=4 * number + 1),
        )
        for number, text in enumerate(CHAT)
    ]
    listed = [RoomOfUser(user_id=one, room_id=room_id, created_at=opened) for one in members]
    return [Room(room_id=room_id, scope="dm", members=members, created_at=opened), *listed, *said]
