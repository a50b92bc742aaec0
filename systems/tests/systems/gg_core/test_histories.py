"""Random concurrent histories with a consumer that dies: all ends right."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity, PageRequest, Refused
from keyfold_engine.clients import AsyncClient
from keyfold_engine.engine import Faults
from keyfold.errors import KeyfoldError
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.streams.policy import TRANSIENT
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import (
    Activity,
    Follow,
    FollowersCounter,
    FollowingCounter,
    Group,
    GroupMember,
    Role,
    User,
)
from keyfold_systems.gg_core.goals import Award, Quest, QuestStep
from keyfold_systems.gg_core.payloads import NewActivity, NewQuest
from keyfold_systems.gg_core.service import GgCore
from tests.systems.opening import LATER, ask, forget_progress, opened

from .conftest import ROOT, START, World

pytestmark = LATER
PEOPLE = [Identity.of(f"p{number}") for number in range(6)]
TURNS = 40
SEEDS = range(int(os.environ.get("FAULT_HISTORIES", "1")))
Asked = tuple[str, Identity, dict[str, Any]]
"""An operation, who asks for it, and with what."""


class Crash(BaseException):
    """The consumer's process is gone."""


class Interleaved:
    """A client that lets others go first at every request, and whose process may die."""

    def __init__(self, client: AsyncClient, dice: random.Random) -> None:
        self._client, self._dice = client, dice
        self.left: int | None = None
        self.deaths = 0

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(self._dice.choice([0, 0, 0, 0.001]))
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.deaths += 1
                raise Crash
        return await self._client.call(operation, request)

    async def close(self) -> None:
        return None


class Town:
    """People who do things at random."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self.world, self.dice = world, dice
        self.groups: list[str] = []
        self.posts: dict[str, Activity] = {}
        self.tasks: dict[str, list[tuple[str, str]]] = {}
        self.done: Counter[str] = Counter()

    async def prepare(self) -> None:
        await self.world.register(*PEOPLE)
        self.groups = [(await self.world.found(one)).group_id for one in PEOPLE[:2]]
        for one in PEOPLE[:3]:
            goal = await self.world.goal(one)
            made = [await self.world.task(goal) for _ in range(4)]
            self.tasks[one.id] = [(task.goal_id, task.task_id) for task in made]
            input = NewQuest(title="Two", kind="quantitative", target_count=2)
            await self.world.service.create_quest(input, caller=one)

    async def live(self, who: Identity) -> None:
        """Do things, each sometimes twice with one request id; refusals are part of life."""
        for turn in range(TURNS):
            self.world.clock.advance(self.dice.choice([0, 0.5, 2]))
            verb = self.dice.choice(
                ["follow"] * 3
                + ["unfollow"] * 2
                + ["join", "leave", "block", "unblock", "promote"]
                + ["post"] * 4
                + ["delete", "complete", "complete"]
            )
            other = self.dice.choice([*PEOPLE, *(Identity.of(group) for group in self.groups)])
            # What is chosen is chosen once, so that a repeated request is the same request.
            name, caller, arguments = getattr(self, f"_{verb}")(who, other.id)
            for _ in range(self.dice.choice([1, 1, 2])):
                with suppress(KeyfoldError, Refused):
                    request_id = f"{who.id}-{turn}"
                    made = await ask(self.world.service, name, caller, request_id, **arguments)
                    self.done[verb] += 1
                    if isinstance(made, Activity):
                        self.posts[made.activity_id] = made

    def _follow(self, who: Identity, other: str) -> Asked:
        return "followUser", who, {"followee_id": other}

    def _unfollow(self, who: Identity, other: str) -> Asked:
        return "unfollowUser", who, {"followee_id": other}

    def _block(self, who: Identity, other: str) -> Asked:
        return "blockUser", who, {"blocked_id": other}

    def _unblock(self, who: Identity, other: str) -> Asked:
        return "unblockUser", who, {"blocked_id": other}

    def _join(self, who: Identity, _: str) -> Asked:
        return "joinGroup", who, {"group_id": self.dice.choice(self.groups)}

    def _leave(self, who: Identity, _: str) -> Asked:
        return "leaveGroup", who, {"group_id": self.dice.choice(self.groups)}

    def _promote(self, _: Identity, other: str) -> Asked:
        return "promote", ROOT, {"actor_id": other, "fanout_enabled": self.dice.random() < 0.6}

    def _post(self, who: Identity, _: str) -> Asked:
        group = self.dice.choice([None, None, *self.groups])
        return "postActivity", who, {"input": NewActivity(preview_text="Hi", actor_id=group)}

    def _delete(self, _: Identity, __: str) -> Asked:
        keys = {"actor_id": "nobody", "activity_id": "nothing", "created_at": START}
        if self.posts:
            one = self.dice.choice(list(self.posts.values()))
            keys = {name: getattr(one, name) for name in keys}
        return "deleteActivity", ROOT, keys

    def _complete(self, who: Identity, _: str) -> Asked:
        task = self.dice.choice(self.tasks.get(who.id) or [("none", "none")])
        return "completeTask", who, {"goal_id": task[0], "task_id": task[1]}


async def consume_and_die(world: World, dice: random.Random, over: asyncio.Event) -> int:
    """Consumers that die somewhere in their work, one after another; some lose their place."""
    client = Interleaved(world.db.client, dice)
    prefix = world.db.context.table_prefix
    db = await design.open_async(
        client, clock=world.clock, table_prefix=prefix, create_tables=False
    )
    while not over.is_set() or client.deaths < 3:
        client.left = dice.randrange(5, 300)
        with suppress(Crash, *TRANSIENT):
            await AsyncConsumer(db, options=ConsumerOptions(batch=10)).run_once()
            if dice.random() < 0.1 and client.deaths:
                await forget_progress(world.db)
        # Another worker may go on when the dead one's lease is over.
        world.clock.advance(31)
        await asyncio.sleep(0)
    return client.deaths


async def everything(db: AsyncDb, entity: Any) -> list[Any]:
    return [item async for item in db.scan(entity)]


async def paged_feed(world: World, who: Identity, size: int) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page = await world.service.feed(who.id, PageRequest(limit=size, cursor=cursor))
        seen += [entry.activity_id for entry in page]
        cursor = page.cursor
        if cursor is None:
            return seen


async def history(world: World, seed: int, faults: Faults | None = None) -> Town:
    """Everybody lives at once while consumers die; then the stream's consequences come about."""
    dice = random.Random(seed)
    town = Town(world, dice)
    await town.prepare()
    quiet, over = world.db.client, asyncio.Event()
    world.sandbox.engine._faults = faults
    consuming = asyncio.create_task(consume_and_die(world, dice, over))
    world.db.client = Interleaved(quiet, dice)
    await asyncio.gather(*(town.live(one) for one in PEOPLE))
    over.set()
    assert await consuming >= 3
    world.db.client, world.sandbox.engine._faults = quiet, None
    assert set(town.done) >= {"follow", "join", "post", "delete", "promote"}
    assert town.done.total() > len(PEOPLE) * TURNS / 4, "most of it was refused"
    world.clock.advance(60)
    await world.settle()
    return town


