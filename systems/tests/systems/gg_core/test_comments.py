"""Comments: only on what is there and can be seen, counted, and gone with it."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold_web import Invalid, NotAllowed
from keyfold_systems.gg_core.entities import Activity, CommentsCounter
from keyfold_systems.gg_core.patterns import feed_items
from keyfold_systems.gg_core.payloads import NewActivity
from tests.systems.opening import LATER

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER


async def said_about(world: World, post: Activity) -> list[str]:
    found = await world.service.comments(post.actor_id, post.activity_id, FIRST, caller=OLGA)
    return [one.preview_text for one in found]


async def test_comments_are_listed_with_names_and_counted(world: World) -> None:
    post = await world.post(OLGA, "First!")
    await world.comment(MIA, post, "one")
    await world.comment(SAM, post, "two")
    await world.settle()
    found = await world.service.comments("olga", post.activity_id, FIRST, caller=MIA)
    assert [(one.author_name, one.preview_text, one.mine) for one in found] == [
        ("Mia", "one", True),
        ("Sam", "two", False),
    ]
    [entry] = await world.service.activities("olga", FIRST, caller=OLGA)
    assert (entry.author_name, entry.comments, entry.mine) == ("Olga", 2, True)


async def test_a_comment_is_on_something_that_is_there(world: World) -> None:
    post, gone = await world.post(OLGA), await world.post(OLGA)
    await world.service.delete_activity("olga", gone.activity_id, gone.created_at, caller=OLGA)
    never = post.model_copy(update={"activity_id": "never"})
    elsewhere = post.model_copy(update={"actor_id": "sam"})
    for wrong in (gone, never, elsewhere):
        with pytest.raises(Invalid, match="does not exist"):
            await world.comment(MIA, wrong)
    wanting: list[dict[str, Any]] = [
        {"object_id": post.activity_id},
        {"object_id": "x", "object_type": "Goal"},
        {"object_id": "x", "object_type": "Group"},
        {"object_id": "x", "object_type": "Task", "object_actor_id": "x"},
        {"object_id": "x", "object_type": "Task"},
    ]
    for more in wanting:
        input = NewActivity.model_validate({"verb": "comment", "preview_text": "Hm", **more})
        with pytest.raises(Invalid):
            await world.service.post_activity(input, caller=MIA)
    assert (await world.service.activities("mia", FIRST, caller=MIA)).items == []


async def test_goals_tasks_and_groups_of_ones_own_can_be_commented_on(world: World) -> None:
    goal, group = await world.goal(MIA), await world.found(MIA)
    task = await world.task(goal)
    for kind, one, place in (
        ("Goal", goal.goal_id, None),
        ("Task", task.task_id, goal.goal_id),
        ("Group", group.group_id, None),
    ):
        given = {"verb": "comment", "object_type": kind, "object_id": one, "preview_text": "Hm"}
        input = NewActivity.model_validate({**given, "object_actor_id": place})
        assert (await world.service.post_activity(input, caller=MIA)).object_id == one
        with pytest.raises(Invalid):
            await world.service.post_activity(input, caller=SAM)


async def test_who_does_not_see_a_post_says_nothing_about_it(world: World) -> None:
    group = await world.found(OLGA)
    inside = await world.post(OLGA, "For members", group=group.group_id)
    with pytest.raises(Invalid, match="does not exist"):
        await world.comment(MIA, inside)
    with pytest.raises(NotAllowed):
        await world.service.comments(group.group_id, inside.activity_id, FIRST, caller=MIA)
    post = await world.post(OLGA)
    await world.service.block_user("mia", caller=OLGA)
    with pytest.raises(Invalid, match="does not exist"):
        await world.comment(MIA, post)
    with pytest.raises(NotAllowed):
        await world.service.activities("olga", FIRST, caller=MIA)
    input = NewActivity(verb="comment", object_id="x", actor_id=group.group_id)
    with pytest.raises(Invalid, match="your own"):
        await world.service.post_activity(input, caller=OLGA)


async def test_a_block_holds_for_what_is_written_in_a_group(world: World) -> None:
    group = await world.found(OLGA)
    await world.service.join_group(group.group_id, caller=MIA)
    hers = await world.post(OLGA, "Hers", group=group.group_id)
    theirs = await world.post(MIA, "Theirs", group=group.group_id)
    await world.service.block_user("mia", caller=OLGA)
    for who, post in ((MIA, hers), (OLGA, theirs)):
        with pytest.raises(Invalid, match="does not exist"):
            await world.comment(who, post)


async def test_comments_go_with_their_post_out_of_every_feed(world: World) -> None:
    await world.service.follow_user("mia", caller=OLGA)
    await world.service.promote("mia", True, caller=ROOT)
    await world.settle()
    post = await world.post(SAM)
    for number in range(3):
        await world.comment(MIA, post, str(number))
    kept = await world.post(MIA, "kept")
    await world.settle()
    assert await world.texts(OLGA) == ["kept", "2", "1", "0"]
    await world.service.delete_activity("sam", post.activity_id, post.created_at, caller=SAM)
    await world.settle()
    assert await said_about(world, post) == []
    assert [one async for one in world.db.scan(CommentsCounter)] == []
    assert await world.texts(OLGA) == ["kept"]
    assert [one.activity_id for one in await feed_items(world.db, "olga")] == [kept.activity_id]
    assert await world.drift() == []
