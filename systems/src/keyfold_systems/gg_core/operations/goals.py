"""Goals, and the tasks that lead to them."""

from __future__ import annotations

from keyfold import Page, check, create, missing, new_ulid
from keyfold_web import (
    Arguments,
    Identity,
    PageRequest,
    itself,
    mutation,
    query,
    rule,
)
from keyfold.errors import ConditionFailed
from keyfold_systems.gg_core.goals import Goal, Task
from keyfold_systems.gg_core.operations.access import Part, registered
from keyfold_systems.gg_core.patterns import goals_of_user, tasks_due, tasks_of_goal
from keyfold_systems.gg_core.payloads import DueTask, GoalChange, NewGoal, NewTask, TaskChange


@rule
async def goal_owner(service: Part, caller: Identity, arguments: Arguments) -> bool:
    ref = Goal.key(user_id=caller.id, goal_id=arguments["goal_id"])
    return await service.db.find(ref) is not None


class Goals(Part):
    """What people want to reach, and what they do for it."""

    @mutation(
        "/goals",
        name="createGoal",
        allow=registered,
        status=201,
        example={"input": {"title": "Run a marathon"}},
    )
    async def create_goal(self, input: NewGoal, caller: Identity) -> Goal:
        """Set yourself a goal."""
        now = self.db.context.now()
        goal = Goal(user_id=caller.id, goal_id=new_ulid(), created_at=now, **dict(input))
        return await self.db.create(goal)

    @mutation("/goals/{goal_id}", name="updateGoal", method="PATCH", allow=goal_owner)
    async def update_goal(self, goal_id: str, input: GoalChange, caller: Identity) -> Goal:
        """Change a goal of yours."""
        ref = Goal.key(user_id=caller.id, goal_id=goal_id)
        changed = input.given()
        return await self.db.update(ref, **changed) if changed else await self.db.get(ref)

    @mutation("/goals/{goal_id}/completion", name="completeGoal", allow=goal_owner)
    async def complete_goal(self, goal_id: str, caller: Identity) -> Goal:
        """A goal of yours is reached; quests that are linked to it count it once."""
        ref = Goal.key(user_id=caller.id, goal_id=goal_id)
        try:
            return await self.db.update(
                ref,
                status="completed",
                completed_at=self.db.context.now(),
                where=lambda g: g.status == "active",
            )
        except ConditionFailed:
            return await self.db.get(ref)

    @mutation("/goals/{goal_id}", name="deleteGoal", method="DELETE", allow=goal_owner)
    async def delete_goal(self, goal_id: str, caller: Identity) -> None:
        """Delete a goal with its tasks and what you told of it.

        A quest that is linked to it cannot be won any more.
        """
        await self.db.delete(Goal.key(user_id=caller.id, goal_id=goal_id))

    @query("/users/{user_id}/goals", allow=itself("user_id"))
    async def goals(self, user_id: str, page: PageRequest) -> Page[Goal]:
        """Your goals, newest first."""
        return await goals_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @mutation(
        "/goals/{goal_id}/tasks",
        name="createTask",
        allow=goal_owner,
        status=201,
        example={"input": {"title": "Buy shoes", "dueAt": "2030-01-06T10:00:00Z"}},
    )
    async def create_task(self, goal_id: str, input: NewTask, caller: Identity) -> Task:
        """Plan a step towards a goal of yours."""
        task = Task(user_id=caller.id, goal_id=goal_id, task_id=new_ulid(), **dict(input))
        goal = check(Goal.key(user_id=caller.id, goal_id=goal_id))
        made: Task = (await self.db.transact(create(task), goal))[0]
        return made

    @mutation(
        "/goals/{goal_id}/tasks/{task_id}", name="updateTask", method="PATCH", allow=goal_owner
    )
    async def update_task(self, goal_id: str, task_id: str, input: TaskChange) -> Task:
        """Change a task of yours; without a due date it leaves the list of what is due."""
        ref = Task.key(goal_id=goal_id, task_id=task_id)
        changed = input.given()
        return await self.db.update(ref, **changed) if changed else await self.db.get(ref)

    @mutation(
        "/goals/{goal_id}/tasks/{task_id}", name="deleteTask", method="DELETE", allow=goal_owner
    )
    async def delete_task(self, goal_id: str, task_id: str) -> None:
        """Delete a task; a quest that is linked to it cannot be won any more."""
        await self.db.delete(Task.key(goal_id=goal_id, task_id=task_id), must_exist=True)

    @mutation("/goals/{goal_id}/tasks/{task_id}/completion", name="completeTask", allow=goal_owner)
    async def complete_task(self, goal_id: str, task_id: str) -> Task:
        """A task of yours is done; quests count it once."""
        ref = Task.key(goal_id=goal_id, task_id=task_id)
        try:
            return await self.db.update(
                ref,
                completed_at=self.db.context.now(),
                where=lambda t: missing(t.completed_at),
            )
        except ConditionFailed:
            return await self.db.get(ref)

    @query("/goals/{goal_id}/tasks", allow=goal_owner)
    async def tasks(self, goal_id: str, page: PageRequest) -> Page[Task]:
        """The tasks of a goal of yours."""
        return await tasks_of_goal.after(page.cursor)(self.db, goal_id, limit=page.limit)

    @query("/users/{user_id}/tasks", allow=itself("user_id"))
    async def tasks_due(self, user_id: str, page: PageRequest) -> Page[DueTask]:
        """Your tasks by due date, with the goals that they are for."""
        found = await tasks_due.after(page.cursor)(self.db, user_id, limit=page.limit)
        ids = sorted({one.goal_id for one in found})
        goals = await self.db.get_many([Goal.key(user_id=user_id, goal_id=one) for one in ids])
        titles = {goal.goal_id: goal.title for goal in goals if goal is not None}
        rows = [
            DueTask(
                goal_id=one.goal_id,
                goal_title=titles[one.goal_id],
                task_id=one.task_id,
                title=one.title,
                due_at=one.due_at,
                completed_at=one.completed_at,
            )
            for one in found
            if one.goal_id in titles
        ]
        return Page(rows, found.cursor)
