"""How quests progress: completed tasks count once each, and the last one wins the reward.

Every step is an item of its own, named by quest and task, so that a record which is delivered
again counts nothing. The step that reaches the target completes the quest and makes its award.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from keyfold import create, put, update
from keyfold.runtime import Intent
from keyfold.runtime.flow import Flow
from keyfold.runtime.reads import find, read
from keyfold.streams import Delivery
from keyfold_systems.gg_core.design import Award, Goal, Quest, QuestStep, Task, design

MOST_QUESTS = 200


def counts(quest: Quest, user_id: str, task_id: str, goal_id: str, at: datetime) -> bool:
    """Whether something completed at this time is a step of a quest."""
    if quest.status != "active" or quest.user_id != user_id:
        return False
    if quest.deadline is not None and at > quest.deadline:
        return False
    linked = task_id in quest.linked_task_ids or goal_id in quest.linked_goal_ids
    if quest.kind == "linked":
        return linked
    if quest.count_scope == "linked" and not linked:
        return False
    start = quest.start_at or quest.created_at
    if at < start:
        return False
    return quest.period_seconds is None or at <= start + timedelta(seconds=quest.period_seconds)


def target(quest: Quest) -> int:
    """How many steps complete a quest."""
    if quest.kind == "quantitative":
        return quest.target_count or 1
    return max(1, len(quest.linked_task_ids) + len(quest.linked_goal_ids))


@design.on(Task, "modify", name="count_task")
def count_task(old: Task, new: Task, delivery: Delivery) -> Any:
    """A completed task is a step of the quests it belongs to."""
    if new.completed_at is None or old.completed_at is not None:
        return None
    delivery.emit("TaskCompleted", {"userId": new.user_id, "taskId": new.task_id})
    db: Any = delivery.db
    return db.run(_steps(db.context, new.user_id, new.task_id, new.goal_id, new.completed_at))


@design.on(Goal, "modify", name="count_goal")
def count_goal(old: Goal, new: Goal, delivery: Delivery) -> Any:
    """A completed goal is a step of the quests that are linked to it."""
    if new.status != "completed" or old.status == "completed":
        return None
    delivery.emit("GoalCompleted", {"userId": new.user_id, "goalId": new.goal_id})
    db: Any = delivery.db
    at = delivery.record.at
    return db.run(_steps(db.context, new.user_id, new.goal_id, new.goal_id, at, goals=True))


@design.on(QuestStep, "insert", name="complete_quest")
def complete_quest(_: QuestStep | None, new: QuestStep, delivery: Delivery) -> Any:
    """The step that reaches the target completes the quest and awards its points."""
    db: Any = delivery.db
    return db.run(_completion(db.context, new))


def _steps(
    context: Any, user_id: str, thing: str, goal_id: str, at: datetime, *, goals: bool = False
) -> Flow[list[Intent]]:
    query = Quest.by_user.query(user_id=user_id).descending().limit(MOST_QUESTS)
    page = yield from read(context, query, {})
    steps: list[Intent] = []
    for quest in page:
        if goals and quest.kind != "linked":
            continue
        linked_goal = goal_id if goals else ""
        if counts(quest, user_id, thing, linked_goal or _goal(quest, goal_id), at):
            step = QuestStep(quest_id=quest.id, user_id=user_id, task_id=thing, at=at)
            steps.append(put(step))
    return steps


def _goal(quest: Quest, goal_id: str) -> str:
    """A task counts by its goal only for counted quests; a linked one waits for the goal."""
    return goal_id if quest.kind == "quantitative" else ""


def _completion(context: Any, step: QuestStep) -> Flow[list[Intent]]:
    quest = yield from find(context, Quest.key(user_id=step.user_id, id=step.quest_id))
    if quest is None or quest.status != "active" or quest.progress < target(quest):
        return []
    award = Award(user_id=quest.user_id, quest_id=quest.id, xp=quest.reward_xp)
    return [update(quest, status="completed"), create(award)]
