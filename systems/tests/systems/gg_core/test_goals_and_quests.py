"""Goals and tasks, and the quests that count them: once each."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from keyfold_web import Conflict, Invalid
from keyfold.errors import NotFound
from keyfold.streams import stream_handler
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.goals import MOST_ACTIVE_QUESTS, Award, QuestStep
from keyfold_systems.gg_core.payloads import GoalChange, NewGoal, NewQuest, NewTask, TaskChange
from tests.systems.opening import LATER, beside

from .conftest import FIRST, MIA, OLGA, ROOT, START, World

pytestmark = LATER
COUNTED = {"title": "Q", "kind": "quantitative", "targetCount": 1}


async def test_goals_come_newest_first_and_tasks_by_due_date(world: World) -> None:
    goals = []
    for title in ("Run", "Read"):
        world.clock.advance(1)
        goals.append(await world.service.create_goal(NewGoal(title=title), caller=OLGA))
    for days in (3, 1, 2):
        input = NewTask(title=f"in {days}", due_at=START + timedelta(days=days))
        await world.service.create_task(goals[0].goal_id, input, caller=OLGA)
    await world.task(goals[0], "whenever")
    assert [g.title for g in await world.service.goals("olga", FIRST)] == ["Read", "Run"]
    due = await world.service.tasks_due("olga", FIRST)
    assert [t.title for t in due] == ["in 1", "in 2", "in 3"]
    assert len(await world.service.tasks(goals[0].goal_id, FIRST)) == 4


async def test_goals_and_tasks_change_and_go_together(world: World) -> None:
    goal = await world.goal()
    task = await world.task(goal)
    await world.service.update_goal(goal.goal_id, GoalChange(title="Walk"), caller=OLGA)
    due = START + timedelta(days=1)
    changed = await world.service.update_task(goal.goal_id, task.task_id, TaskChange(due_at=due))
    assert changed.due_at == due
    await world.service.delete_goal(goal.goal_id, caller=OLGA)
    await world.settle()
    assert (await world.service.goals("olga", FIRST)).items == []
    assert (await world.service.tasks_due("olga", FIRST)).items == []


async def test_a_counted_quest_counts_completed_tasks_once_and_awards_its_points(
    world: World,
) -> None:
    goal = await world.goal()
    quest = await world.counted(3)
    for number in range(5):
        task = await world.task(goal, str(number))
        await asyncio.gather(world.done(task), world.done(task), return_exceptions=True)
        await world.done(task)
    await world.settle()
    found = await world.quest(quest)
    assert found.status == "completed"
    assert found.progress >= 3
    assert (await world.service.account("olga")).xp == 10
    assert (await world.announced()).count("QuestCompleted") == 1


async def records_of(world: World) -> tuple[str, list[dict[str, Any]]]:
    """The table's stream, and everything that is in it."""
    client = world.db.client
    named = {"TableName": f"{world.db.context.table_prefix}gg_core"}
    arn = (await client.call("DescribeTable", named))["Table"]["LatestStreamArn"]
    stream = (await client.call("DescribeStream", {"StreamArn": arn}))["StreamDescription"]
    records = []
    for shard in stream["Shards"]:
        start = {"ShardIteratorType": "TRIM_HORIZON", "ShardId": shard["ShardId"]}
        iterator = await client.call("GetShardIterator", {"StreamArn": arn, **start})
        records += (await client.call("GetRecords", iterator))["Records"]
    return str(arn), records


async def test_redelivered_records_count_nothing_again(world: World) -> None:
    goal = await world.goal()
    quest = await world.counted(5)
    await world.done(await world.task(goal))
    arn, records = await records_of(world)
    await world.settle()
    handler = stream_handler(beside(design, world.db, world.sandbox, world.backend))
    for _ in range(3):
        delivered = [{**record, "eventSourceARN": arn} for record in records]
        assert handler({"Records": delivered}, None) == {"batchItemFailures": []}
    assert (await world.quest(quest)).progress == 1
    assert (await world.announced()).count("TaskCompleted") == 1


async def test_only_tasks_in_scope_and_period_count(world: World) -> None:
    goal, other = await world.goal(), await world.goal()
    linked = await world.counted(
        9, count_scope="linked", linked_goal_ids={goal.goal_id}, period_seconds=3600
    )
    later = await world.counted(9, start_at=START + timedelta(hours=2))
    inside, outside = await world.task(goal), await world.task(other)
    await world.done(inside)
    await world.done(outside)
    world.clock.advance(3 * 3600)
    await world.done(await world.task(goal))
    await world.settle()
    assert (await world.quest(linked)).progress == 1
    assert (await world.quest(later)).progress == 1


async def test_a_linked_quest_ends_with_all_that_it_is_linked_to(world: World) -> None:
    goal, other = await world.goal(), await world.goal()
    task = await world.task(other)
    input = NewQuest.model_validate(
        {
            "title": "Both",
            "kind": "linked",
            "linked_goal_ids": {goal.goal_id},
            "linked_tasks": [{"goal_id": other.goal_id, "task_id": task.task_id}],
        }
    )
    quest = await world.service.create_quest(input, caller=OLGA)
    await world.done(task)
    await world.settle()
    assert (await world.quest(quest)).status == "active"
    world.clock.advance(1)
    await world.service.complete_goal(goal.goal_id, caller=OLGA)
    await world.settle()
    assert (await world.quest(quest)).status == "completed"
    assert (await world.service.account("olga")).xp == 10


