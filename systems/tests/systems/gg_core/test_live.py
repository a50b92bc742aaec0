"""What people hear of while they look at it, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.systems.conftest import Web, served
from tests.systems.listener import heard, next_of, refusal
from tests.systems.opening import LATER, opened

from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.service import GgCore
from keyfold_systems.gg_core.views import NewActivity, NewRoom, NewUser
from keyfold_web import Identity

pytestmark = LATER
OLGA, MIA, SAM = Identity.of("olga"), Identity.of("mia"), Identity.of("sam")
FEED = "subscription ($id: String!) { feedAdded(userId: $id) { previewText actorName } }"
ROOM = "subscription ($id: String!) { messageSent(roomId: $id) { text userName } }"


@pytest.fixture
async def live(sandbox: Sandbox) -> AsyncIterator[tuple[GgCore, Web]]:
    async with opened(design, sandbox, "embedded") as db:
        service = GgCore(db)
        for one in (OLGA, MIA, SAM):
            profile = NewUser(nickname=one.id, email=f"{one.id}@x.org", full_name=one.id.title())
            await service.create_user(profile, caller=one)
        consumer = AsyncConsumer(db, options=ConsumerOptions(poll_seconds=0.01))
        running = asyncio.create_task(consumer.run())
        async with served(service) as web:
            yield service, web
        consumer.stop()
        await running


async def test_a_post_is_heard_of_by_who_follows_and_by_nobody_else(
    live: tuple[GgCore, Web],
) -> None:
    service, web = live
    async with (
        heard(web, OLGA.id, FEED, id="olga") as hers,
        heard(web, MIA.id, FEED, id="mia") as own,
    ):
        await service.follow_user("mia", caller=OLGA)
        await service.post_activity(NewActivity(preview_text="of somebody else"), caller=SAM)
        await service.post_activity(NewActivity(preview_text="Hello"), caller=MIA)
        told = {"feedAdded": {"previewText": "Hello", "actorName": "Mia"}}
        assert (await next_of(hers))["data"] == told
        assert own.empty()


async def test_a_message_is_heard_of_in_its_room_by_its_members(
    live: tuple[GgCore, Web],
) -> None:
    service, web = live
    room = await service.create_room(NewRoom(members=["mia"]), caller=OLGA)
    async with heard(web, MIA.id, ROOM, id=room.room_id) as hers:
        await service.send_message(room.room_id, "At six?", caller=OLGA)
        told = {"messageSent": {"text": "At six?", "userName": "Olga"}}
        assert (await next_of(hers))["data"] == told
    async with heard(web, SAM.id, ROOM, id=room.room_id) as refused:
        assert await refusal(refused) == "NOT_ALLOWED"
