"""What people want to reach: goals, their tasks, and the quests that reward them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from keyfold import (
    AtMost,
    Cascade,
    Counter,
    Created,
    Entity,
    Id,
    Key,
    On,
    Timestamp,
    Updated,
    Version,
    exists,
)
from keyfold_systems.gg_core import goals_types as typed
from keyfold_systems.gg_core.entities import LongText, Tags, Text, table

MOST_ACTIVE_QUESTS = 20


class Goal(typed.Goal, Entity, table=table):
    """Something a user wants to reach."""

    user_id: Id
    goal_id: Id
    title: Text
    description: LongText = ""
    status: Literal["active", "completed"] = "active"
    tags: Tags = set()
    completed_at: Timestamp | None = None
    task_count: Annotated[int, Counter("Task", sync="stream")] = 0
    done_count: Annotated[
        int, Counter("Task", where=lambda t: exists(t.completed_at), sync="stream")
    ] = 0
    version: Annotated[int, Version()] = 0
    created_at: Timestamp

    key = Key("USER#{user_id}", "GOAL#{goal_id}")
    by_user = On("GSI1", "USER#{user_id}", "ENTITY#Goal#{created_at:iso}#{goal_id}")
    tasks = Cascade("Task", via={"user_id": "user_id", "goal_id": "goal_id"})
    updates = Cascade(
        "Activity",
        through="of_goal",
        via={"user_id": "author_id", "goal_id": "goal_id"},
        sync="stream",
    )


class Task(typed.Task, Entity, table=table):
    """A step towards a goal; with a due date it is also on the user's list of what is due."""

    user_id: Id
    goal_id: Id
    task_id: Id
    title: Text
    due_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None

    key = Key("GOAL#{goal_id}", "TASK#{task_id}")
    by_due = On("GSI1", "USER#{user_id}", "ENTITY#Task#{due_at:iso}#{task_id}", when="due_at")


class Quest(typed.Quest, Entity, table=table):
    """A challenge with a reward: linked to goals and tasks, or counted."""

    user_id: Id
    id: Id
    title: Text
    description: LongText = ""
    difficulty: Literal["easy", "medium", "hard"]
    reward_xp: Annotated[int, Field(ge=0, le=10_000)]
    status: Literal["active", "completed", "cancelled"] = "active"
    tags: Tags = set()
    deadline: Timestamp | None = None
    kind: Literal["linked", "quantitative"]
    linked_goal_ids: Annotated[set[str], AtMost(20)] = set()
    linked_task_ids: Annotated[set[str], AtMost(20)] = set()
    target_count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    count_scope: Literal["any", "linked"] = "any"
    start_at: Timestamp | None = None
    period_seconds: Annotated[int, Field(ge=60, le=366 * 86400)] | None = None
    lost_link: Id | None = None
    """What it was linked to and is deleted: then it cannot be won any more."""
    progress: Annotated[int, Counter("QuestStep", via={"id": "quest_id"}, sync="transaction")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Timestamp
    updated_at: Annotated[Timestamp | None, Updated()] = None

    key = Key("USER#{user_id}", "QUEST#{id}")
    by_user = On("GSI1", "USER#{user_id}", "ENTITY#Quest#{created_at:iso}#{id}")
    steps = Cascade("QuestStep", via={"id": "quest_id"})


class QuestStep(typed.QuestStep, Entity, table=table):
    """A completed task that counted for a quest: once, whatever is delivered again."""

    quest_id: Id
    user_id: Id
    task_id: Id
    at: Timestamp

    key = Key("QUEST#{quest_id}", "STEP#{task_id}")


class Award(typed.Award, Entity, table=table):
    """Experience points given for a quest: one record a quest."""

    user_id: Id
    quest_id: Id
    xp: int
    at: Annotated[Timestamp | None, Created()] = None

    key = Key("USER#{user_id}", "AWARD#{quest_id}")
