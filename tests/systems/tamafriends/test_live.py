"""What people hear of while they look at their home, over a real socket."""

from __future__ import annotations

import pytest

from keyfold_systems.tamafriends.entities import home
from tests.systems.conftest import served
from tests.systems.listener import heard, next_of, refusal
from tests.systems.opening import LATER

from .conftest import LENA, OMAR, YUKI, World

pytestmark = LATER
HOME = "subscription ($id: String!) { homeChanged(readerId: $id) { postId what } }"
FILLED = "subscription ($id: String!) { homeFilled(readerId: $id) { postId userId what } }"
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
