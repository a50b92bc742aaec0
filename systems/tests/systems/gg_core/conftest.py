"""gg_core on the embedded engine and over HTTP, with short ways to fill it.

With KEYFOLD_SYSTEMS_ADDRESS it is on that server instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest
from keyfold_engine.clock import ManualClock
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, Queue, letters
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Activity, Group
from keyfold_systems.gg_core.goals import Goal, Quest, Task
from keyfold_systems.gg_core.payloads import (
    NewActivity,
    NewGoal,
    NewGroup,
    NewQuest,
    NewTask,
    NewUser,
)
from keyfold_systems.gg_core.service import GgCore
from tests.systems.conftest import BACKENDS
from tests.systems.opening import opened

START = datetime(2031, 1, 1, tzinfo=UTC)
OLGA, MIA, SAM = Identity.of("olga"), Identity.of("mia"), Identity.of("sam")
ROOT = Identity.of("root", "admin")
FIRST = PageRequest(limit=50, cursor=None)


def profile(one: Identity) -> NewUser:
    """A profile under somebody's own name."""
    return NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id.title())


async def register(service: GgCore, *people: Identity) -> None:
    for one in people:
        await service.create_user(profile(one), caller=one)


@dataclass
class World:
    """A service in a sandbox, and what happens in it."""

    service: GgCore
    db: AsyncDb
    sandbox: Sandbox
    backend: str = "embedded"
    queue: Queue = field(default_factory=lambda: Queue("events"))
    indexes_lag: bool = False

    @property
    def clock(self) -> ManualClock:
        return self.sandbox.clock

    async def register(self, *people: Identity) -> None:
        await register(self.service, *people)

    async def post(self, who: Identity, text: str = "Hello", group: str | None = None) -> Activity:
        self.clock.advance(1)
        input = NewActivity(preview_text=text, actor_id=group)
        return await self.service.post_activity(input, caller=who)

    async def comment(self, who: Identity, post: Activity, text: str = "Well done") -> Activity:
        self.clock.advance(1)
        input = NewActivity(
            verb="comment",
            object_id=post.activity_id,
            object_actor_id=post.actor_id,
            object_created_at=post.created_at,
            preview_text=text,
        )
        return await self.service.post_activity(input, caller=who)

    async def found(self, who: Identity, *, persistent: bool = True) -> Group:
        input = NewGroup(name="Runners", is_persistent=persistent)
        return await self.service.create_group(input, caller=who)

    async def goal(self, who: Identity = OLGA) -> Goal:
        return await self.service.create_goal(NewGoal(title="Run"), caller=who)

    async def task(self, goal: Goal, title: str = "Shoes") -> Task:
        owner = Identity.of(goal.user_id)
        return await self.service.create_task(goal.goal_id, NewTask(title=title), caller=owner)

    async def done(self, task: Task) -> Task:
        self.clock.advance(1)
        return await self.service.complete_task(task.goal_id, task.task_id)

    async def counted(self, target: int, **more: object) -> Quest:
        input = NewQuest.model_validate(
            {"title": "Three", "kind": "quantitative", "target_count": target} | more
        )
        return await self.service.create_quest(input, caller=OLGA)

    async def quest(self, quest: Quest) -> Quest:
        return await self.service.quest(quest.user_id, quest.id)

    async def settle(self) -> None:
        """Let the stream's consequences come about; indexes that lag need time for it."""
        drained = asyncio.ensure_future(AsyncConsumer(self.db, sinks=[self.queue]).drain())
        while self.indexes_lag and not drained.done():
            self.clock.advance(0.5)
            await asyncio.sleep(0.005)
        await drained
        assert await self.db.run(letters(self.db.context)) == []

    async def announced(self) -> list[str]:
        """The names of the events that were sent out."""
        return [event.name for event in await self.db.run(self.queue.messages(self.db.context))]

    async def texts(self, who: Identity) -> list[str]:
        """What somebody's feed shows."""
        return [one.preview_text for one in await self.service.feed(who.id, FIRST)]

    async def drift(self) -> list[object]:
        """What does not fit together."""
        report = await self.db.run(verification(self.db.context))
        return list(report.drifts)


@pytest.fixture(params=BACKENDS)
async def world(request: pytest.FixtureRequest, sandbox: Sandbox) -> AsyncIterator[World]:
    async with opened(design, sandbox, request.param) as db:
        made = World(GgCore(db), db, sandbox, request.param)
        await made.register(OLGA, MIA, SAM)
        yield made
