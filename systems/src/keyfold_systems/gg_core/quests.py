"""How quests progress: completed tasks count once each, and the last one wins the reward.

What a quest is worth follows from how hard it is, and how hard it is from what it takes: nobody
sets a reward.

Every step is an item of its own, named by quest and task, so that a record which is delivered
again counts nothing. The step that reaches the target completes the quest and makes its award.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from keyfold import create, put, remove, update
from keyfold.runtime import Intent
from keyfold.streams import Delivery
from keyfold_systems.gg_core.entities import design
from keyfold_systems.gg_core.goals import Award, Goal, Quest, QuestStep, Task


@dataclass(frozen=True)
class Stake:
    """What a quest takes at least, and what it is worth."""

    steps: int
    xp: int


Difficulty = Literal["easy", "medium", "hard"]
STAKES: Final[dict[Difficulty, Stake]] = {
    "easy": Stake(steps=1, xp=10),
    "medium": Stake(steps=3, xp=30),
    "hard": Stake(steps=10, xp=100),
}


def counts_task(quest: Quest, task: Task) -> bool:
    """Whether a completed task is a step of an active quest."""
    at = task.completed_at
    if at is None or not in_time(quest, at):
        return False
    if quest.kind == "linked":
        return task.task_id in quest.linked_task_ids
    linked = task.task_id in quest.linked_task_ids or task.goal_id in quest.linked_goal_ids
    return linked or quest.count_scope == "any"


def in_time(quest: Quest, at: datetime) -> bool:
    """Whether something that happened at this time counts for a quest."""
    start = quest.start_at or quest.created_at
    if at < start or (quest.deadline is not None and at > quest.deadline):
        return False
    return quest.period_seconds is None or at <= start + timedelta(seconds=quest.period_seconds)


def target(quest: Quest) -> int:
    """How many steps complete a quest."""
    if quest.kind == "quantitative":
        return quest.target_count or 1
    return max(1, len(quest.linked_task_ids) + len(quest.linked_goal_ids))


@design.on(Task, "modify", name="count_task")
async def count_task(old: Task, new: Task, delivery: Delivery) -> list[Intent]:
    """A completed task is a step of the quests it belongs to."""
    if new.completed_at is None or old.completed_at is not None:
        return []
    delivery.emit("TaskCompleted", {"userId": new.user_id, "taskId": new.task_id})
    return [
        put(QuestStep(quest_id=q.id, user_id=q.user_id, task_id=new.task_id, at=new.completed_at))
        for q in await _active(delivery, new.user_id)
        if counts_task(q, new)
    ]


@design.on(Goal, "modify", name="count_goal")
async def count_goal(old: Goal, new: Goal, delivery: Delivery) -> list[Intent]:
    """A completed goal is a step of the quests that are linked to it."""
    at = new.completed_at
    if at is None or old.completed_at is not None:
        return []
    delivery.emit("GoalCompleted", {"userId": new.user_id, "goalId": new.goal_id})
    return [
        put(QuestStep(quest_id=q.id, user_id=q.user_id, task_id=new.goal_id, at=at))
        for q in await _active(delivery, new.user_id)
        if q.kind == "linked" and new.goal_id in q.linked_goal_ids and in_time(q, at)
    ]


@design.on(QuestStep, "insert", name="complete_quest")
async def complete_quest(_: None, new: QuestStep, delivery: Delivery) -> list[Intent]:
    """The step that reaches the target completes the quest and awards its points."""
    quest = await delivery.find(Quest.key(user_id=new.user_id, id=new.quest_id))
    if quest is None or quest.status != "active" or quest.progress < target(quest):
        return []
    delivery.emit("QuestCompleted", {"userId": quest.user_id, "questId": quest.id})
    award = Award(user_id=quest.user_id, quest_id=quest.id, xp=quest.reward_xp)
    return [update(quest, status="completed"), create(award)]


@design.on(Goal, "remove", name="unlink_goal")
async def unlink_goal(old: Goal, _: None, delivery: Delivery) -> list[Intent]:
    """A goal that is deleted undone leaves no quest waiting for it."""
    return [
        changed
        for quest in await _active(delivery, old.user_id)
        if old.goal_id in quest.linked_goal_ids
        for changed in await _without(delivery, quest, old.goal_id)
    ]


@design.on(Task, "remove", name="unlink_task")
async def unlink_task(old: Task, _: None, delivery: Delivery) -> list[Intent]:
    """A task that is deleted undone leaves no quest waiting for it."""
    return [
        changed
        for quest in await _active(delivery, old.user_id)
        if old.task_id in quest.linked_task_ids
        for changed in await _without(delivery, quest, old.task_id)
    ]


async def _without(delivery: Delivery, quest: Quest, gone: str) -> list[Intent]:
    """The quest without something that it was linked to, unless that had counted already.

    All of a linked quest was to be done: it ends. A counted one goes on with what is left.
    """
    if await delivery.find(QuestStep.key(quest_id=quest.id, task_id=gone)) is not None:
        return []
    left = (quest.linked_goal_ids | quest.linked_task_ids) - {gone}
    if quest.kind == "linked" or (quest.count_scope == "linked" and not left):
        return [update(quest, status="cancelled", lost_link=gone)]
    goals, tasks = remove({gone}), remove({gone})
    return [update(quest, linked_goal_ids=goals, linked_task_ids=tasks)]


async def _active(delivery: Delivery, user_id: str) -> list[Quest]:
    query = Quest.key.query(user_id=user_id).consistent()
    page = await delivery.read(query)
    found = list(page)
    while page.cursor is not None:
        page = await delivery.read(query, cursor=page.cursor)
        found += page
    return [quest for quest in found if quest.status == "active"]
