"""What is deleted takes along what belongs to it, wherever that is."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import NotFound
from keyfold_systems.gg_core.entities import Activity
from keyfold_systems.gg_core.payloads import NewActivity, NewQuest, NewRoom
from keyfold_systems.gg_core.rooms import Message, Room
from tests.systems.opening import LATER, stored

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER


async def everything(world: World, entity: Any) -> list[Any]:
    return [one async for one in world.db.scan(entity)]


async def told_of(world: World, goal_id: str, **more: Any) -> None:
    world.clock.advance(1)
    given = {"verb": "goal_update", "object_type": "Goal", "object_id": goal_id}
    told = NewActivity.model_validate({**given, "preview_text": "Halfway", **more})
    await world.service.post_activity(told, caller=OLGA)


async def test_a_group_goes_with_its_rooms_messages_and_activities(world: World) -> None:
    group = await world.found(OLGA, persistent=False)
    await world.service.join_group(group.group_id, caller=MIA)
    hall = NewRoom(scope="group", group_id=group.group_id)
    rooms = [await world.service.create_room(hall, caller=OLGA) for _ in range(2)]
    talk = await world.service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA)
    for number in range(60):
        world.clock.advance(1)
        await world.service.send_message(rooms[number % 2].room_id, str(number), caller=MIA)
    await world.service.send_message(talk.room_id, "stays", caller=MIA)
    ours = await world.post(MIA, "ours", group=group.group_id)
    mine = await world.post(MIA, "mine")
    await world.comment(OLGA, ours, "about ours")
    await world.settle()
    await world.service.delete_group(group.group_id, caller=OLGA)
    await world.settle()
    assert [one.room_id for one in await everything(world, Room)] == [talk.room_id]
    assert [one.text for one in await everything(world, Message)] == ["stays"]
    left = await everything(world, Activity)
    assert [one.activity_id for one in left] == [mine.activity_id]
    assert await world.drift() == []


async def test_nothing_stays_that_is_added_to_a_group_that_is_gone(world: World) -> None:
    group = await world.found(OLGA, persistent=False)
    await world.service.delete_group(group.group_id, caller=OLGA)
    late = Activity(
        actor_id=group.group_id,
        activity_id="late",
        author_id="mia",
        verb="post",
        object_type="Post",
        object_id="late",
        group_id=group.group_id,
        created_at=world.db.context.now(),
    )
    await world.db.create(late)
    with pytest.raises(NotFound):
        await world.db.create(Room(room_id="late", scope="group", group_id=group.group_id))
    await world.settle()
    assert await everything(world, Activity) == []
    assert await everything(world, Room) == []


async def test_a_goal_goes_with_what_was_told_of_it(world: World) -> None:
    await world.service.follow_user("olga", caller=MIA)
    await world.service.promote("olga", True, caller=ROOT)
    goal, other = await world.goal(), await world.goal()
    await world.settle()
    task = await world.task(goal)
    await told_of(world, goal.goal_id)
    await told_of(world, goal.goal_id, verb="celebrated")
    about = {"object_type": "Task", "object_id": task.task_id, "object_actor_id": goal.goal_id}
    await told_of(world, goal.goal_id, verb="comment", **about)
    await told_of(world, other.goal_id)
    await world.settle()
    await world.service.delete_goal(goal.goal_id, caller=OLGA)
    await world.settle()
    left = await world.service.activities("olga", FIRST, caller=OLGA)
    assert [one.object_id for one in left] == [other.goal_id]
    feed = await world.service.feed("mia", FIRST)
    assert [one.object_id for one in feed] == [other.goal_id]
    assert await world.drift() == []


async def test_a_quest_does_not_wait_for_what_is_deleted(world: World) -> None:
    goal, other = await world.goal(), await world.goal()
    task = await world.task(other)
    both = NewQuest.model_validate(
        {
            "title": "Both",
            "kind": "linked",
            "linked_goal_ids": {goal.goal_id},
            "linked_tasks": [{"goal_id": other.goal_id, "task_id": task.task_id}],
        }
    )
    lost = await world.service.create_quest(both, caller=OLGA)
    scope = {"count_scope": "linked"}
    some = await world.counted(2, linked_goal_ids={goal.goal_id, other.goal_id}, **scope)
    only = await world.counted(2, linked_goal_ids={goal.goal_id}, **scope)
    await world.settle()
    await world.service.delete_goal(goal.goal_id, caller=OLGA)
    await world.settle()
    assert (await world.quest(lost)).status == "cancelled"
    assert (await world.quest(lost)).lost_link == goal.goal_id
    assert (await world.quest(some)).status == "active"
    assert (await world.quest(some)).linked_goal_ids == {other.goal_id}
    assert (await world.quest(only)).status == "cancelled"
    assert (await world.service.account("olga")).active_quests == 1
    kinds = [one.kind for one in await world.service.notifications("olga", FIRST)]
    assert kinds == ["quest_cancelled", "quest_cancelled"]


async def test_what_has_counted_may_be_deleted(world: World) -> None:
    goal = await world.goal()
    tasks = [await world.task(goal, title) for title in ("one", "two")]
    links = [{"goal_id": goal.goal_id, "task_id": task.task_id} for task in tasks]
    input = NewQuest.model_validate({"title": "Both", "kind": "linked", "linked_tasks": links})
    quest = await world.service.create_quest(input, caller=OLGA)
    await world.done(tasks[0])
    await world.settle()
    await world.service.delete_task(goal.goal_id, tasks[0].task_id)
    await world.settle()
    assert (await world.quest(quest)).status == "active"
    await world.done(tasks[1])
    await world.settle()
    assert (await world.quest(quest)).status == "completed"


async def test_a_group_leaves_nothing_but_what_expires(world: World) -> None:
    group = await world.found(SAM, persistent=False)
    await world.service.join_group(group.group_id, caller=MIA)
    await world.service.promote(group.group_id, True, caller=ROOT)
    hall = NewRoom(scope="group", group_id=group.group_id)
    room = await world.service.create_room(hall, caller=SAM)
    await world.service.send_message(room.room_id, "Hello", caller=MIA)
    await world.service.read_room(room.room_id, caller=SAM)
    post = await world.post(SAM, "ours", group=group.group_id)
    await world.comment(MIA, post)
    await world.settle()
    await world.service.delete_group(group.group_id, caller=SAM)
    await world.settle()
    assert (await world.service.explain_reach(group.group_id)).promoted is None
    ids = (group.group_id, room.room_id, post.activity_id)
    left = [
        f"{one['PK']['S']} {one['SK']['S']}"
        for one in await stored(world.db, "gg_core")
        if any(id in str(one) for id in ids) and "ttl" not in one
    ]
    marks = [f"USER#{one} READ#{room.room_id}" for one in ("mia", "sam")]
    assert sorted(one for one in left if not one.startswith("AUDIT#")) == marks
