"""Random concurrent histories with redelivery and consumers that die: every count is a recount."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from tests.systems.conftest import BACKENDS
from tests.systems.opening import LATER, forget_progress, opened

from keyfold import AsyncDb
from keyfold.errors import KeyfoldError
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions, letters
from keyfold.streams.policy import TRANSIENT
from keyfold.testing import Sandbox
from keyfold_engine.clients import AsyncClient
from keyfold_engine.engine import Faults
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import Comment, Follow, Like, Post, UserProfile
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_systems.tamafriends.views import NewPost, ProfileChange
from keyfold_web import Identity, PageRequest
from keyfold_web.problems import Refused

from .test_access import profile

pytestmark = LATER

PEOPLE = 6
VERBS = {
    "post": 4,
    "delete": 2,
    "like": 6,
    "unlike": 2,
    "comment": 4,
    "uncomment": 2,
    "follow": 5,
    "unfollow": 2,
    "rename": 2,
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


@dataclass
class Place:
    """The service in a sandbox."""

    db: AsyncDb
    sandbox: Sandbox

    @property
    def service(self) -> TamaFriends:
        return TamaFriends(self.db)

    async def settle(self) -> None:
        await AsyncConsumer(self.db).drain()
        assert await self.db.run(letters(self.db.context)) == []

    async def drifts(self) -> list[Any]:
        return list((await self.db.run(verification(self.db.context))).drifts)


@asynccontextmanager
async def place(sandbox: Sandbox, backend: str) -> AsyncIterator[Place]:
    async with opened(design, sandbox, backend) as db:
        yield Place(db, sandbox)


class Town:
    """People who do things at random; what they are refused is refused for a reason."""

    def __init__(self, place: Place, dice: random.Random) -> None:
        self.place, self.service, self.dice = place, place.service, dice
        self.people = [Identity.of(f"p{number}") for number in range(PEOPLE)]
        self.posts: list[str] = ["none"]
        self.comments: list[tuple[Identity, str]] = []
        self.done: Counter[str] = Counter()

    async def live(self, who: Identity) -> None:
        for _ in range(TURNS):
            self.place.sandbox.clock.advance(self.dice.choice([0, 0.5, 2]))
            verb = self.dice.choices(list(VERBS), list(VERBS.values()))[0]
            with suppress(KeyfoldError, Refused):
                await getattr(self, f"_{verb}")(who, self.dice.choice(self.people))
                self.done[verb] += 1

    @property
    def _some_post(self) -> str:
        return self.dice.choice(self.posts[-12:])

    async def _post(self, who: Identity, _: Identity) -> None:
        made = await self.service.create_post(NewPost(text="Look!"), caller=who)
        self.posts.append(made.post_id)

    async def _delete(self, _: Identity, __: Identity) -> None:
        await self.service.delete_post(self._some_post)

    async def _like(self, who: Identity, _: Identity) -> None:
        await self.service.like(self._some_post, caller=who)

    async def _unlike(self, who: Identity, _: Identity) -> None:
        await self.service.unlike(self._some_post, caller=who)

    async def _comment(self, who: Identity, _: Identity) -> None:
        made = await self.service.comment(self._some_post, "Nice.", caller=who)
        self.comments.append((who, made.comment_id))

    async def _uncomment(self, _: Identity, __: Identity) -> None:
        if self.comments:
            who, said = self.dice.choice(self.comments)
            await self.service.delete_comment(said, caller=who)

    async def _follow(self, who: Identity, other: Identity) -> None:
        await self.service.follow(other.id, caller=who)

    async def _unfollow(self, who: Identity, other: Identity) -> None:
        await self.service.unfollow(other.id, caller=who)

    async def _rename(self, who: Identity, _: Identity) -> None:
        handle = f"star{self.dice.randrange(4)}"
        await self.service.edit_profile(who.id, ProfileChange(handle=handle))


async def consume_and_die(place: Place, dice: random.Random, over: asyncio.Event) -> int:
    """Consumers that die somewhere in their work, one after another; some lose their place."""
    client = Interleaved(place.db.client, dice)
    db = await design.open_async(
        client,
        clock=place.sandbox.clock,
        table_prefix=place.db.context.table_prefix,
        create_tables=False,
    )
    while not over.is_set() or client.deaths < 3:
        client.left = dice.randrange(5, 300)
        with suppress(Crash, *TRANSIENT):
            await AsyncConsumer(db, options=ConsumerOptions(batch=10)).run_once()
            if dice.random() < 0.1 and client.deaths:
                await forget_progress(place.db)
        # Another worker may go on when the dead one's lease is over.
        place.sandbox.clock.advance(31)
        await asyncio.sleep(0)
    return client.deaths


async def everything(db: AsyncDb, entity: type[Any]) -> list[Any]:
    return [item async for item in db.scan(entity)]


async def assert_exact(place: Place) -> None:
    """Every counter is a recount, every list what a plain model says, and nothing is left over."""
    profiles = {one.user_id: one for one in await everything(place.db, UserProfile)}
    posts = {one.post_id: one for one in await everything(place.db, Post)}
    follows = await everything(place.db, Follow)
    likes, comments = await everything(place.db, Like), await everything(place.db, Comment)
    liked = Counter(one.post_id for one in likes)
    said = Counter(one.post_id for one in comments)
    assert set(liked) | set(said) <= set(posts)
    for post in posts.values():
        counts = (liked[post.post_id], said[post.post_id])
        assert (post.like_count, post.comment_count) == counts
    followers = Counter(one.followee_id for one in follows)
    following = Counter(one.follower_id for one in follows)
    for user, one in profiles.items():
        counts = (followers[user], following[user])
        assert (one.follower_count, one.following_count) == counts
        me = Identity.of(user)
        listed = [one.post_id for one in await place.service.liked_posts(user, ALL, caller=me)]
        assert sorted(listed) == sorted(one.post_id for one in likes if one.user_id == user)
        fans = {one.user_id for one in await place.service.followers(user, ALL)}
        assert fans == {one.follower_id for one in follows if one.followee_id == user}
        followed = {one.followee_id for one in follows if one.follower_id == user}
        wall = [one.post_id for one in await place.service.wall(user, ALL, caller=me)]
        wanted = [one.post_id for one in posts.values() if one.user_id in followed]
        assert sorted(wall) == sorted(wanted)


async def history(place: Place, seed: int, faults: Faults | None = None) -> None:
    """Everybody lives at once while consumers die; then the stream's consequences come about."""
    dice = random.Random(seed)
    town = Town(place, dice)
    await place.db.bulk(profile(one.id) for one in town.people)
    await place.settle()
    quiet, over = place.db.client, asyncio.Event()
    place.sandbox.engine._faults = faults
    consuming = asyncio.create_task(consume_and_die(place, dice, over))
    place.db.client = Interleaved(quiet, dice)
    await asyncio.gather(*(town.live(one) for one in town.people))
    over.set()
    assert await consuming >= 3
    place.db.client, place.sandbox.engine._faults = quiet, None
    assert set(town.done) >= {"post", "like", "comment", "follow", "delete"}
    assert town.done.total() > PEOPLE * TURNS / 4, "most of it was refused"
    await place.settle()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right(sandbox: Sandbox, backend: str, seed: int) -> None:
    async with place(sandbox, backend) as made:
        await history(made, seed)
        assert await made.drifts() == []
        await assert_exact(made)
        await forget_progress(made.db)
        await made.settle()
        await assert_exact(made)


@pytest.mark.sandbox(index_lag=(0, LAG))
@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right_where_indexes_are_behind(sandbox: Sandbox, seed: int) -> None:
    async with place(sandbox, "embedded") as made:
        await history(made, seed)
        sandbox.clock.advance(LAG)
        assert await made.drifts() == []
        await assert_exact(made)


@pytest.mark.parametrize("seed", SEEDS)
async def test_any_history_ends_right_on_a_server_that_throttles_and_loses_answers(
    sandbox: Sandbox, seed: int
) -> None:
    faults = Faults(seed=seed, throttle=0.03, conflict=0.03, unprocessed=0.1, lose_answer=0.02)
    async with place(sandbox, "http") as made:
        await history(made, seed, faults)
        assert await made.drifts() == []
        await assert_exact(made)
