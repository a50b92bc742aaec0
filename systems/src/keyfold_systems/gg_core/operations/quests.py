"""Quests: taken on, given up, listed. How they progress is in `gg_core.quests`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from keyfold import Page, check, create, delete, missing, new_ulid
from keyfold_web import (
    Arguments,
    Conflict,
    Identity,
    Invalid,
    PageRequest,
    Refused,
    admin,
    itself,
    mutation,
    query,
    rule,
)
from keyfold.errors import ConditionFailed, NotFound
from keyfold_systems.gg_core.entities import User
from keyfold_systems.gg_core.goals import MOST_ACTIVE_QUESTS, Goal, Quest, Task
from keyfold_systems.gg_core.operations.access import Part, registered
from keyfold_systems.gg_core.patterns import quests_of_user
from keyfold_systems.gg_core.payloads import NewQuest
from keyfold_systems.gg_core.quests import STAKES


@rule
async def quest_owner(service: Part, caller: Identity, arguments: Arguments) -> bool:
    ref = Quest.key(user_id=caller.id, id=arguments["quest_id"])
    return await service.db.find(ref) is not None


class Quests(Part):
    """Challenges with a reward."""

    @mutation(
        "/quests",
        name="createQuest",
        allow=registered,
        status=201,
        example={"input": {"title": "Three tasks", "kind": "quantitative", "targetCount": 3}},
    )
    async def create_quest(self, input: NewQuest, caller: Identity) -> Quest:
        """Take on a quest; what it is linked to must be yours and still to be done.

        Its difficulty says what it takes at least and what it is worth.
        """
        now = self.db.context.now()
        _check_kind(input)
        _check_time(input, now)
        tasks = {one.task_id for one in input.linked_tasks}
        quest = Quest(
            user_id=caller.id,
            id=new_ulid(),
            created_at=now,
            linked_task_ids=tasks,
            reward_xp=STAKES[input.difficulty].xp,
            **{name: value for name, value in input if name != "linked_tasks"},
        )
        try:
            made: Quest = (
                await self.db.transact(create(quest), *_links(input, caller.id), _room(caller.id))
            )[0]
        except (ConditionFailed, NotFound):
            raise await self._refusal(input, caller.id) from None
        return made

    @mutation("/quests/{quest_id}/cancellation", name="cancelQuest", allow=quest_owner)
    async def cancel_quest(self, quest_id: str, caller: Identity) -> Quest:
        """Give a quest up."""
        ref = Quest.key(user_id=caller.id, id=quest_id)
        try:
            return await self.db.update(
                ref, status="cancelled", where=lambda q: q.status == "active"
            )
        except ConditionFailed:
            quest = await self.db.get(ref)
            if quest.status == "completed":
                raise Conflict("It is completed already.", code="COMPLETED") from None
            return quest

    @mutation(
        "/users/{user_id}/quests/{quest_id}", name="deleteQuest", method="DELETE", allow=admin
    )
    async def delete_quest(self, user_id: str, quest_id: str, caller: Identity) -> None:
        """Delete a quest; what was awarded stays."""
        gone = delete(Quest.key(user_id=user_id, id=quest_id), must_exist=True)
        await self.db.transact(gone, self.audited(caller, "remove", f"quest {user_id}/{quest_id}"))

    @query("/users/{user_id}/quests", allow=itself("user_id"))
    async def quests(self, user_id: str, page: PageRequest) -> Page[Quest]:
        """Your quests, newest first."""
        return await quests_of_user.after(page.cursor)(self.db, user_id, limit=page.limit)

    @query("/users/{user_id}/quests/{quest_id}", allow=itself("user_id"))
    async def quest(self, user_id: str, quest_id: str) -> Quest:
        """A quest of yours."""
        return await self.db.get(Quest.key(user_id=user_id, id=quest_id))

    async def _refusal(self, input: NewQuest, user_id: str) -> Refused:
        """Which of the links is wrong, and why."""
        user = await self.db.get(User.key(id=user_id))
        if user.active_quests >= MOST_ACTIVE_QUESTS:
            return Conflict(
                f"You have {MOST_ACTIVE_QUESTS} quests already; finish or give up one first.",
                code="TOO_MANY_QUESTS",
            )
        goals = sorted(input.linked_goal_ids)
        found = await self.db.get_many([Goal.key(user_id=user_id, goal_id=g) for g in goals])
        for goal_id, goal in zip(goals, found, strict=True):
            if goal is None:
                return Invalid("linkedGoalIds", f"you have no goal {goal_id}")
            if input.kind == "linked" and goal.status != "active":
                return Invalid("linkedGoalIds", f"{goal_id} is completed already")
        refs = [Task.key(goal_id=one.goal_id, task_id=one.task_id) for one in input.linked_tasks]
        for link, task in zip(input.linked_tasks, await self.db.get_many(refs), strict=True):
            if task is None or task.user_id != user_id:
                return Invalid("linkedTasks", f"you have no task {link.task_id}")
        return Invalid("linkedTasks", "one of them is completed already")


def _check_kind(input: NewQuest) -> None:
    linked = input.linked_goal_ids or input.linked_tasks
    if input.kind == "quantitative":
        if input.target_count is None:
            raise Invalid("targetCount", "a quantitative quest needs one")
        if input.count_scope == "linked" and not linked:
            raise Invalid("countScope", "nothing is linked that could be counted")
    elif not linked:
        raise Invalid("linkedGoalIds", "a linked quest needs goals or tasks")
    elif input.target_count is not None or input.period_seconds is not None:
        raise Invalid("targetCount", "a linked quest ends when all that it is linked to is done")
    tasks = [one.task_id for one in input.linked_tasks]
    if len(set(tasks)) != len(tasks):
        raise Invalid("linkedTasks", "a task is linked twice")
    least = STAKES[input.difficulty].steps
    if (input.target_count or len(input.linked_goal_ids) + len(tasks)) < least:
        raise Invalid("difficulty", f"a quest that is {input.difficulty} has {least} steps or more")


def _check_time(input: NewQuest, now: datetime) -> None:
    start = max(now, input.start_at or now)
    if input.deadline is not None and input.deadline <= start:
        raise Invalid("deadline", "nothing could be done before it; choose a later one")
    past = now - timedelta(seconds=input.period_seconds or 0)
    if input.period_seconds is not None and (input.start_at or now) <= past:
        raise Invalid("periodSeconds", "the period is over already")


def _room(user_id: str) -> Any:
    """A check that somebody has not taken on too many quests."""
    return check(User.key(id=user_id), where=lambda u: u.active_quests < MOST_ACTIVE_QUESTS)


def _links(input: NewQuest, user_id: str) -> list[Any]:
    """Checks in the quest's own transaction, so that nothing is completed unseen meanwhile."""
    whole = input.kind == "linked"
    goals = [
        check(
            Goal.key(user_id=user_id, goal_id=goal_id),
            where=(lambda g: g.status == "active") if whole else None,
        )
        for goal_id in sorted(input.linked_goal_ids)
    ]
    tasks = [
        check(
            Task.key(goal_id=one.goal_id, task_id=one.task_id),
            where=lambda t: (t.user_id == user_id) & missing(t.completed_at),
        )
        for one in input.linked_tasks
    ]
    return [*goals, *tasks]