async def test_a_quest_is_linked_only_to_what_is_ones_own_and_still_to_be_done(
    world: World,
) -> None:
    theirs = await world.goal(MIA)
    mine = await world.goal()
    their_task, done = await world.task(theirs), await world.task(mine)
    await world.done(done)
    for links in (
        {"linked_goal_ids": {theirs.goal_id}},
        {"linked_tasks": [{"goal_id": theirs.goal_id, "task_id": their_task.task_id}]},
        {"linked_tasks": [{"goal_id": mine.goal_id, "task_id": done.task_id}]},
        {},
    ):
        wrong = NewQuest.model_validate({"title": "No", "kind": "linked", **links})
        with pytest.raises(Invalid):
            await world.service.create_quest(wrong, caller=OLGA)
    with pytest.raises(Invalid):
        await world.service.create_quest(NewQuest(title="No", kind="quantitative"), caller=OLGA)
    assert (await world.service.quests("olga", FIRST)).items == []


async def test_a_quest_that_is_over_before_it_starts_is_refused(world: World) -> None:
    now = world.db.context.now()
    for more in (
        {"deadline": now - timedelta(days=1)},
        {"start_at": now + timedelta(days=2), "deadline": now + timedelta(days=1)},
    ):
        with pytest.raises(Invalid, match="deadline"):
            await world.counted(1, **more)
    with pytest.raises(Invalid, match="periodSeconds"):
        await world.counted(1, start_at=now - timedelta(days=1), period_seconds=3600)
    await world.counted(1, start_at=now - timedelta(minutes=1), period_seconds=3600)
    await world.counted(1, deadline=now + timedelta(days=1))


async def test_a_cancelled_quest_counts_no_more_and_a_completed_one_stays(world: World) -> None:
    goal = await world.goal()
    given_up, reached = await world.counted(1), await world.counted(1)
    await world.service.cancel_quest(given_up.id, caller=OLGA)
    again = await world.service.cancel_quest(given_up.id, caller=OLGA)
    assert again.status == "cancelled"
    await world.done(await world.task(goal))
    await world.settle()
    assert (await world.quest(given_up)).progress == 0
    with pytest.raises(Conflict, match="completed"):
        await world.service.cancel_quest(reached.id, caller=OLGA)
    assert (await world.service.account("olga")).xp == 10


async def test_a_deleted_quest_takes_its_steps_and_leaves_what_was_awarded(world: World) -> None:
    goal = await world.goal()
    quest = await world.counted(1)
    await world.done(await world.task(goal))
    await world.settle()
    await world.service.delete_quest("olga", quest.id, caller=ROOT)
    await world.settle()
    with pytest.raises(NotFound):
        await world.quest(quest)
    steps = await world.db.read(QuestStep.key.query(quest_id=quest.id))
    assert steps.items == []
    assert await world.db.find(Award.key(user_id="olga", quest_id=quest.id)) is not None
    assert (await world.service.account("olga")).xp == 10


async def test_quests_come_newest_first(world: World) -> None:
    made = []
    for _ in range(3):
        world.clock.advance(1)
        made.append((await world.counted(2)).id)
    assert [q.id for q in await world.service.quests("olga", FIRST)] == made[::-1]


async def test_nobody_sets_a_reward_and_a_hard_quest_takes_more(world: World) -> None:
    with pytest.raises(ValidationError, match="rewardXp"):
        NewQuest.model_validate({**COUNTED, "rewardXp": 9999})
    for difficulty, steps, xp in (("easy", 1, 10), ("medium", 3, 30), ("hard", 10, 100)):
        quest = await world.counted(steps, difficulty=difficulty)
        assert quest.reward_xp == xp
        if steps > 1:
            with pytest.raises(Invalid, match="steps or more"):
                await world.counted(steps - 1, difficulty=difficulty)


async def test_quests_are_not_piled_up_for_one_task(world: World) -> None:
    made = [await world.counted(1) for _ in range(MOST_ACTIVE_QUESTS)]
    with pytest.raises(Conflict, match="already"):
        await world.counted(1)
    await world.service.cancel_quest(made[0].id, caller=OLGA)
    await world.counted(1)
    assert (await world.service.account("olga")).active_quests == MOST_ACTIVE_QUESTS


async def test_a_due_date_is_taken_away_by_null_and_stays_if_it_is_left_out(world: World) -> None:
    goal = await world.goal()
    input = NewTask(title="Shoes", due_at=START + timedelta(days=1))
    task = await world.service.create_task(goal.goal_id, input, caller=OLGA)
    kept = await world.service.update_task(
        goal.goal_id, task.task_id, TaskChange.model_validate({"title": "Socks"})
    )
    assert kept.due_at == input.due_at
    [due] = await world.service.tasks_due("olga", FIRST)
    assert (due.title, due.goal_title) == ("Socks", "Run")
    without = TaskChange.model_validate({"dueAt": None})
    changed = await world.service.update_task(goal.goal_id, task.task_id, without)
    assert (changed.title, changed.due_at) == ("Socks", None)
    assert (await world.service.tasks_due("olga", FIRST)).items == []


async def test_a_goal_says_how_many_of_its_tasks_are_done(world: World) -> None:
    goal = await world.goal()
    tasks = [await world.task(goal, str(number)) for number in range(3)]
    await world.done(tasks[0])
    await world.service.delete_task(goal.goal_id, tasks[1].task_id)
    await world.settle()
    [found] = await world.service.goals("olga", FIRST)
    assert (found.done_count, found.task_count) == (1, 2)
