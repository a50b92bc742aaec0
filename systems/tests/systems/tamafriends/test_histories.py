"""Random concurrent histories with redelivery and consumers that die: all ends right."""

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
from keyfold_web import Identity, PageRequest
from keyfold_engine.clients import AsyncClient
from keyfold_engine.engine import Faults
from keyfold.errors import KeyfoldError, NotFound
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.streams.policy import TRANSIENT
from keyfold.testing import Sandbox
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import (
    Block,
    Comment,
    Follow,
    Inbox,
    Like,
    Notification,
    Post,
    UserProfile,
)
from keyfold_systems.tamafriends.payloads import ProfileChange
from keyfold_systems.tamafriends.service import TamaFriends
from tests.systems.opening import LATER, forget_progress, opened, sweep

from .conftest import World

pytestmark = LATER

PEOPLE = 6
VERBS = {
    "post": 4,
    "edit": 1,
    "delete": 2,
    "like": 6,
    "unlike": 2,
    "comment": 4,
    "uncomment": 2,
    "follow": 5,
    "unfollow": 2,
    "block": 1,
    "unblock": 1,
    "rename": 2,
    "leave": 1,
}
TURNS = 40
LAG = 5
SEEDS = range(int(os.environ.get("FAULT_HISTORIES", "1")))
ALL = PageRequest(limit=200, cursor=None)


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
    """People who do things at random; what they are refused is refused for a reason."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self.world, self.service, self.dice = world, world.service, dice
        self.people = [Identity.of(f"p{number}") for number in range(PEOPLE)]
        self.posts: list[Post] = []
        self.comments: list[Comment] = []
        self.done: Counter[str] = Counter()

    async def live(self, number: int) -> None:
        for _ in range(TURNS):
            self.world.sandbox.clock.advance(self.dice.choice([0, 0.5, 2]))
            verb = self.dice.choices(list(VERBS), list(VERBS.values()))[0]
            who, other = self.people[number], self.dice.choice(self.people)
            with suppress(KeyfoldError):
                await getattr(self, f"_{verb}")(who, other)
                self.done[verb] += 1

    def _some_post(self) -> Post:
        if not self.posts:
            raise NotFound("nobody has posted yet")
        return self.dice.choice(self.posts[-12:])

    async def _post(self, who: Identity, _: Identity) -> None:
        hours = self.dice.choice([None, None, None, 1])
        self.posts.append(await self.world.post(who, hours=hours))

    async def _edit(self, who: Identity, _: Identity) -> None:
        await self.service.edit_post(self._some_post().post_id, "Edited", caller=who)

    async def _delete(self, _: Identity, __: Identity) -> None:
        await self.service.delete_post(self._some_post().post_id)

    async def _like(self, who: Identity, _: Identity) -> None:
        await self.world.like(who, self._some_post())

    async def _unlike(self, who: Identity, _: Identity) -> None:
        await self.service.unlike(self._some_post().post_id, caller=who)

    async def _comment(self, who: Identity, _: Identity) -> None:
        self.comments.append(await self.world.comment(who, self._some_post()))

    async def _uncomment(self, _: Identity, __: Identity) -> None:
        if self.comments:
            said = self.dice.choice(self.comments)
            author = Identity.of(said.user_id)
            await self.service.delete_comment(said.post_id, said.comment_id, caller=author)

    async def _follow(self, who: Identity, other: Identity) -> None:
        await self.world.follow(who, other)

    async def _unfollow(self, who: Identity, other: Identity) -> None:
        await self.service.unfollow(who.id, other.id)

    async def _block(self, who: Identity, other: Identity) -> None:
        await self.service.block(who.id, other.id)

    async def _unblock(self, who: Identity, other: Identity) -> None:
        await self.service.unblock(who.id, other.id)

    async def _rename(self, who: Identity, _: Identity) -> None:
        handle = f"star{self.dice.randrange(4)}"
        await self.service.edit_profile(who.id, ProfileChange(handle=handle))

    async def _leave(self, who: Identity, _: Identity) -> None:
        """Leave, and come back as somebody new."""
        await self.service.delete_account(who.id)
        new = Identity.of(f"{who.id}_")
        await self.world.join(new)
        self.people[self.people.index(who)] = new


async def consume_and_die(world: World, dice: random.Random, over: asyncio.Event) -> int:
    """Consumers that die somewhere in their work, one after another; some lose their place."""
    client = Interleaved(world.db.client, dice)
    prefix = world.db.context.table_prefix
    db = await design.open_async(
        client, clock=world.sandbox.clock, table_prefix=prefix, create_tables=False
    )
    while not over.is_set() or client.deaths < 3:
        client.left = dice.randrange(5, 300)
        with suppress(Crash, *TRANSIENT):
            await AsyncConsumer(db, options=ConsumerOptions(batch=10)).run_once()
            if dice.random() < 0.1 and client.deaths:
                await forget_progress(world.db)
        # Another worker may go on when the dead one's lease is over.
        world.sandbox.clock.advance(31)
        await asyncio.sleep(0)
    return client.deaths


async def everything(db: AsyncDb, entity: type[Any]) -> list[Any]:
    return [item async for item in db.scan(entity)]


async def assert_exact(world: World) -> None:
    """Every counter is a recount, every list what a plain model says, and nothing is left over."""
    db = world.db
    profiles = {one.user_id: one for one in await everything(db, UserProfile)}
    posts = {one.post_id: one for one in await everything(db, Post)}
    follows, blocks = await everything(db, Follow), await everything(db, Block)
    likes, comments = await everything(db, Like), await everything(db, Comment)

    liked = Counter(one.post_id for one in likes)
    said = Counter(one.post_id for one in comments)
    for post in posts.values():
        assert (post.likes, post.comments) == (liked[post.post_id], said[post.post_id])
    followers = Counter(one.followee_id for one in follows)
    following = Counter(one.follower_id for one in follows)
    for user, profile in profiles.items():
        assert (profile.followers, profile.following) == (followers[user], following[user])

    assert {one.user_id for one in posts.values()} <= set(profiles)
    for one in (*likes, *comments):
        assert one.post_id in posts
        assert one.user_id in profiles
    for edge in follows:
        assert {edge.follower_id, edge.followee_id} <= set(profiles)
    apart = {frozenset((one.user_id, one.blocked_id)) for one in blocks}
    assert not apart & {frozenset((one.follower_id, one.followee_id)) for one in follows}
    assert all(one.user_handle == profiles[one.user_id].handle for one in comments)

    await assert_told(world, likes, comments, follows, profiles)
    for user in profiles:
        me = Identity.of(user)
        hidden = {one for pair in apart if user in pair for one in pair} - {user}
        listed = [one.post.post_id for one in await world.service.likes(user, ALL, caller=me)]
        mine = [one for one in likes if one.user_id == user and one.post_user_id not in hidden]
        assert sorted(listed) == sorted(one.post_id for one in mine)
        times = [one.since for one in await world.service.likes(user, ALL, caller=me)]
        assert times == sorted(times, reverse=True)
        fans = {one.user.user_id for one in await world.service.followers(user, ALL, caller=me)}
        assert fans == {one.follower_id for one in follows if one.followee_id == user}
        followed = {one.followee_id for one in follows if one.follower_id == user}
        feed = [one.post_id for one in await world.service.home(user, ALL, caller=me)]
        wanted = [one for one in posts.values() if one.user_id in followed]
        assert sorted(feed) == sorted(one.post_id for one in wanted)


async def assert_told(
    world: World,
    likes: list[Like],
    comments: list[Comment],
    follows: list[Follow],
    profiles: dict[str, UserProfile],
) -> None:
    """There is one notification for each reaction to somebody else, and inboxes count them."""
    told = await everything(world.db, Notification)
    wanted = Counter(
        [("like", o.post_user_id, o.user_id) for o in likes if o.user_id != o.post_user_id]
        + [("comment", o.post_user_id, o.user_id) for o in comments if o.user_id != o.post_user_id]
        + [("follow", o.followee_id, o.follower_id) for o in follows]
    )
    assert Counter((one.kind, one.user_id, one.actor_id) for one in told) == wanted
    unread = Counter(one.user_id for one in told if one.state == "unread")
    inboxes = {one.user_id: one.unread for one in await everything(world.db, Inbox)}
    assert {user: inboxes.get(user, 0) for user in profiles} == {u: unread[u] for u in profiles}


async def assert_hidden_is_read(world: World) -> None:
    """Nobody has something unread that a block keeps out of their list."""
    for profile in await everything(world.db, UserProfile):
        shown = await world.service.notifications(profile.user_id, ALL, unread=True)
        assert (await world.service.unread(profile.user_id)).unread == len(shown)


async def history(world: World, seed: int, faults: Faults | None = None) -> None:
    """Everybody lives at once while consumers die; then the stream's consequences come about."""
    dice = random.Random(seed)
    town = Town(world, dice)
    await world.join(*town.people)
    await world.settle()
    db, sandbox = world.db, world.sandbox
    quiet, over = db.client, asyncio.Event()
    sandbox.engine._faults = faults
    consuming = asyncio.create_task(consume_and_die(world, dice, over))
    db.client = Interleaved(quiet, dice)
    await asyncio.gather(*(town.live(number) for number in range(PEOPLE)))
    over.set()
    assert await consuming >= 3
    db.client, sandbox.engine._faults = quiet, None
    assert set(town.done) >= {"post", "like", "comment", "follow", "delete"}
    assert town.done.total() > PEOPLE * TURNS / 4, "most of it was refused"

    sandbox.clock.advance(3600)
    await sweep(db, sandbox, "tamafriends")
    await world.settle()


