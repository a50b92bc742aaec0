"""Notifications: kept by the stream, read and unread, gone with what they tell of."""

from __future__ import annotations

import pytest

from keyfold_web import Identity
from keyfold_systems.tamafriends.entities import Notification
from keyfold_systems.tamafriends.payloads import Notice
from tests.systems.opening import LATER, forget_progress

from .conftest import LENA, OMAR, PAGE, YUKI, World

pytestmark = LATER


async def told(world: World, who: Identity = YUKI) -> list[Notice]:
    return (await world.service.notifications(who.id, PAGE)).items


async def unread(world: World, who: Identity = YUKI) -> int:
    await world.settle()
    return (await world.service.unread(who.id)).unread


async def test_likes_comments_and_follows_tell_whom_they_are_about(world: World) -> None:
    post = await world.post(YUKI)
    await world.like(OMAR, post)
    await world.comment(LENA, post, "How sweet!")
    world.sandbox.clock.advance(1)
    await world.follow(OMAR, YUKI)
    assert await unread(world) == 3
    seen = [
        (one.kind, one.actor.handle if one.actor else "", one.text) for one in await told(world)
    ]
    assert seen == [
        ("follow", "omar", ""),
        ("comment", "lena", "How sweet!"),
        ("like", "omar", ""),
    ]
    assert {one.post_id for one in await told(world)} == {post.post_id, None}
    assert await told(world, OMAR) == await told(world, LENA) == []


async def test_nobody_is_told_of_what_they_did_themselves(world: World) -> None:
    post = await world.post(YUKI)
    await world.like(YUKI, post)
    await world.comment(YUKI, post)
    assert await unread(world) == 0
    assert await told(world) == []


async def test_what_is_taken_back_is_not_told_any_more(world: World) -> None:
    post = await world.post(YUKI)
    await world.like(OMAR, post)
    said = await world.comment(OMAR, post)
    await world.follow(OMAR, YUKI)
    assert await unread(world) == 3
    await world.service.unlike(post.post_id, caller=OMAR)
    await world.service.delete_comment(post.post_id, said.comment_id, caller=OMAR)
    await world.service.unfollow("omar", "yuki")
    assert await unread(world) == 0
    assert await told(world) == []


async def test_an_edited_comment_is_told_as_it_is_and_stays_read(world: World) -> None:
    post = await world.post(YUKI)
    said = await world.comment(OMAR, post, "Nise.")
    await world.settle()
    await world.service.read_notifications("yuki")
    await world.service.edit_comment(post.post_id, said.comment_id, "Nice.", caller=OMAR)
    assert await unread(world) == 0
    assert [(one.text, one.read) for one in await told(world)] == [("Nice.", True)]


async def test_one_or_all_are_marked_as_read(world: World) -> None:
    post = await world.post(YUKI)
    for who in (OMAR, LENA):
        await world.like(who, post)
        await world.comment(who, post)
    assert await unread(world) == 4
    newest, *_ = await told(world)
    await world.service.read_notifications("yuki", {newest.notification_id})
    assert await unread(world) == 3
    assert [one.read for one in await told(world)] == [True, False, False, False]
    await world.service.read_notifications("yuki")
    await world.service.read_notifications("yuki")
    assert await unread(world) == 0
    assert all(one.read for one in await told(world))


async def test_marking_what_is_gone_changes_nothing(world: World) -> None:
    post = await world.post(YUKI)
    await world.like(OMAR, post)
    await world.settle()
    [one] = await told(world)
    await world.service.unlike(post.post_id, caller=OMAR)
    await world.settle()
    assert (await world.service.read_notifications("yuki", {one.notification_id})).count == 0
    assert await told(world) == []


async def test_what_is_delivered_again_is_told_once_and_stays_read(world: World) -> None:
    post = await world.post(YUKI)
    await world.like(OMAR, post)
    await world.settle()
    await world.service.read_notifications("yuki")
    for _ in range(2):
        await forget_progress(world.db)
        await world.settle()
    assert await unread(world) == 0
    assert [one.read for one in await told(world)] == [True]
    assert await world.drift() == []


async def test_notifications_end_by_themselves(world: World) -> None:
    await world.like(OMAR, await world.post(YUKI))
    await world.settle()
    world.sandbox.clock.advance(61 * 86400)
    assert await told(world) == []


@pytest.mark.parametrize(("blocker", "blocked"), [("yuki", "omar"), ("omar", "yuki")])
async def test_what_a_block_hides_is_not_counted_as_unread(
    world: World, blocker: str, blocked: str
) -> None:
    post = await world.post(YUKI)
    for who in (OMAR, LENA):
        await world.like(who, post)
    assert await unread(world) == 2
    await world.service.block(blocker, blocked)
    assert await unread(world) == 1
    assert [one.actor.handle for one in await told(world) if one.actor] == ["lena"]
    await forget_progress(world.db)
    assert await unread(world) == 1
    await world.service.unblock(blocker, blocked)
    assert [one.read for one in await told(world)] == [False, True]


async def test_what_is_told_after_a_block_is_not_counted_as_unread(world: World) -> None:
    post, other = await world.post(YUKI), await world.post(YUKI)
    await world.like(OMAR, post)
    await world.like(OMAR, other)
    await world.service.block("yuki", "omar")
    await world.service.unlike(other.post_id, caller=OMAR)
    assert await unread(world) == 0
    await world.service.unblock("yuki", "omar")
    assert [one.post_id for one in await told(world)] == [post.post_id]


async def test_what_is_told_to_who_left_goes(world: World) -> None:
    await world.service.delete_account("lena")
    await world.settle()
    now = world.db.context.now()
    late = Notification(user_id="lena", notification_id="n", kind="removal", created_at=now)
    await world.db.put(late)
    await world.settle()
    assert [item["SK"] for item in await world.items() if item["PK"] == {"S": "NOTICES#lena"}] == []
