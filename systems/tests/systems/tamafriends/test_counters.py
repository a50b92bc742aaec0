"""Stream processors: counters that are exact whatever is delivered again, deleted or expired."""

from __future__ import annotations

import pytest

from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy
from tests.systems.opening import LATER, forget_progress

from .conftest import LENA, OMAR, PAGE, YUKI, World

pytestmark = LATER
ONLY_PROFILES = {"USER_PROFILE": 3, "Unique": 9}


async def test_likes_and_comments_are_counted_on_their_post(world: World) -> None:
    post, other = await world.post(), await world.post()
    await world.like(OMAR, post)
    await world.like(LENA, post)
    said = await world.comment(OMAR, post)
    await world.settle()
    assert await world.reactions(post) == (2, 1)
    assert await world.reactions(other) == (0, 0)
    await world.service.unlike(post.post_id, caller=OMAR)
    await world.service.delete_comment(post.post_id, said.comment_id, caller=OMAR)
    await world.settle()
    assert await world.reactions(post) == (1, 0)


async def test_likes_and_comments_carry_where_their_post_is(world: World) -> None:
    post = await world.post()
    like, said = await world.like(OMAR, post), await world.comment(OMAR, post)
    for one in (like, said):
        assert (one.post_user_id, one.post_created_at) == (post.user_id, post.created_at)


async def test_counting_reads_no_index(local: World) -> None:
    post = await local.post()
    await local.settle()
    await local.like(OMAR, post)
    local.sandbox.requests.clear()
    await local.settle()
    assert await local.reactions(post) == (1, 0)
    # The cascade asks whether the index shows the like yet; the counter asks nothing.
    looks = [r for _, r in local.sandbox.requests if "IndexName" in r]
    assert [one["KeyConditionExpression"] for one in looks] == ["#0 = :0 AND #1 = :1"]


async def test_follows_are_counted_on_both_profiles(world: World) -> None:
    await world.follow(OMAR, YUKI)
    await world.follow(LENA, YUKI)
    await world.follow(YUKI, LENA)
    await world.settle()
    assert await world.counts(YUKI) == (2, 1)
    assert await world.counts(OMAR) == (0, 1)
    assert await world.counts(LENA) == (1, 1)
    await world.service.unfollow("omar", "yuki")
    await world.settle()
    assert await world.counts(YUKI) == (1, 1)
    assert await world.counts(OMAR) == (0, 0)


@pytest.mark.parametrize("times", [1, 3])
async def test_what_is_delivered_again_counts_once(world: World, times: int) -> None:
    post = await world.post()
    await world.like(OMAR, post)
    await world.comment(LENA, post)
    await world.follow(OMAR, YUKI)
    await world.settle()
    for _ in range(times):
        await forget_progress(world.db)
        await world.settle()
    assert await world.reactions(post) == (1, 1)
    assert await world.counts(YUKI) == (1, 0)
    assert await world.drift() == []


@pytest.mark.parametrize("settled", [True, False])
async def test_a_deleted_post_leaves_nothing_and_does_not_come_back(
    world: World, settled: bool
) -> None:
    post = await world.post()
    await world.like(OMAR, post)
    await world.comment(LENA, post)
    if settled:
        await world.settle()
    await world.service.delete_post(post.post_id)
    await world.settle()
    assert await world.kinds() == ONLY_PROFILES
    await forget_progress(world.db)
    await world.settle()
    assert await world.kinds() == ONLY_PROFILES
    assert await world.drift() == []


@pytest.mark.parametrize("settled", [True, False])
async def test_an_expired_post_takes_its_likes_and_comments_along(
    local: World, settled: bool
) -> None:
    post = await local.post(hours=1)
    lasting = await local.post()
    for one in (post, lasting):
        await local.like(OMAR, one)
        await local.comment(LENA, one)
    if settled:
        await local.settle()
    local.sandbox.clock.advance(2 * 3600)
    posts = await local.service.posts("yuki", PAGE, caller=LENA)
    assert [one.post_id for one in posts] == [lasting.post_id]
    assert local.sandbox.engine.sweep() == 1
    await local.settle()
    assert await local.reactions(lasting) == (1, 1)
    liked = await local.service.likes("omar", PAGE, caller=OMAR)
    assert [one.post.post_id for one in liked] == [lasting.post_id]
    assert await local.kinds() == {
        **ONLY_PROFILES,
        "POST": 1,
        "LIKE": 1,
        "COMMENT": 1,
        "Notification": 2,
    }
    assert await local.drift() == []


async def test_a_like_that_races_the_posts_deletion_leaves_no_ghost(world: World) -> None:
    post = await world.post()
    like = await world.like(OMAR, post)
    await world.service.delete_post(post.post_id)
    await world.settle()
    await world.db.put(like)
    await world.settle()
    assert await world.kinds() == ONLY_PROFILES


async def test_edits_leave_counters_alone(world: World) -> None:
    post = await world.post()
    await world.like(OMAR, post)
    edited = await world.service.edit_post(post.post_id, "Better", caller=YUKI)
    await world.settle()
    assert (edited.text, await world.reactions(post)) == ("Better", (1, 0))
    assert (await world.db.get(post.ref())).text == "Better"


@pytest.mark.sandbox(index_lag=5)
async def test_what_an_index_shows_late_goes_with_its_account_too(local: World) -> None:
    post = await local.post()
    local.sandbox.clock.advance(6)
    await local.settle()
    await local.like(OMAR, post)
    impatient = AsyncConsumer(local.db, options=ConsumerOptions(policy=Policy(patience=1)))
    await impatient.run_once()
    await local.service.delete_account("omar")
    await impatient.run_once()
    assert (await local.kinds())["LIKE"] == 1
    local.sandbox.clock.advance(6)
    await impatient.drain()
    await local.settle()
    assert (await local.kinds())["LIKE"] == 0
    assert await local.reactions(post) == (0, 0)
    assert await local.drift() == []