async def assert_exact(world: World, size: int) -> None:
    """Every counter is a recount, and every feed, in pages of this size, what a model says."""
    assert await world.drift() == []
    follows = await everything(world.db, Follow)
    members = await everything(world.db, GroupMember)
    for counter, field in ((FollowersCounter, "followee_id"), (FollowingCounter, "follower_id")):
        recount = Counter(getattr(edge, field) for edge in follows)
        kept = {c.user_id: c.count for c in await everything(world.db, counter)}
        assert {user: count for user, count in kept.items() if count} == dict(recount)
    owners = Counter(m.group_id for m in members if m.role == Role.OWNER)
    for group in await everything(world.db, Group):
        assert group.owners == owners[group.group_id] >= 1
        assert group.member_count == sum(m.group_id == group.group_id for m in members)

    steps = Counter(step.quest_id for step in await everything(world.db, QuestStep))
    awards = {award.quest_id: award for award in await everything(world.db, Award)}
    for quest in await everything(world.db, Quest):
        assert quest.progress == steps[quest.id]
        assert (quest.status == "completed") == (quest.progress >= 2) == (quest.id in awards)
    points: Counter[str] = Counter()
    for award in awards.values():
        points[award.user_id] += award.xp
    assert all(user.xp == points[user.id] for user in await everything(world.db, User))

    activities = await everything(world.db, Activity)
    newest = sorted(activities, key=lambda a: (a.created_at, a.activity_id), reverse=True)
    for who in PEOPLE:
        sources = {f.followee_id for f in follows if f.follower_id == who.id}
        sources |= {m.group_id for m in members if m.user_id == who.id}
        expected = [one.activity_id for one in newest if one.actor_id in sources]
        assert await paged_feed(world, who, size) == expected


@pytest.mark.parametrize("seed", SEEDS)
async def test_counters_quests_groups_and_feeds_are_right_after_any_history(
    world: World, seed: int
) -> None:
    await history(world, seed)
    await assert_exact(world, 3 + seed % 5)
    await forget_progress(world.db)
    await world.settle()
    await assert_exact(world, 3 + seed % 5)


@pytest.mark.sandbox(index_lag=(0, 5))
@pytest.mark.parametrize("seed", SEEDS)
async def test_the_same_where_indexes_are_behind(sandbox: Sandbox, seed: int) -> None:
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox, indexes_lag=True)
        await history(world, seed)
        await assert_exact(world, 3 + seed % 5)


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_same_on_a_server_that_throttles_and_loses_answers(
    sandbox: Sandbox, seed: int
) -> None:
    faults = Faults(seed=seed, throttle=0.03, conflict=0.03, unprocessed=0.1, lose_answer=0.02)
    async with opened(design, sandbox, "http") as db:
        world = World(GgCore(db), db, sandbox)
        await history(world, seed, faults)
        await assert_exact(world, 3 + seed % 5)


@pytest.mark.sandbox(seed=3, throttle=0.15, conflict=0.1, unprocessed=0.2)
async def test_throttling_is_survived(sandbox: Sandbox) -> None:
    """A server that throttles, cancels and leaves things unprocessed is asked again."""
    async with opened(design, sandbox, "http") as db:
        world = World(GgCore(db), db, sandbox)
        await world.register(*PEOPLE)
        for one in PEOPLE[1:]:
            await world.service.follow_user(PEOPLE[0].id, caller=one)
        await world.service.promote(PEOPLE[0].id, True, caller=ROOT)
        await world.settle()
        for number in range(5):
            await world.post(PEOPLE[0], str(number))
        await world.settle()
        for one in PEOPLE[1:]:
            assert await world.texts(one) == ["4", "3", "2", "1", "0"]
        assert (await world.service.counts(PEOPLE[0].id)).followers == len(PEOPLE) - 1
