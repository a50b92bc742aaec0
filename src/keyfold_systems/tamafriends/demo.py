"""A small network with a few stars: who has followers gets more of them."""

from __future__ import annotations

import random
from datetime import timedelta

from keyfold import AsyncDb
from keyfold_systems.tamafriends import passwords
from keyfold_systems.tamafriends.design import (
    Comment,
    Credential,
    Follow,
    Like,
    Post,
    UserProfile,
)

USERS: list[tuple[str, str, list[str]]] = [
    ("yuki", "Yuki Tanaka", []),
    ("omar", "Omar Haddad", []),
    ("lena", "Lena Brandt", []),
]
TRY = "/users/yuki/followers"
PASSWORD = "tamafriends"

_NAMES = ["Aiko", "Bela", "Cleo", "Dario", "Elif", "Finn", "Gaia", "Hugo", "Iva", "Jun", "Kim"]
_PETS = ["my shiba", "the old tomcat", "our two hens", "a very round hamster", "the turtle"]
_DID = [
    "learned to open the fridge",
    "slept on my keyboard again",
    "met the neighbour's dog and pretended not to care",
    "finally likes the rain",
    "has opinions about breakfast",
    "found the one sunny spot in the flat",
    "went to the vet and was very brave",
]
_SAID = ["So cute!", "Give them a treat from me.", "Classic.", "Mine does the same.", "Iconic."]


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; gives how many items were made."""
    dice = random.Random(5)
    people = await _people(db, dice)
    made = 2 * len(people)
    popular: list[str] = [user for user, _, _ in USERS]
    edges: set[tuple[str, str]] = set()
    for person in people:
        for _ in range(dice.randint(3, 14)):
            star = dice.choice(popular)
            if star != person.user_id and (person.user_id, star) not in edges:
                edges.add((person.user_id, star))
                popular += [star, dice.choice(people).user_id]
    for follower, followee in sorted(edges):
        await db.create(Follow(follower_id=follower, followee_id=followee))
    posts = [await _post(db, dice, person) for person in people for _ in range(dice.randint(0, 5))]
    posts += [await _post(db, dice, person) for person in people[:3] for _ in range(6)]
    reactions = 0
    for post in posts:
        fans = dice.sample(people, min(len(people), int(dice.paretovariate(1.1)) + 1))
        for fan in fans[:40]:
            await _react(db, dice, post, fan)
            reactions += 1
    return made + len(edges) + len(posts) + reactions


async def _people(db: AsyncDb, dice: random.Random) -> list[UserProfile]:
    people = []
    known = [(user, name) for user, name, _ in USERS]
    others = [(f"tama{n:03d}", f"{dice.choice(_NAMES)} {n}") for n in range(160)]
    for user, name in known + others:
        profile = UserProfile(
            user_id=user,
            email=f"{user}@example.com",
            username=user,
            handle=user,
            display_name=name,
            bio=f"Lives with {dice.choice(_PETS)}.",
        )
        people.append(await db.create(profile))
    salt = passwords.new_salt()
    digest = await passwords.digest(PASSWORD, salt)
    for person in people:
        await db.create(Credential(user_id=person.user_id, salt=salt, digest=digest))
    return people


async def _post(db: AsyncDb, dice: random.Random, author: UserProfile) -> Post:
    post = Post(
        user_id=author.user_id,
        post_id=f"post{dice.randrange(10**9):09d}",
        text=f"{dice.choice(_PETS).capitalize()} {dice.choice(_DID)}.",
        created_at=db.context.now() - timedelta(minutes=dice.randint(1, 20_000)),
    )
    return await db.create(post)


async def _react(db: AsyncDb, dice: random.Random, post: Post, fan: UserProfile) -> None:
    later = post.created_at + timedelta(seconds=dice.randint(10, 50_000))
    where = {
        "post_id": post.post_id,
        "user_id": fan.user_id,
        "post_user_id": post.user_id,
        "post_created_at": post.created_at,
        "created_at": min(later, db.context.now()),
    }
    await db.create(Like.model_validate(where))
    if dice.random() < 0.3:
        said = {
            "comment_id": f"c{dice.randrange(10**9):09d}",
            "user_handle": fan.handle,
            "text": dice.choice(_SAID),
        }
        await db.create(Comment.model_validate({**where, **said}))
