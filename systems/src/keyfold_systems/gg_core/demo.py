"""A network that grew: few people whom many follow, many whom few do, and what they all do."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from itertools import accumulate

from keyfold import AsyncDb, create
from keyfold_systems.gg_core.entities import Activity, Follow, Group, GroupMember, Role, User, home
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.operations.access import id_of
from keyfold_systems.gg_core.quests import STAKES
from keyfold_systems.gg_core.rooms import Message, Room

USERS: list[tuple[str, str, list[str]]] = [
    ("ada", "Ada Lang", []),
    ("ben", "Ben Okafor", []),
    ("root", "The administrator", ["admin"]),
]
TRY = "/users/ada/feed"

PEOPLE = 60
COMMENTS = 40
DAYS = 10
_FIRST = (
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
)
_LAST = (
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
)
_GROUPS = [
    ("Early birds", "Up before the sun, most days.", True),
    ("Read 24 books", "One every two weeks.", True),
    ("Half marathon in May", "Twelve weeks, four runs each.", False),
    ("Balcony gardeners", "Tomatoes, mostly.", True),
    ("Move the shop online", "Done when it takes its first order.", False),
]
_GOALS = [
    ("Run a half marathon", ["Buy shoes that fit", "Run 5 km", "Run 10 km", "Sign up"]),
    ("Learn to cook", ["A soup", "Fresh pasta", "Bread that rises"]),
    ("Read more", ["Finish the one on the table", "Join the library"]),
    ("Speak Italian", ["Lesson 1", "Lesson 2", "Order a coffee without English"]),
]
_POSTS = [
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
_COMMENTS = [
    "This made my morning.",
    "Count me in!",
    "How did you keep going?",
    "Same here, week three is the worst.",
    "Ha! I know that feeling.",
    "Tell me when the next one is.",
    "You make it look easy.",
    "My turn tomorrow. Now I have to.",
    "Photo or it did not happen.",
    "Proud of you.",
]
_GROUP_POSTS = [
    "Saturday, 8:00, at the bridge. Bring water.",
    "We are halfway. Thank you all for showing up.",
    "New here? Say hello and what you are working on.",
    "Photos of last week are up.",
]
_CHAT = [
    "Are you coming on Saturday?",
    "Yes! Shall I bring the thermos?",
    "Always bring the thermos.",
    "I may be five minutes late.",
    "You said that last time, and it was twenty.",
]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; gives how many items were made, copies and counters not counted."""
    dice = random.Random(11)
    now = db.context.now()
    people = [user for user, _, groups in USERS if not groups]
    names = {user: name for user, name, _ in USERS}
    everybody = [f"{first} {last}" for first in _FIRST for last in _LAST]
    for name in dice.sample(everybody, PEOPLE - len(people)):
        people.append(name.lower().replace(" ", "."))
        names[people[-1]] = name
    await db.bulk(
        User(id=user, nickname=user, email=f"{user}@example.com", full_name=names[user])
        for user in people
    )
    made = len(people)
    made += await _follows(db, dice, people)
    groups = await _groups(db, dice, people)
    made += sum(1 + len(members) for _, members in groups)
    made += await _activities(db, dice, people, groups, now)
    made += await _goals(db, dice, people[:12], now)
    made += await _chat(db, now)
    return made


async def _follows(db: AsyncDb, dice: random.Random, people: list[str]) -> int:
    """Each follows some; the n-th is followed about 1/n as often as the first (Zipf)."""
    famous = people[2:] + people[:2]
    weights = list(accumulate(1 / (rank + 1) for rank in range(len(famous))))
    made = 0
    for follower in people:
        wanted = set(dice.choices(famous, cum_weights=weights, k=dice.randint(4, 22)))
        if follower == "ada":
            wanted |= set(famous[:6]) | {"ben"}
        for followee in sorted(wanted - {follower}):
            await db.transact(*home.following(Follow(follower_id=follower, followee_id=followee)))
            made += 1
    return made


async def _groups(
    db: AsyncDb, dice: random.Random, people: list[str]
) -> list[tuple[Group, list[str]]]:
    groups = []
    for number, (name, description, stays) in enumerate(_GROUPS):
        members = ["ada", "ben"] if number < 3 else []
        members += dice.sample(people[2:], dice.randint(6, 20))
        group = Group(
            group_id=f"g{number}",
            name=name,
            description=description,
            owner_id=members[0],
            is_persistent=stays,
        )
        for place, user in enumerate(members):
            joined = GroupMember(
                group_id=group.group_id,
                user_id=user,
                role=[Role.OWNER, Role.ADMIN, Role.MEMBER][min(place, 2)],
                group_name=name,
                joined_at=db.context.now(),
            )
            first = [create(group)] if place == 0 else []
            await db.transact(*first, *home.following(joined))
        groups.append((group, members))
    return groups


