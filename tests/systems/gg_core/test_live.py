"""What people hear of while they look at it, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import orjson
import pytest

from keyfold.api import Identity
from keyfold.api.auth import DevelopmentTokens
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.payloads import NewRoom
from keyfold_systems.gg_core.service import GgCore
from tests.systems.opening import LATER, opened

from .conftest import FIRST, MIA, OLGA, SAM, World
from .test_api import served

pytestmark = LATER
FEED = "subscription ($id: String!) { feedAdded(userId: $id) { previewText author { fullName } } }"
ROOM = "subscription ($id: String!) { roomChanged(roomId: $id) { changed } }"
ROOMS = "subscription ($id: String!) { roomsChanged(userId: $id) { id } }"
MINE = "subscription ($id: String!) { mineChanged(userId: $id) { changed } }"
PROFILE = "subscription ($id: String!) { profileChanged(id: $id) { changed } }"


class Site:
    """A server with the world behind it, and what is heard from it."""

    def __init__(self, base: str, tokens: DevelopmentTokens) -> None:
        self.base, self.tokens = base, tokens

    @asynccontextmanager
    async def heard(self, who: Identity, query: str, id: str) -> AsyncIterator[asyncio.Queue[Any]]:
        """What somebody hears over server-sent events; it has begun when this does."""
        queue: asyncio.Queue[Any] = asyncio.Queue()
        headers = {
            "authorization": f"Bearer {self.tokens.issue(who.id)}",
            "accept": "text/event-stream",
        }
        body = {"query": query, "variables": {"id": id}}

        async def read(answer: httpx.Response) -> None:
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    queue.put_nowait(orjson.loads(line.removeprefix("data: ")))

        async with (
            httpx.AsyncClient(timeout=30) as client,
            client.stream("POST", f"{self.base}/graphql", json=body, headers=headers) as answer,
        ):
            reading = asyncio.create_task(read(answer))
            yield queue
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading


async def until(queue: asyncio.Queue[Any], wanted: dict[str, Any]) -> None:
    async with asyncio.timeout(20):
        while (await queue.get()).get("data") != wanted:
            pass


@pytest.fixture
async def live(sandbox: Sandbox) -> AsyncIterator[tuple[World, Site]]:
    tokens = DevelopmentTokens()
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox)
        await world.register(OLGA, MIA, SAM)
        consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
        running = asyncio.create_task(consumer.run())
        async with served(world.service, tokens) as base:
            yield world, Site(base, tokens)
        consumer.stop()
        await running


async def test_a_post_is_heard_of_by_who_follows_and_by_nobody_else(
    live: tuple[World, Site],
) -> None:
    world, site = live
    async with site.heard(OLGA, FEED, "olga") as hers, site.heard(MIA, FEED, "mia") as own:
        await world.service.follow_user("mia", caller=OLGA)
        await world.post(SAM, "of somebody else")
        await world.post(MIA, "Hello")
        heard = {"feedAdded": {"previewText": "Hello", "author": {"fullName": "Mia"}}}
        assert (await asyncio.wait_for(hers.get(), 20))["data"] == heard
        assert own.empty()


async def test_a_message_is_heard_of_in_its_room_and_among_ones_rooms(
    live: tuple[World, Site],
) -> None:
    world, site = live
    room = await world.service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA)
    async with (
        site.heard(MIA, ROOM, room.room_id) as inside,
        site.heard(MIA, ROOMS, "mia") as among,
    ):
        await world.service.send_message(room.room_id, "Hello", caller=OLGA)
        await until(inside, {"roomChanged": {"changed": "Message"}})
        await until(among, {"roomsChanged": {"id": room.room_id}})
        [seen] = await world.service.rooms("mia", FIRST)
        assert (seen.last_text, seen.unread) == ("Hello", True)


async def test_notices_and_points_are_heard_of_when_they_are_counted(
    live: tuple[World, Site],
) -> None:
    world, site = live
    async with site.heard(OLGA, MINE, "olga") as mine, site.heard(OLGA, PROFILE, "olga") as points:
        await world.service.follow_user("olga", caller=MIA)
        await until(mine, {"mineChanged": {"changed": "UnreadCounter"}})
        assert (await world.service.unread("olga")).count == 1
        await world.counted(1)
        await world.done(await world.task(await world.goal()))
        async with asyncio.timeout(20):
            while (await world.service.account("olga")).xp == 0:
                await points.get()


@pytest.mark.parametrize(("query", "id"), [(FEED, "olga"), (MINE, "olga"), (ROOM, "none")])
async def test_nobody_listens_to_what_is_not_theirs(
    live: tuple[World, Site], query: str, id: str
) -> None:
    _, site = live
    async with site.heard(MIA, query, id) as answers:
        answer = await asyncio.wait_for(answers.get(), 20)
        assert answer["errors"][0]["extensions"]["code"] == "NOT_ALLOWED"


async def test_a_first_sign_in_makes_a_profile(live: tuple[World, Site]) -> None:
    world, _ = live
    known = {"email": "cem@x.org", "name": "Cem Kaya", "preferred_username": "mia"}
    for _ in range(2):
        await world.service.welcome(Identity("cem", claims=known))
        await world.service.welcome(Identity("nobody"))
    made = await world.service.account("cem")
    assert (made.full_name, made.email) == ("Cem Kaya", "cem@x.org")
    assert made.nickname.startswith("mia-")
