"""The home feed: what those whom somebody follows share, whichever way it comes there."""

from __future__ import annotations

import pytest

from keyfold_web import Identity, PageRequest
from keyfold_systems.tamafriends.entities import FeedItem, Post, home
from tests.systems.opening import LATER, forget_progress, sweep

from .conftest import LENA, OMAR, PAGE, YUKI, World

pytestmark = LATER


async def texts(world: World, who: Identity) -> list[str]:
    return [one.text for one in await world.service.home(who.id, PAGE, caller=who)]


async def copies(world: World, who: Identity) -> int:
    return len([one async for one in world.db.scan(FeedItem) if one.reader_id == who.id])


async def pushed(world: World) -> Post:
    """A post of Yuki's that is in Omar's feed as a copy, since he reads often."""
    await world.follow(OMAR, YUKI)
    await world.settle()
    for _ in range(60):
        await home.page(world.db, "omar", limit=10)
        world.sandbox.clock.advance(60)
    await world.settle()
    post = await world.post(YUKI, "Copied")
    await world.settle()
    assert await copies(world, OMAR) == 1
    return post


async def test_the_posts_of_those_one_follows_newest_first(world: World) -> None:
    await world.follow(OMAR, YUKI)
    await world.follow(OMAR, LENA)
    for who, text in ((YUKI, "One"), (LENA, "Two"), (OMAR, "Mine"), (YUKI, "Three")):
        await world.post(who, text)
    assert await texts(world, OMAR) == ["Three", "Two", "One"]
    await world.settle()
    assert await texts(world, OMAR) == ["Three", "Two", "One"]
    assert await texts(world, YUKI) == []


async def test_what_was_posted_before_the_follow_is_there_too(world: World) -> None:
    await world.post(YUKI, "Before")
    await world.follow(OMAR, YUKI)
    assert await texts(world, OMAR) == ["Before"]


async def test_pages_follow_each_other_and_nothing_is_lost(world: World) -> None:
    await world.follow(OMAR, YUKI)
    for number in range(7):
        await world.post(YUKI, f"Post {number}")
    seen: list[str] = []
    cursor = None
    while True:
        page = await world.service.home("omar", PageRequest(limit=3, cursor=cursor), caller=OMAR)
        seen += [one.text for one in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [f"Post {number}" for number in reversed(range(7))]


@pytest.mark.parametrize("end", ["unfollow", "block", "be blocked"])
async def test_an_unfollow_and_a_block_take_posts_out_at_once(world: World, end: str) -> None:
    await pushed(world)
    if end == "unfollow":
        await world.service.unfollow("omar", "yuki")
    else:
        pair = ("omar", "yuki") if end == "block" else ("yuki", "omar")
        await world.service.block(*pair)
    assert await texts(world, OMAR) == []
    await world.settle()
    assert (await texts(world, OMAR), await copies(world, OMAR)) == ([], 0)
    assert await world.drift() == []


async def test_copies_show_what_the_post_is_by_now(world: World) -> None:
    post = await pushed(world)
    await world.like(OMAR, post)
    await world.settle()
    await world.service.edit_post(post.post_id, "Edited", caller=YUKI)
    [shown] = await world.service.home("omar", PAGE, caller=OMAR)
    assert (shown.text, shown.likes, shown.liked) == ("Edited", 1, True)


@pytest.mark.parametrize("end", ["delete", "expire", "leave"])
async def test_a_post_that_is_gone_leaves_every_feed(world: World, end: str) -> None:
    post = await pushed(world)
    if end == "delete":
        await world.service.delete_post(post.post_id)
    elif end == "leave":
        await world.service.delete_account("yuki")
    else:
        await world.db.update(post.ref(), expires_at=world.db.context.now())
        world.sandbox.clock.advance(1)
    assert await texts(world, OMAR) == []
    await sweep(world.db, world.sandbox, "tamafriends")
    await world.settle()
    assert (await texts(world, OMAR), await copies(world, OMAR)) == ([], 0)
    await forget_progress(world.db)
    await world.settle()
    assert await copies(world, OMAR) == 0
    assert await world.drift() == []


async def test_a_page_takes_few_requests_however_many_posts(local: World) -> None:
    await local.follow(OMAR, YUKI)
    for number in range(20):
        await local.post(YUKI, f"Post {number}")
    with local.db.work("home", requests=10) as work:
        assert len(await texts(local, OMAR)) == 20
    assert work.total.requests <= 8
