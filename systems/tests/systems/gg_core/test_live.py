"""What people hear of while they look at it, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from keyfold_web import Identity
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.payloads import NewRoom
from keyfold_systems.gg_core.service import GgCore
from tests.systems.conftest import Web, served
from tests.systems.listener import heard, next_of, refusal, until
from tests.systems.opening import LATER, opened

from .conftest import FIRST, MIA, OLGA, ROOT, SAM, World

pytestmark = LATER
FEED = "subscription ($id: String!) { feedAdded(userId: $id) { previewText author { fullName } } }"
FILLED = "subscription ($id: String!) { feedFilled(followerId: $id) { previewText authorName } }"
ROOM = "subscription ($id: String!) { roomChanged(roomId: $id) { changed } }"
ROOMS = "subscription ($id: String!) { roomsChanged(userId: $id) { id } }"
MINE = "subscription ($id: String!) { mineChanged(userId: $id) { changed } }"
PROFILE = "subscription ($id: String!) { profileChanged(id: $id) { changed } }"


@pytest.fixture
async def live(sandbox: Sandbox) -> AsyncIterator[tuple[World, Web]]:
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox)
        await world.register(OLGA, MIA, SAM)
        consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
        running = asyncio.create_task(consumer.run())
        async with served(world.service) as web:
            yield world, web
        consumer.stop()
        await running


async def test_a_post_is_heard_of_by_who_follows_and_by_nobody_else(
    live: tuple[World, Web],
) -> None:
    world, web = live
    async with (
        heard(web, OLGA.id, FEED, id="olga") as hers,
        heard(web, MIA.id, FEED, id="mia") as own,
    ):
        await world.service.follow_user("mia", caller=OLGA)
        await world.post(SAM, "of somebody else")
        await world.post(MIA, "Hello")
        told = {"feedAdded": {"previewText": "Hello", "author": {"fullName": "Mia"}}}
        assert (await next_of(hers))["data"] == told
        assert own.empty()


async def test_a_message_is_heard_of_in_its_room_and_among_ones_rooms(
    live: tuple[World, Web],
) -> None:
    world, web = live
    room = await world.service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA)
    async with (
        heard(web, MIA.id, ROOM, id=room.room_id) as inside,
        heard(web, MIA.id, ROOMS, id="mia") as among,
    ):
        await world.service.send_message(room.room_id, "Hello", caller=OLGA)
        await until(inside, {"roomChanged": {"changed": "Message"}})
        await until(among, {"roomsChanged": {"id": room.room_id}})
        [seen] = await world.service.rooms("mia", FIRST)
        assert (seen.last_text, seen.unread) == ("Hello", True)


async def test_notices_and_points_are_heard_of_when_they_are_counted(
    live: tuple[World, Web],
) -> None:
    world, web = live
    async with (
        heard(web, OLGA.id, MINE, id="olga") as mine,
        heard(web, OLGA.id, PROFILE, id="olga") as points,
    ):
        await world.service.follow_user("olga", caller=MIA)
        await until(mine, {"mineChanged": {"changed": "UnreadCounter"}})
        assert (await world.service.unread("olga")).unread == 1
        await world.counted(1)
        await world.done(await world.task(await world.goal()))
        async with asyncio.timeout(20):
            while (await world.service.account("olga")).xp == 0:
                await points.get()


@pytest.mark.parametrize(
    ("query", "id"), [(FEED, "olga"), (FILLED, "olga"), (MINE, "olga"), (ROOM, "none")]
)
async def test_nobody_listens_to_what_is_not_theirs(
    live: tuple[World, Web], query: str, id: str
) -> None:
    _, web = live
    async with heard(web, MIA.id, query, id=id) as answers:
        assert await refusal(answers) == "NOT_ALLOWED"


async def test_a_first_sign_in_makes_a_profile(live: tuple[World, Web]) -> None:
    world, _ = live
    known = {"email": "cem@x.org", "name": "Cem Kaya", "preferred_username": "mia"}
    for _ in range(2):
        await world.service.welcome(Identity("cem", claims=known))
        await world.service.welcome(Identity("nobody"))
    made = await world.service.account("cem")
    assert (made.full_name, made.email) == ("Cem Kaya", "cem@x.org")
    assert made.nickname.startswith("mia-")


async def test_an_activity_from_before_one_listens_is_heard_of_when_its_copy_comes(
    sandbox: Sandbox,
) -> None:
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox)
        await world.register(OLGA, MIA)
        await world.service.follow_user("mia", caller=OLGA)
        await world.service.promote("mia", True, caller=ROOT)
        await world.settle()
        await world.post(MIA, "Made before")
        async with served(world.service) as web, heard(web, "olga", FILLED, id="olga") as hers:
            assert await world.texts(OLGA) == []
            await world.settle()
            arrived = {"previewText": "Made before", "authorName": "Mia"}
            assert (await next_of(hers))["data"]["feedFilled"] == arrived