async def _activities(
    db: AsyncDb,
    dice: random.Random,
    people: list[str],
    groups: list[tuple[Group, list[str]]],
    now: datetime,
) -> int:
    posts = []
    for rank, actor in enumerate(people):
        often = 1 + 12 // (rank + 2) + dice.randint(0, 2)
        said = dice.sample(_POSTS, min(often, len(_POSTS)))
        posts += [(dice.random() ** 2 * DAYS * 24, actor, actor, text) for text in said]
    posts += [
        (dice.random() * DAYS * 24, group.group_id, dice.choice(members[:2]), text)
        for group, members in groups
        for text in dice.sample(_GROUP_POSTS, 3)
    ]
    made: list[Activity] = []
    for number, (hours, actor, author, text) in enumerate(sorted(posts, reverse=True)):
        made.append(
            Activity(
                actor_id=actor,
                author_id=author,
                activity_id=f"a{number:04d}",
                verb="post",
                object_type="Group" if actor != author else "Post",
                object_id=actor if actor != author else f"a{number:04d}",
                group_id=actor if actor != author else None,
                preview_text=text,
                created_at=now - timedelta(hours=hours),
            )
        )
    made += _comments(dice, people, made, now)
    for one in sorted(made, key=lambda a: a.created_at):
        await home.post(db, one)
    return len(made)


def _comments(
    dice: random.Random, people: list[str], posts: list[Activity], now: datetime
) -> list[Activity]:
    """Each is about somebody else's post, and comes some minutes or hours after it."""
    found = []
    about = dice.sample([post for post in posts if post.actor_id == post.author_id], COMMENTS)
    for number, post in enumerate(about):
        who = dice.choice([one for one in people if one != post.author_id])
        at = post.created_at + timedelta(minutes=dice.randint(2, 300))
        found.append(
            Activity(
                actor_id=who,
                author_id=who,
                activity_id=f"c{number:04d}",
                verb="comment",
                object_type="Post",
                object_id=post.activity_id,
                post_id=post.activity_id,
                post_actor_id=post.actor_id,
                post_created_at=post.created_at,
                preview_text=dice.choice(_COMMENTS),
                created_at=min(at, now - timedelta(minutes=dice.randint(1, 59))),
            )
        )
    return found


async def _goals(db: AsyncDb, dice: random.Random, people: list[str], now: datetime) -> int:
    """Goals of the last weeks; the first steps are done, and of one goal each tells."""
    made = 0
    for user in people:
        for number, (title, steps) in enumerate(dice.sample(_GOALS, 2)):
            begun = now - timedelta(days=dice.randint(4, 40), hours=dice.randint(0, 23))
            goal = Goal(user_id=user, goal_id=f"{user}-{number}", title=title, created_at=begun)
            await db.create(goal)
            made += 1 + await _steps(db, dice, goal, steps, now)
        await db.create(
            Quest(
                user_id=user,
                id=f"{user}-three",
                title="Three things this week",
                difficulty="medium",
                reward_xp=STAKES["medium"].xp,
                kind="quantitative",
                target_count=3,
                period_seconds=7 * 86400,
                created_at=now - timedelta(days=3),
            )
        )
        made += 1
    return made


async def _steps(
    db: AsyncDb, dice: random.Random, goal: Goal, steps: list[str], now: datetime
) -> int:
    done = dice.randint(1, len(steps) - 1)
    tasks = [
        Task(
            user_id=goal.user_id,
            goal_id=goal.goal_id,
            task_id=f"{goal.goal_id}-{step}",
            title=title,
            due_at=now + timedelta(days=3 * (step - done) + dice.randint(1, 3)),
        )
        for step, title in enumerate(steps)
    ]
    for task in tasks:
        await db.create(task)
    finished = [now - timedelta(minutes=dice.randint(200, 4000))]
    for task in reversed(tasks[:done]):
        await db.update(task.ref(), completed_at=finished[-1])
        finished.append(finished[-1] - timedelta(minutes=dice.randint(300, 2500)))
    if goal.goal_id.endswith("-1"):
        return len(tasks)
    told = Activity(
        actor_id=goal.user_id,
        author_id=goal.user_id,
        activity_id=f"g-{goal.goal_id}",
        verb="goal_update",
        object_type="Goal",
        object_id=goal.goal_id,
        goal_id=goal.goal_id,
        preview_text=f"{goal.title}: {done} of {len(steps)} done. {steps[done - 1]}: check!",
        created_at=finished[0] + timedelta(minutes=dice.randint(3, 90)),
    )
    await home.post(db, told)
    return len(tasks) + 1


async def _chat(db: AsyncDb, now: datetime) -> int:
    talk = id_of("dm", "ada", "ben")
    await db.create(Room(room_id=talk, scope="dm", members={"ada", "ben"}))
    await db.create(Room(room_id="runners", scope="group", group_id="g2"))
    for number, text in enumerate(_CHAT):
        await db.create(
            Message(
                room_id=talk,
                message_id=f"m{number}",
                user_id="ada" if number % 2 == 0 else "ben",
                text=text,
                created_at=now - timedelta(minutes=10 - number),
            )
        )
    return 2 + len(_CHAT)
