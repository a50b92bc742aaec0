"""A small network with a few stars: who has followers gets more of them."""

from __future__ import annotations

import random
from datetime import timedelta

from keyfold import AsyncDb
from keyfold_web import Passwords
from keyfold_systems.tamafriends.addresses import new_id, new_post_id
from keyfold_systems.tamafriends.entities import (
    Comment,
    Credential,
    Follow,
    Like,
    Post,
    Report,
    UserProfile,
    home,
)

USERS: list[tuple[str, str, list[str]]] = [
    ("yuki", "Yuki Tanaka", []),
    ("omar", "Omar Haddad", []),
    ("lena", "Lena Brandt", []),
    ("noor", "Noor Aziz", ["moderator"]),
]
TRY = "/users/yuki/followers"
PASSWORD = "tamafriends"
OTHERS = 45

_FIRST = (
    *("Aiko", "Bela", "Cleo", "Dario", "Elif", "Finn", "Gaia", "Hugo", "Iva", "Jun", "Kim"),
    *("Luz", "Mika", "Nils", "Oona", "Pavel", "Rosa", "Sven", "Tara", "Uma", "Vito", "Wanda"),
)
_LAST = ("Abe", "Berg", "Costa", "Doyle", "Eklund", "Faria", "Grau", "Holm", "Ito", "Jansen")
_PETS = (
    *("my shiba", "the old tomcat", "our hen Marta", "my very round hamster", "the turtle"),
    *("the rescue greyhound", "my one-eyed cat", "the rabbit", "the parrot"),
)
_DID = (
    "{} learned to open the fridge. We have agreed on terms.",
    "Came home to find {} asleep on my keyboard. The email was sent.",
    "Today {} met the neighbour's dog and pretended not to care.",
    "Rain, and for once {} did not mind.",
    "New food. So far {} has filed two complaints.",
    "There is one sunny spot in the flat, and {} holds it.",
    "Vet day: {} was very brave, I was not.",
    "A year ago today {} moved in with us.",
    "Somebody ate the basil. Everybody looks at {}.",
    "Meanwhile {} has discovered the mirror.",
    "Brushing day: there is enough for a second one of {}.",
    "Six in the morning, says {}, is late.",
)
_SAID = (
    *("So cute!", "Give them a treat from me.", "Classic.", "Mine does the same.", "Iconic."),
    *("The face!", "Wishing you both a quiet night.", "We need a picture.", "I feel seen."),
    *("Ours ate the rug once.", "What a character.", "Congratulations, all of you!"),
)
_LIVES = "Lives with "


async def fill(db: AsyncDb) -> int:
    """Write the demo's data; returns how many items were made."""
    dice = random.Random(5)
    people = await _people(db, dice)
    made = 2 * len(people)
    popular: list[str] = [user for user, _, groups in USERS if not groups]
    edges: set[tuple[str, str]] = set()
    for person in people:
        for _ in range(dice.randint(3, 10)):
            star = dice.choice(popular)
            if star != person.user_id and (person.user_id, star) not in edges:
                edges.add((person.user_id, star))
                popular += [star, star, dice.choice(people).user_id]
    for follower, followee in sorted(edges):
        await db.transact(*home.following(Follow(follower_id=follower, followee_id=followee)))
    posts = [_post(db, dice, person) for person in people for _ in range(dice.randint(0, 5))]
    posts += [_post(db, dice, person) for person in people[:3] for _ in range(6)]
    await db.bulk(posts)
    reactions: list[Like | Comment] = []
    for post in posts:
        fans = dice.sample(people, min(len(people), int(dice.paretovariate(1.1)) + 1))
        for fan in fans[:25]:
            reactions += _reactions(db, dice, post, fan)
    await db.bulk(reactions)
    await db.bulk(_report(db, post) for post in posts[-2:])
    return made + len(edges) + len(posts) + len(reactions) + 2


def _report(db: AsyncDb, post: Post) -> Report:
    return Report(
        kind="post",
        target_id=post.post_id,
        user_id="omar",
        author_id=post.user_id,
        reason="other",
        text="This is my turtle, not theirs.",
        excerpt=post.text,
        created_at=db.context.now() - timedelta(hours=3),
    )


async def _people(db: AsyncDb, dice: random.Random) -> list[UserProfile]:
    known = [(user, name) for user, name, _ in USERS]
    moderators = {user for user, _, groups in USERS if groups}
    names = dice.sample([f"{first} {last}" for first in _FIRST for last in _LAST], OTHERS)
    others = [(name.lower().replace(" ", "_"), name) for name in names]
    people = [
        UserProfile(
            user_id=user,
            email=f"{user}@example.com",
            username=user,
            handle=user,
            display_name=name,
            bio=f"{_LIVES}{dice.choice(_PETS)}.",
            role="moderator" if user in moderators else "member",
        )
        for user, name in known + others
    ]
    await db.bulk(people)
    # One digest for all of them: each takes a quarter of a second.
    made = await Passwords(db, Credential).new_credential(people[0].user_id, PASSWORD)
    await db.bulk(made.model_copy(update={"user_id": one.user_id}) for one in people)
    return people


def _post(db: AsyncDb, dice: random.Random, author: UserProfile) -> Post:
    at = db.context.now() - timedelta(minutes=dice.randint(1, 20_000))
    return Post(
        user_id=author.user_id,
        post_id=new_post_id(at, author.user_id),
        text=_sentence(dice.choice(_DID), author.bio.removeprefix(_LIVES).removesuffix(".")),
        created_at=at,
    )


def _sentence(deed: str, pet: str) -> str:
    said = deed.format(pet)
    return said[0].upper() + said[1:]


def _reactions(
    db: AsyncDb, dice: random.Random, post: Post, fan: UserProfile
) -> list[Like | Comment]:
    """A like, and now and then a comment."""
    later = post.created_at + timedelta(seconds=dice.randint(10, 50_000))
    at = min(later, db.context.now())
    where = {
        "post_id": post.post_id,
        "user_id": fan.user_id,
        "post_user_id": post.user_id,
        "post_created_at": post.created_at,
        "created_at": at,
    }
    like = Like.model_validate(where)
    if dice.random() >= 0.3:
        return [like]
    said = {"comment_id": new_id(at), "user_handle": fan.handle, "text": dice.choice(_SAID)}
    return [like, Comment.model_validate({**where, **said})]
