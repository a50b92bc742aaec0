"""Goals, the tasks under them, and quests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from keyfold import Page, check, create, new_ulid, update
from keyfold.conditions import exists
from keyfold.runtime import Intent
from keyfold_systems.gg_core import patterns
from keyfold_systems.gg_core.entities import Difficulty, Goal, Quest, Task
from keyfold_systems.gg_core.operations.access import Part, profile_of
from keyfold_systems.gg_core.views import NewGoal, NewQuest, NewTask
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    admin,
    authenticated,
    itself,
    mutation,
    query,
)

REWARDS: Final[dict[Difficulty, int]] = {"easy": 10, "medium": 30, "hard": 100}
MOST_GOALS = 100


class Goals(Part):
    """What users want to reach; the quests with the document's own names."""

    @mutation("/goals", allow=authenticated, status=201)
    async def create_goal(self, input: NewGoal, caller: Identity) -> Goal:
        """Create a goal."""
        now = self.db.context.now()
        new = Goal(user_id=caller.id, goal_id=new_ulid(), created_at=now, **dict(input))
        made, _ = await self.db.transact(create(new), profile_of(caller.id))
        return made

    @mutation("/goals/{goal_id}/completion", allow=authenticated)
    async def complete_goal(self, goal_id: str, caller: Identity) -> Goal:
        """Mark a goal as reached."""
        ref, now = Goal.key(user_id=caller.id, goal_id=goal_id), self.db.context.now()
        return await self.db.update(ref, completed_at=now)

    @query("/users/{user_id}/goals", allow=itself("user_id"))
    async def goals(self, user_id: str, page: PageRequest) -> Page[Goal]:
        """Your goals, newest first."""
        return await page.read(self.db, patterns.goals, user_id)

    @mutation("/goals/{goal_id}/tasks", allow=authenticated, status=201)
    async def create_task(self, goal_id: str, input: NewTask, caller: Identity) -> Task:
        """Add a task to one of your goals."""
        task_id = f"{goal_id}.{new_ulid()}"
        new = Task(goal_id=goal_id, task_id=task_id, user_id=caller.id, **dict(input))
        owned = check(Goal.key(user_id=caller.id, goal_id=goal_id))
        made, _ = await self.db.transact(create(new), owned)
        return made

    @mutation("/goals/{goal_id}/tasks/{task_id}/completion", allow=authenticated)
    async def complete_task(self, goal_id: str, task_id: str, caller: Identity) -> Task:
        """Mark a task as done."""
        ref = Task.key(goal_id=goal_id, task_id=task_id)
        owned = check(Goal.key(user_id=caller.id, goal_id=goal_id))
        await self.db.transact(update(ref, completed_at=self.db.context.now()), owned)
        return await self.db.get(ref)

    @query("/users/{user_id}/goals/{goal_id}/tasks", allow=itself("user_id"))
    async def tasks(self, user_id: str, goal_id: str, page: PageRequest) -> Page[Task]:
        """The tasks of one of your goals."""
        await self.db.get(Goal.key(user_id=user_id, goal_id=goal_id))
        return await page.read(self.db, patterns.tasks_of_goal, goal_id)

    @query("/users/{user_id}/tasks", allow=itself("user_id"))
    async def tasks_due(self, user_id: str, page: PageRequest) -> Page[Task]:
        """Your tasks with a due time, earliest first."""
        return await page.read(self.db, patterns.tasks_due, user_id)

    # Quests

    @mutation("/quests", allow=authenticated, status=201)
    async def create_quest(self, input: NewQuest, caller: Identity) -> Quest:
        """Create a quest; linked goals and tasks must be yours."""
        _check_kind(input)
        new = Quest(
            quest_id=new_ulid(),
            user_id=caller.id,
            reward_xp=REWARDS[input.difficulty],
            created_at=self.db.context.now(),
            **dict(input),
        )
        await self.db.transact(create(new), profile_of(caller.id), *_links(new))
        return await self.db.get(new.ref())

    @mutation("/quests/{quest_id}/completion", allow=authenticated)
    async def complete_quest(self, quest_id: str, caller: Identity) -> Quest:
        """Complete a quest: all that is linked is done, or as many tasks as it counts."""
        quest = await self.db.get(Quest.key(user_id=caller.id, quest_id=quest_id))
        now = self.db.context.now()
        if quest.deadline is not None and now > quest.deadline:
            raise Conflict("The deadline of this quest is over.", code="TOO_LATE")
        links = _links(quest, done=True) if quest.kind == "linked" else []
        if quest.kind == "quantitative":
            done, wanted = await self._done(quest, now), quest.target_count or 1
            if done < wanted:
                raise Conflict(f"{done} of {wanted} tasks are done.", code="NOT_DONE")
        await self.db.transact(update(quest.ref(), status="completed"), *links)
        return await self.db.get(quest.ref())

    @mutation("/quests/{quest_id}/cancellation", allow=authenticated)
    async def cancel_quest(self, quest_id: str, caller: Identity) -> Quest:
        """Cancel an active quest."""
        ref = Quest.key(user_id=caller.id, quest_id=quest_id)
        return await self.db.update(ref, status="cancelled")

    @mutation("/users/{user_id}/quests/{quest_id}", method="DELETE", allow=admin)
    async def delete_quest(self, user_id: str, quest_id: str) -> None:
        """Delete a quest; for administrators."""
        await self.db.delete(Quest.key(user_id=user_id, quest_id=quest_id), must_exist=True)

    @query("/users/{user_id}/quests", allow=itself("user_id"))
    async def quests(self, user_id: str, page: PageRequest) -> Page[Quest]:
        """Your quests, newest first."""
        return await page.read(self.db, patterns.quests, user_id)

    @query("/users/{user_id}/quests/{quest_id}", allow=itself("user_id"))
    async def quest(self, user_id: str, quest_id: str) -> Quest:
        """One of your quests."""
        return await self.db.get(Quest.key(user_id=user_id, quest_id=quest_id))

    async def _done(self, quest: Quest, now: datetime) -> int:
        """How many tasks that a quest counts are done within its time."""
        begin = quest.start_at or quest.created_at
        end = (
            now if quest.period_seconds is None else begin + timedelta(seconds=quest.period_seconds)
        )
        tasks = [one for goal in await self._counted_goals(quest) for one in await self._of(goal)]
        linked = set(quest.linked_task_ids or [])
        if quest.count_scope == "linked":
            goals = set(quest.linked_goal_ids or [])
            tasks = [one for one in tasks if one.task_id in linked or one.goal_id in goals]
        return sum(
            one.completed_at is not None and begin <= one.completed_at <= end for one in tasks
        )

    async def _counted_goals(self, quest: Quest) -> set[str]:
        if quest.count_scope == "linked":
            return {*(quest.linked_goal_ids or ()), *map(_goal_of, quest.linked_task_ids or ())}
        goals = await patterns.goals(self.db, quest.user_id, limit=MOST_GOALS)
        return {one.goal_id for one in goals}

    async def _of(self, goal_id: str) -> list[Task]:
        return [one async for one in self.db.iterate(Task.key.query(goal_id=goal_id).consistent())]


