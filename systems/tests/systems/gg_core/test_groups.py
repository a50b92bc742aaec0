"""Groups: roles, projects and communities."""

from __future__ import annotations

import asyncio

import pytest

from keyfold_web import Conflict, Missing, NotAllowed
from keyfold.errors import NotFound
from keyfold_systems.gg_core.entities import Role
from keyfold_systems.gg_core.payloads import GroupChange
from tests.systems.opening import LATER

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER


async def roles(world: World, group_id: str) -> dict[str, Role]:
    return {m.user_id: m.role for m in await world.service.group_members(group_id, FIRST)}


async def test_a_group_lists_its_members_and_a_user_their_groups(world: World) -> None:
    group = await world.found(OLGA)
    world.clock.advance(1)
    other = await world.found(OLGA)
    await world.service.join_group(group.group_id, caller=MIA)
    await world.settle()
    assert await roles(world, group.group_id) == {"olga": Role.OWNER, "mia": Role.MEMBER}
    assert [m.group_id for m in await world.service.groups("olga", FIRST)] == [
        other.group_id,
        group.group_id,
    ]
    assert (await world.service.group(group.group_id)).member_count == 2


async def test_a_new_name_reaches_every_members_list(world: World) -> None:
    group = await world.found(OLGA)
    await world.service.join_group(group.group_id, caller=MIA)
    await world.service.update_group(group.group_id, GroupChange(name="Walkers"))
    await world.settle()
    [mine] = await world.service.groups("mia", FIRST)
    assert mine.group_name == "Walkers"


async def test_joining_twice_or_nothing_is_refused(world: World) -> None:
    group = await world.found(OLGA)
    with pytest.raises(Conflict, match="already"):
        await world.service.join_group(group.group_id, caller=OLGA)
    with pytest.raises(NotFound):
        await world.service.join_group("nothing", caller=OLGA)


async def test_the_last_owner_cannot_leave_or_step_down(world: World) -> None:
    group = await world.found(OLGA)
    await world.service.join_group(group.group_id, caller=MIA)
    with pytest.raises(Conflict, match="last owner"):
        await world.service.leave_group(group.group_id, caller=OLGA)
    with pytest.raises(Conflict, match="last owner"):
        await world.service.change_role(group.group_id, "olga", Role.MEMBER)
    await world.service.change_role(group.group_id, "mia", Role.OWNER)
    await world.service.leave_group(group.group_id, caller=OLGA)
    assert await roles(world, group.group_id) == {"mia": Role.OWNER}


async def test_owners_who_leave_at_once_leave_one(world: World) -> None:
    group = await world.found(OLGA)
    for one in (MIA, SAM):
        await world.service.join_group(group.group_id, caller=one)
        await world.service.change_role(group.group_id, one.id, Role.OWNER)
    leaving = [world.service.leave_group(group.group_id, caller=one) for one in (OLGA, MIA, SAM)]
    await asyncio.gather(*leaving, return_exceptions=True)
    assert Role.OWNER in (await roles(world, group.group_id)).values()


async def test_admins_take_out_members_and_owners_anybody(world: World) -> None:
    group = await world.found(OLGA)
    for one in (MIA, SAM):
        await world.service.join_group(group.group_id, caller=one)
    await world.service.change_role(group.group_id, "mia", Role.ADMIN)
    with pytest.raises(NotAllowed):
        await world.service.remove_member(group.group_id, "olga", caller=MIA)
    await world.service.remove_member(group.group_id, "sam", caller=MIA)
    await world.service.remove_member(group.group_id, "mia", caller=OLGA)
    assert await roles(world, group.group_id) == {"olga": Role.OWNER}
    with pytest.raises(Missing):
        await world.service.remove_member(group.group_id, "sam", caller=OLGA)


async def test_a_project_ends_and_a_community_stays(world: World) -> None:
    project = await world.found(OLGA, persistent=False)
    community = await world.found(OLGA)
    await world.service.join_group(project.group_id, caller=MIA)
    await world.service.delete_group(project.group_id, caller=OLGA)
    with pytest.raises(Conflict, match="community"):
        await world.service.delete_group(community.group_id, caller=OLGA)
    await world.service.delete_group(community.group_id, caller=ROOT)
    await world.settle()
    assert (await world.service.groups("mia", FIRST)).items == []
    assert await world.drift() == []


async def test_a_project_becomes_a_community(world: World) -> None:
    project = await world.found(OLGA, persistent=False)
    change = GroupChange(is_persistent=True)
    assert (await world.service.update_group(project.group_id, change)).is_persistent
