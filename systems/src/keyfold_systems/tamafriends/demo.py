"""The demo's data: twelve users and their pets. The same on every run, apart from the day.

It obeys the rules of the service: nobody follows themselves or likes twice, and everything is
younger than what it is about.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any, cast

from keyfold import AsyncDb
from keyfold_systems.tamafriends.entities import (
    Comment,
    Follow,
    Kind,
    Like,
    Pet,
    Post,
    Scene,
    UserProfile,
)

# User, name, pet, kind, colour
OWNERS = [
    ("yuki", "Yuki Tanaka", "Mochi", "cat", "#e8a15c"),
    ("omar", "Omar Haddad", "Falafel", "dog", "#b98354"),
    ("lena", "Lena Brandt", "Marta", "bird", "#e3c04f"),
    ("noor", "Noor Aziz", "Slow Joe", "turtle", "#6fa05d"),
    ("aiko", "Aiko Abe", "Pudding", "rabbit", "#d9c3b0"),
    ("dario", "Dario Costa", "Bandit", "cat", "#6d6f7b"),
    ("elif", "Elif Doyle", "Captain", "bird", "#58a6c9"),
    ("hugo", "Hugo Faria", "Biscuit", "dog", "#d8b17a"),
    ("iva", "Iva Grau", "Clover", "rabbit", "#a98d7a"),
    ("mika", "Mika Holm", "Turbo", "turtle", "#8a9a4b"),
    ("rosa", "Rosa Ito", "Saffron", "cat", "#d97742"),
    ("sven", "Sven Jansen", "Waffle", "dog", "#8c6a4f"),
]
USERS = [
    *((id, name, list[str]()) for id, name, *_ in OWNERS),
    ("login", "The login service", ["admin"]),
]
TRY = "/users/yuki/wall"
# Every sentence is used once; {} is the pet.
TEXTS: list[tuple[Scene, str]] = [
    ("sofa", "{} has taken the warm half of the sofa. The other half is under review."),
    ("rain", "Rain since six. {} blames me."),
    ("night", "Two in the morning, and {} has news for the whole house."),
    ("meadow", "First grass of the year. {} approves."),
    ("bath", "Bath day. {} was brave; I was wet."),
    ("sofa", "Came home to find {} asleep on my keyboard. The email was sent."),
    ("meadow", "{} met the neighbour's hen and pretended not to care."),
    ("night", "There is one star tonight, and {} is watching it."),
    ("rain", "Somebody left muddy prints on the letter from the bank. Everybody looks at {}."),
    ("bath", "{} and the rubber duck have signed a treaty."),
    ("meadow", "A year ago today {} moved in. The house was quiet then."),
    ("sofa", "New blanket. So far {} has filed two complaints."),
    ("night", "{} dreams with both feet."),
    ("rain", "For once {} did not mind the umbrella."),
    ("meadow", "{} found the sunny spot and will not say where."),
    ("bath", "Enough bubbles for two of {}."),
    ("sofa", "Guests tonight. {} has chosen a lap already."),
    ("meadow", "Small walk, big opinions: {} at the park."),
    ("night", "The moon is full and {} is not sleepy at all."),
    ("rain", "{} watches the drops race down the window. The left one won."),
    ("meadow", "Today {} learned to wait. For four seconds."),
    ("sofa", "I only went to make tea. {} is in my chair."),
    ("bath", "{} is clean. This will not last until lunch."),
    ("night", "Lights out, says {}, is a matter of taste."),
]
SAID = [
    "What a face!",
    "Ours does exactly that.",
    "Please tell them I said hello.",
    "I needed this today.",
    "A treat from me, please.",
    "Look at those feet.",
    "Framed and on the wall.",
    "The neighbour's side of the story, please.",
]


def data(now: datetime) -> list[list[Any]]:
    """What is written, in the order in which it is written."""
    dice = random.Random(2)
    people = [_profile(*one, now - timedelta(days=120 - at)) for at, one in enumerate(OWNERS)]
    ids = [one.user_id for one in people]
    follows = [
        Follow(follower_id=one, followee_id=other, created_at=now - timedelta(days=60))
        for one in ids
        for other in sorted(dice.sample([who for who in ids if who != one], 5))
    ]
    posts = [_post(dice, now, number, people) for number in range(len(TEXTS))]
    reactions = [one for post in posts for one in _reactions(dice, post, ids)]
    return [people, follows, posts, reactions]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; returns how many items it has."""
    made = data(db.context.now())
    for items in made:
        await db.bulk(items)
    return sum(map(len, made))


def _post(dice: random.Random, now: datetime, number: int, people: list[UserProfile]) -> Post:
    scene, text = TEXTS[number]
    person = people[(number * 5) % len(people)]
    at = now - timedelta(hours=(len(TEXTS) - number) * 17, minutes=dice.randint(0, 59))
    words = text.format(person.pet.name if person.pet else "")
    return Post.new(person.user_id, words, at, scene, f"demo{number:03d}")


def _reactions(dice: random.Random, post: Post, ids: list[str]) -> list[Like | Comment]:
    """Likes of some others, and comments of a few of them."""
    fans = dice.sample([one for one in ids if one != post.user_id], dice.randint(1, 9))
    said, made = dice.sample(SAID, dice.randint(0, 3)), list[Like | Comment]()
    for at, fan in enumerate(fans):
        later = post.created_at + timedelta(minutes=20 * at + dice.randint(3, 20))
        made.append(Like.of(post, fan, later))
        if at < len(said):
            made.append(Comment.on(post, fan, said[at], later, f"{post.post_id}-{fan}"))
    return made


def _profile(user: str, name: str, pet: str, kind: str, colour: str, at: datetime) -> UserProfile:
    return UserProfile(
        user_id=user,
        email=f"{user}@example.com",
        username=f"{user}.tama",
        handle=user,
        display_name=name,
        bio=f"Lives with {pet}.",
        pet=Pet(name=pet, kind=cast("Kind", kind), colour=colour),
        created_at=at,
    )
