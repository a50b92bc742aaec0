"""Counters under concurrency: many callers and consumers at once, and records that come twice."""

from __future__ import annotations

import asyncio

import pytest

from keyfold import AsyncDb
from keyfold.streams import AsyncConsumer
from keyfold_systems.tamafriends import patterns
from keyfold_systems.tamafriends.entities import Post

from .conftest import World

FANS = [f"fan{number:02d}" for number in range(12)]


async def both(world: World, *consumers: AsyncConsumer) -> None:
    """Several consumers at once, then one for what is left."""
    await asyncio.gather(*(one.drain() for one in consumers))
    await world.settle()


async def test_many_at_once_are_each_counted_once(world: World) -> None:
    await world.join("ana", *FANS)
    post = (await world.do("ana", "POST", "/posts", {"text": "Look!"}))["postId"]

    async def adore(fan: str) -> None:
        await world.do(fan, "POST", f"/posts/{post}/likes")
        await world.do(fan, "POST", "/users/ana/followers")
        await world.do(fan, "POST", f"/posts/{post}/comments", {"text": "Aww."})
        if fan < "fan04":
            await world.do(fan, "DELETE", f"/posts/{post}/likes/me")
            await world.do(fan, "DELETE", "/users/ana/followers/me")

    draining = both(world, AsyncConsumer(world.db), AsyncConsumer(world.db))
    await asyncio.gather(*(adore(fan) for fan in FANS), draining)
    await world.settle()
    shown = await world.do("ana", "GET", f"/posts/{post}")
    assert (shown["likeCount"], shown["commentCount"]) == (8, 12)
    assert (await world.do("", "GET", "/users/ana"))["followerCount"] == 8
    assert (await world.do("", "GET", "/users/fan00"))["followingCount"] == 0
    assert (await world.do("", "GET", "/users/fan11"))["followingCount"] == 1
    assert await world.drifts() == []


async def test_one_user_who_presses_twice_counts_once(world: World) -> None:
    await world.join("ana", "ben")
    post = (await world.do("ana", "POST", "/posts", {"text": "Look!"}))["postId"]
    pressed = (world.call("ben", "POST", f"/posts/{post}/likes") for _ in range(6))
    codes = sorted(one.status_code for one in await asyncio.gather(*pressed))
    assert codes == [201, 409, 409, 409, 409, 409]
    await world.settle()
    assert (await world.do("", "GET", f"/posts/{post}"))["likeCount"] == 1


async def test_a_deleted_post_takes_its_reactions_along_and_does_not_come_back(
    world: World,
) -> None:
    await world.join("ana", "ben")
    post = (await world.do("ana", "POST", "/posts", {"text": "Oops."}))["postId"]
    await world.do("ben", "POST", f"/posts/{post}/likes")
    await world.do("ben", "POST", f"/posts/{post}/comments", {"text": "?"})
    await world.do("ana", "DELETE", f"/posts/{post}")
    await world.settle()  # the records of the like and the comment come after the deletion
    items = [item async for item in world.db.scan(Post)]
    assert items == []
    assert (await world.do("ben", "GET", "/users/ben/likes"))["items"] == []
    assert (await world.do("ben", "GET", "/users/ben/comments"))["items"] == []
    assert await world.drifts() == []


@pytest.mark.parametrize(("path", "json"), [("likes", None), ("comments", {"text": "Late."})])
async def test_nothing_is_said_of_a_post_that_goes_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, json: dict[str, str] | None
) -> None:
    await world.join("ana", "ben")
    post = (await world.do("ana", "POST", "/posts", {"text": "Oops."}))["postId"]
    read = patterns.post_by_id

    async def read_and_lose(db: AsyncDb, post_id: str) -> Post | None:
        found = await read(db, post_id)
        assert found is not None
        await db.delete(found.ref())
        return found

    monkeypatch.setattr(patterns, "post_by_id", read_and_lose)
    late = await world.call("ben", "POST", f"/posts/{post}/{path}", json)
    assert late.status_code == 404
    assert (await world.do("ben", "GET", f"/users/ben/{path}"))["items"] == []