@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right(world: World, seed: int) -> None:
    await history(world, seed)
    assert await world.drift() == []
    await assert_exact(world)
    await forget_progress(world.db)
    await world.settle()
    await assert_exact(world)
    await assert_hidden_is_read(world)


@pytest.mark.sandbox(index_lag=(0, LAG))
@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right_where_indexes_are_behind(sandbox: Sandbox, seed: int) -> None:
    async with opened(design, sandbox, "embedded") as db:
        world = World(TamaFriends(db), db, sandbox)
        await history(world, seed)
        sandbox.clock.advance(LAG)
        assert await world.drift() == []
        await assert_exact(world)


@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right_on_a_server_that_throttles_and_loses_answers(
    sandbox: Sandbox, seed: int
) -> None:
    faults = Faults(seed=seed, throttle=0.03, conflict=0.03, unprocessed=0.1, lose_answer=0.02)
    async with opened(design, sandbox, "http") as db:
        world = World(TamaFriends(db), db, sandbox)
        await history(world, seed, faults)
        assert await world.drift() == []
        await assert_exact(world)


@pytest.mark.sandbox(seed=3, throttle=0.15, conflict=0.1, unprocessed=0.2)
async def test_a_troubled_server_is_survived(sandbox: Sandbox) -> None:
    async with opened(design, sandbox, "http") as db:
        world = World(TamaFriends(db), db, sandbox)
        star, *fans = (Identity.of(f"p{number}") for number in range(PEOPLE))
        await world.join(star, *fans)
        post = await world.post(star)

        async def admire(fan: Identity) -> None:
            await world.follow(fan, star)
            await world.like(fan, post)
            await world.comment(fan, post)

        await asyncio.gather(*(admire(fan) for fan in fans))
        await world.settle()
        assert await world.reactions(post) == (len(fans), len(fans))
        assert await world.counts(star) == (len(fans), 0)
        await assert_exact(world)
