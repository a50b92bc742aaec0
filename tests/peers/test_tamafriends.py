"""TamaFriends on other people's servers: from the profile to the last counter."""

from __future__ import annotations

from functools import partial

import pytest

from keyfold import AsyncDb
from keyfold.errors import UniqueTaken, Unsupported
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, DeadLetter, letters
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_systems.tamafriends.views import NewPost, NewProfile, ProfileChange
from keyfold_web import Conflict, Identity, PageRequest

from .lagging import shown

PAGE = PageRequest(limit=50, cursor=None)
YUKI, OMAR, LENA = Identity.of("yuki"), Identity.of("omar"), Identity.of("lena")
WITHOUT_TRANSACTIONS = {"dynalite"}
"""Opening the design says so at once."""


UNFILLED = {"moto"}
"""It notes an item that an UpdateItem makes before it has filled it: with its key alone."""


def is_unfilled(letter: DeadLetter, server: str) -> bool:
    change = (letter.record or {}).get("dynamodb", {})
    return server in UNFILLED and "Keys" in change and change.get("NewImage") == change["Keys"]


def profile(name: str, handle: str = "") -> NewProfile:
    return NewProfile(
        email=f"{name}@example.com",
        username=name,
        handle=handle or name,
        display_name=name.title(),
    )


async def settle(db: AsyncDb, server: str) -> None:
    await AsyncConsumer(db).drain()
    dead = await db.run(letters(db.context))
    assert [letter for letter in dead if not is_unfilled(letter, server)] == []
    assert (await db.run(verification(db.context))).clean


async def test_a_life_from_the_profile_to_the_last_counter(other_server: tuple[str, str]) -> None:
    name, url = other_server
    if name in WITHOUT_TRANSACTIONS:
        with pytest.raises(Unsupported, match="has no transactions"):
            await design.open_async(url, create_tables=True)
        return
    db = await design.open_async(url, create_tables=True)
    service = TamaFriends(db)

    for who in (YUKI, OMAR):
        await service.create_profile(profile(who.id), caller=who)
    with pytest.raises(UniqueTaken):
        await service.create_profile(profile("lena", "YUKI"), caller=LENA)
    await service.edit_profile("yuki", ProfileChange(email="new@example.com"))

    async def login() -> str:
        return str((await service.login_by_email("new@example.com")).user_id)

    async def posts() -> list[str]:
        return [one.text for one in await service.posts("yuki", PAGE, caller=OMAR)]

    async def comments() -> list[str]:
        return [one.text for one in await service.comments_of_user("omar", PAGE)]

    await shown(login, "yuki")

    post, other = [
        await service.create_post(NewPost(text=text), caller=YUKI) for text in ("One", "Two")
    ]

    async def text_of(post_id: str) -> str:
        return str((await service.post(post_id, caller=OMAR)).text)

    for one in (post, other):
        await shown(partial(text_of, one.post_id), one.text)
        await service.like(one.post_id, caller=OMAR)
        await service.comment(one.post_id, "Nice.", caller=OMAR)
    with pytest.raises(Conflict):
        await service.like(post.post_id, caller=OMAR)
    await service.follow("yuki", caller=OMAR)
    await settle(db, name)
    kept = await service.post(post.post_id, caller=YUKI)
    assert (kept.like_count, kept.comment_count) == (1, 1)
    assert (await service.profile("yuki")).follower_count == 1
    await shown(posts, ["Two", "One"])

    await service.delete_post(post.post_id)
    await service.unfollow("yuki", caller=OMAR)
    await service.unlike(other.post_id, caller=OMAR)
    await settle(db, name)
    assert (await service.profile("yuki")).follower_count == 0
    kept = await service.post(other.post_id, caller=YUKI)
    assert (kept.like_count, kept.comment_count) == (0, 1)
    await shown(comments, ["Nice."])
    await db.close()
