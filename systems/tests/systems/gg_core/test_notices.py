"""What people are told: kept from the stream, read and unread."""

from __future__ import annotations

from keyfold_systems.gg_core.entities import Role
from keyfold_systems.gg_core.notices import NOTICE_DAYS
from tests.systems.opening import LATER, forget_progress

from .conftest import FIRST, MIA, OLGA, SAM, World

pytestmark = LATER


async def told(world: World, who: str) -> list[tuple[str, str | None, str]]:
    found = await world.service.notifications(who, FIRST)
    return [(one.kind, one.from_name, one.text) for one in found]


async def test_people_are_told_of_follows_comments_roles_and_quests(world: World) -> None:
    group = await world.found(OLGA)
    await world.service.join_group(group.group_id, caller=MIA)
    await world.service.follow_user("mia", caller=OLGA)
    post = await world.post(MIA)
    await world.settle()
    world.clock.advance(1)
    await world.comment(SAM, post, "Bravo")
    await world.comment(MIA, post, "Thanks")
    await world.settle()
    world.clock.advance(1)
    await world.service.change_role(group.group_id, "mia", Role.ADMIN)
    await world.settle()
    assert await told(world, "mia") == [
        ("role_changed", None, "Runners: admin"),
        ("commented", "Sam", "Bravo"),
        ("followed", "Olga", ""),
    ]
    quest = await world.counted(1)
    await world.done(await world.task(await world.goal()))
    await world.settle()
    assert await told(world, "olga") == [("quest_completed", None, f"{quest.title}: 10 XP")]


async def test_notices_are_counted_until_they_are_read(world: World) -> None:
    for one in (OLGA, SAM):
        world.clock.advance(1)
        await world.service.follow_user("mia", caller=one)
        await world.settle()
    assert (await world.service.unread("mia")).unread == 2
    newest, oldest = await world.service.notifications("mia", FIRST)
    for changed in (1, 0):
        found = await world.service.read_notifications("mia", {oldest.notice_id})
        assert found.count == changed
    await world.settle()
    assert (await world.service.unread("mia")).unread == 1
    await world.service.read_notifications("mia", until=newest.created_at)
    await world.settle()
    assert (await world.service.unread("mia")).unread == 0
    assert all(one.read_at is not None for one in await world.service.notifications("mia", FIRST))


async def test_nobody_is_told_twice_whatever_is_delivered_again(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    await forget_progress(world.db)
    world.clock.advance(1)
    await world.settle()
    assert len(await world.service.notifications("mia", FIRST)) == 1
    assert (await world.service.unread("mia")).unread == 1


async def test_notices_are_kept_for_three_months(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.settle()
    world.clock.advance(NOTICE_DAYS * 86400 + 1)
    assert (await world.service.notifications("mia", FIRST)).items == []
