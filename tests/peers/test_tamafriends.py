"""TamaFriends on other people's servers: from the sign-up to the last counter."""

from __future__ import annotations

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Missing, NotAllowed, PageRequest
from keyfold.errors import UniqueTaken, UnknownOperation
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, DeadLetter, letters
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.payloads import Login, NewAccount, NewPost, ProfileChange
from keyfold_systems.tamafriends.service import TamaFriends

PAGE = PageRequest(limit=50, cursor=None)
PASSWORD = "correct horse"
WITHOUT_TRANSACTIONS = {"dynalite"}
"""Nor TTL, so that opening the design says at once that an operation is missing."""


UNFILLED = {"moto"}
"""It notes an item that an UpdateItem makes before it has filled it: with its key alone."""


def is_unfilled(letter: DeadLetter, server: str) -> bool:
    change = (letter.record or {}).get("dynamodb", {})
    return server in UNFILLED and "Keys" in change and change.get("NewImage") == change["Keys"]


def account(name: str) -> NewAccount:
    return NewAccount(
        email=f"{name}@example.com",
        username=name,
        handle=name,
        display_name=name.title(),
        password=PASSWORD,
    )


async def settle(db: AsyncDb, server: str) -> None:
    await AsyncConsumer(db).drain()
    dead = await db.run(letters(db.context))
    assert [letter for letter in dead if not is_unfilled(letter, server)] == []
    assert (await db.run(verification(db.context))).clean


async def test_a_life_from_signing_up_to_leaving(other_server: tuple[str, str]) -> None:
    name, url = other_server
    if name in WITHOUT_TRANSACTIONS:
        with pytest.raises(UnknownOperation):
            await design.open_async(url, create_tables=True)
        return
    db = await design.open_async(url, create_tables=True)
    service = TamaFriends(db)

    yuki, omar = [
        Identity.of((await service.sign_up(account(who))).user_id) for who in ("yuki", "omar")
    ]
    with pytest.raises(UniqueTaken):
        await service.sign_up(account("lena").model_copy(update={"handle": "YUKI"}))
    await service.edit_profile(yuki.id, ProfileChange(email="new@example.com"))
    signed = await service.sign_in(Login(login="New@Example.com", password=PASSWORD))
    assert signed.user_id == yuki.id

    post, other = [
        await service.create_post(NewPost(text=text), caller=yuki) for text in ("One", "Two")
    ]
    for one in (post, other):
        await service.like(one.post_id, caller=omar)
        await service.comment(one.post_id, "Nice.", caller=omar)
    with pytest.raises(Conflict):
        await service.like(post.post_id, caller=omar)
    await service.follow(omar.id, yuki.id)
    await settle(db, name)
    kept = await service.post(post.post_id, caller=yuki)
    assert (kept.likes, kept.comments) == (1, 1)
    assert (await service.user(yuki.id, caller=yuki)).followers == 1
    assert [one.text for one in await service.posts(yuki.id, PAGE, caller=omar)] == ["Two", "One"]

    await service.delete_post(post.post_id)
    await service.block(yuki.id, omar.id)
    with pytest.raises(NotAllowed):
        await service.follow(omar.id, yuki.id)
    await settle(db, name)
    assert (await service.user(yuki.id, caller=yuki)).followers == 0
    liked = await service.likes(omar.id, PAGE, caller=omar)
    assert liked.items == [], "a block hides what they liked of each other"

    await service.delete_account(omar.id)
    await settle(db, name)
    kept = await service.post(other.post_id, caller=yuki)
    assert (kept.likes, kept.comments) == (0, 0)
    with pytest.raises(Missing):
        await service.user(omar.id, caller=yuki)
    await db.close()
