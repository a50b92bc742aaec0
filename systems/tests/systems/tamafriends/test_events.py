"""Domain events: every change that others may care about is announced once."""

from __future__ import annotations

from collections import Counter

import pytest

from keyfold_web import Identity
from keyfold.streams import waiting
from keyfold_systems.tamafriends.payloads import NewReport, ProfileChange
from tests.systems.opening import LATER, forget_progress

from .conftest import LENA, OMAR, YUKI, World

pytestmark = LATER


async def announced(world: World) -> Counter[str]:
    await world.settle()
    return Counter(one.name for one in await world.db.run(waiting(world.db.context)))


@pytest.mark.parametrize("again", [False, True])
async def test_a_life_is_announced(world: World, again: bool) -> None:
    service, mod = world.service, Identity.of("mod", "moderator")
    post, short = await world.post(YUKI), await world.post(YUKI, hours=1)
    await service.edit_post(post.post_id, "See!", caller=YUKI)
    await world.like(OMAR, post)
    said = await world.comment(OMAR, post)
    await service.edit_comment(post.post_id, said.comment_id, "Hm!", caller=OMAR)
    await world.follow(OMAR, YUKI)
    await world.settle()
    await service.unfollow("omar", "yuki")
    await service.unlike(post.post_id, caller=OMAR)
    await service.delete_comment(post.post_id, said.comment_id, caller=OMAR)
    await service.edit_profile("omar", ProfileChange(handle="omar_h"))
    await service.block("yuki", "omar")
    await service.unblock("yuki", "omar")
    report = NewReport(kind="post", target_id=short.post_id, reason="spam")
    await service.report(report, caller=LENA)
    await service.remove_post(short.post_id, "Spam", caller=mod)
    await service.delete_post(post.post_id)
    await service.delete_account("omar")
    if again:
        await world.settle()
        await forget_progress(world.db)
    assert await announced(world) == {
        "UserJoined": 3,
        "UserChanged": 1,
        "UserLeft": 1,
        "PostCreated": 2,
        "PostEdited": 1,
        "PostDeleted": 2,
        "PostLiked": 1,
        "PostUnliked": 1,
        "CommentAdded": 1,
        "CommentEdited": 1,
        "CommentDeleted": 1,
        "UserFollowed": 1,
        "UserUnfollowed": 1,
        "UserBlocked": 1,
        "UserUnblocked": 1,
        "ContentReported": 1,
        "ModeratorDecided": 1,
    }


async def test_a_report_is_announced_without_who_made_it(world: World) -> None:
    post = await world.post(YUKI)
    report = NewReport(kind="post", target_id=post.post_id, reason="spam")
    await world.service.report(report, caller=LENA)
    await world.settle()
    told = await world.db.run(waiting(world.db.context))
    (reported,) = [one for one in told if one.name == "ContentReported"]
    assert b"lena" not in reported.body()


async def test_counters_and_copies_announce_nothing(world: World) -> None:
    post = await world.post(YUKI)
    before = await announced(world)
    await world.like(OMAR, post)
    assert await announced(world) - before == {"PostLiked": 1}


async def test_a_post_that_is_over_is_announced_as_such(local: World) -> None:
    await local.post(YUKI, hours=1)
    local.sandbox.clock.advance(3601)
    local.sandbox.engine.sweep()
    assert (await announced(local))["PostExpired"] == 1