def _goal_of(task_id: str) -> str:
    """The goal of a task: its id begins with it."""
    return task_id.partition(".")[0]


def _check_kind(input: NewQuest) -> None:
    linked = input.linked_goal_ids or input.linked_task_ids
    if input.kind == "linked" and not linked:
        raise Invalid("linkedGoalIds", "a linked quest needs goals or tasks")
    if input.kind == "quantitative" and input.target_count is None:
        raise Invalid("targetCount", "a quantitative quest needs one")
    if input.count_scope == "linked" and not linked:
        raise Invalid("countScope", "nothing is linked that could be counted")


def _links(quest: Quest, *, done: bool = False) -> list[Intent]:
    """The conditions that all that is linked is the user's own, and done."""
    goals = [
        check(
            Goal.key(user_id=quest.user_id, goal_id=one),
            where=(lambda g: exists(g.completed_at)) if done else None,
        )
        for one in dict.fromkeys(quest.linked_goal_ids or ())
    ]
    tasks = [
        check(
            Task.key(goal_id=_goal_of(one), task_id=one),
            where=lambda t: (
                (t.user_id == quest.user_id)
                & (exists(t.completed_at) if done else exists(t.user_id))
            ),
        )
        for one in dict.fromkeys(quest.linked_task_ids or ())
    ]
    return [*goals, *tasks]
