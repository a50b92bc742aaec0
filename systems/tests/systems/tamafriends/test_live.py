"""What people hear of while they look at their home, over a real socket."""

from __future__ import annotations

import pytest

from keyfold_web import Identity
from keyfold.streams import Change
from keyfold_systems.tamafriends.entities import Comment, Post, home
from tests.systems.conftest import served
from tests.systems.listener import heard, next_of, refusal
from tests.systems.opening import LATER

from .conftest import LENA, OMAR, YUKI, World

pytestmark = LATER
HOME = "subscription ($id: String!) { homeChanged(readerId: $id) { postId what } }"
FILLED = "subscription ($id: String!) { homeFilled(readerId: $id) { postId userId what } }"
POST = "subscription ($id: String!) { postChanged(postId: $id) { userId what } }"
NOTIFIED = "subscription ($id: String!) { notified(userId: $id) { unread } }"


async def test_followers_hear_of_a_post_and_nobody_else_does(local: World) -> None:
    await local.follow(OMAR, YUKI)
    async with (
        served(local.service) as web,
        heard(web, "omar", HOME, id="omar") as his,
        heard(web, "lena", HOME, id="lena") as hers,
    ):
        await local.post(YUKI, "Look!")
        own = await local.post(LENA, "Mine")
        assert (await next_of(his))["data"]["homeChanged"]["what"] == "new"
        assert (await next_of(hers))["data"]["homeChanged"]["postId"] == own.post_id


async def test_a_post_from_before_one_listens_is_heard_of_when_its_copy_comes(
    local: World,
) -> None:
    await local.follow(OMAR, YUKI)
    await local.settle()
    for _ in range(60):
        await home.page(local.db, "omar", limit=10)
        local.sandbox.clock.advance(60)
    await local.settle()
    post = await local.post(YUKI, "Made before")
    async with served(local.service) as web, heard(web, "omar", FILLED, id="omar") as his:
        assert list(await home.page(local.db, "omar", limit=10)) == []
        await local.settle()
        arrived = {"postId": post.post_id, "userId": "yuki", "what": "new"}
        assert (await next_of(his))["data"]["homeFilled"] == arrived


@pytest.mark.parametrize("query", [HOME, FILLED, NOTIFIED])
async def test_nobody_listens_to_what_is_not_theirs(local: World, query: str) -> None:
    async with (
        served(local.service) as web,
        heard(web, "lena", query, id="omar") as answers,
    ):
        assert await refusal(answers) == "NOT_ALLOWED"


APART = pytest.mark.parametrize(("blocker", "blocked"), [("yuki", "omar"), ("omar", "yuki")])


@APART
async def test_nobody_hears_who_comments_behind_a_block(
    local: World, blocker: str, blocked: str
) -> None:
    post = await local.post(LENA)
    await local.service.block(blocker, blocked)
    async with served(local.service) as web, heard(web, "omar", POST, id=post.post_id) as his:
        await local.comment(YUKI, post)
        await local.comment(LENA, post)
        told = (await next_of(his))["data"]["postChanged"]
        assert told == {"userId": "lena", "what": "changed"}


@APART
async def test_nobody_hears_of_a_post_behind_a_block(
    local: World, blocker: str, blocked: str
) -> None:
    post = await local.post(YUKI)
    said = await local.comment(LENA, post)
    changes: list[Change[Post | Comment]] = [
        Change(Post.__spec__, post, post),
        Change(Post.__spec__, post, None),
        Change(Comment.__spec__, None, said),
    ]
    await local.service.block(blocker, blocked)

    async def hears(who: Identity) -> list[bool]:
        told = [await local.service.post_changed(one, post.post_id, who) for one in changes]
        return [one is not None for one in told]

    assert await hears(OMAR) == [False] * 3
    assert await hears(LENA) == [True] * 3
