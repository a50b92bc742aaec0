"""Notices: who is told, once each, over REST and GraphQL, and gone with their account."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx

from keyfold_web import PageRequest
from keyfold.streams import AsyncConsumer
from keyfold_systems.sellers.entities import NOTICE_DAYS, Notice, Share, UnreadCounter
from keyfold_systems.sellers.payloads import NewInvite
from tests.systems.conftest import Recorder, served
from tests.systems.listener import heard, next_of, refusal
from tests.systems.opening import forget_progress

from .conftest import MIA, OLGA, SAM, World

PAGE = PageRequest(limit=10)
NOTIFIED = "subscription ($id: String!) { notified(userId: $id) { unread } }"
LIST = """
    query ($id: String!) {
      notifications(userId: $id, unread: true) { nodes { noticeId kind actorName text read } }
      unread(userId: $id) { unread }
    }
"""
READ = "mutation ($id: String!) { readNotifications(userId: $id) { count } }"


async def settle(world: World) -> None:
    await AsyncConsumer(world.db).drain()


async def told(world: World, who: str) -> list[tuple[str, str | None, str]]:
    await settle(world)
    found = await world.service.notifications(who, PAGE)
    return sorted((one.kind, one.actor_name, one.text) for one in found)


async def redeemed(world: World, profile: str) -> None:
    """Mia uses an invite of Olga's."""
    input = NewInvite(profile_id=profile, permissions=("READ",))
    invite = await world.service.create_profile_invite(input, caller=OLGA)
    await world.service.redeem_profile_invite(invite.invite_code, caller=MIA)


async def test_who_gets_permissions_is_told_and_once_of_each_change(world: World) -> None:
    await world.account(OLGA)
    profile = await world.profile()
    await world.share(profile, MIA)
    await settle(world)
    await world.share(profile, MIA, ("READ", "WRITE"))
    expected = [
        ("permissions_changed", "Olga", "Olga's cookies: READ, WRITE"),
        ("shared", "Olga", "Olga's cookies: READ"),
    ]
    assert await told(world, "mia") == expected
    await forget_progress(world.db)
    assert await told(world, "mia") == expected
    assert await told(world, "olga") == []
    assert (await world.service.unread("mia")).unread == 2


async def test_an_invite_tells_who_made_it_and_not_who_used_it(world: World) -> None:
    await world.account(OLGA, MIA)
    await redeemed(world, await world.profile())
    assert await told(world, "olga") == [("invite_redeemed", "Mia", "Olga's cookies")]
    assert await told(world, "mia") == []


async def test_a_share_that_is_copied_here_is_no_news(world: World) -> None:
    await world.account(OLGA, MIA)
    profile = await world.profile()
    await world.db.create(
        Share(
            profile_id=profile,
            target_account_id="mia",
            permissions=("READ",),
            created_at=world.db.context.now() - timedelta(days=1),
            created_by_account_id="olga",
        )
    )
    assert await told(world, "mia") == []


async def test_they_are_listed_and_read_over_graphql_and_rest(world: World) -> None:
    await world.account(OLGA)
    for name in ("Cookies", "Pies"):
        await world.share(await world.profile(name=name), MIA)
        await settle(world)
    async with served(world.service) as web:
        shown = await _asked(web["mia"], LIST)
        assert [one["actorName"] for one in shown["notifications"]["nodes"]] == ["Olga"] * 2
        assert shown["unread"] == {"unread": 2}
        newest = shown["notifications"]["nodes"][0]["noticeId"]
        path = "/users/mia/notifications"
        for changed in (1, 0):
            answer = await web["mia"].post(f"{path}/read", json={"notificationIds": [newest]})
            assert answer.json() == {"count": changed}
        rows = (await web["mia"].get(path)).json()["items"]
        assert [one["read"] for one in rows] == [True, False]
        assert (await _asked(web["mia"], READ))["readNotifications"] == {"count": 1}
        await settle(world)
        assert (await web["mia"].get(f"{path}/unread")).json() == {"unread": 0}
        assert (await web["sam"].get(path)).status_code == 403


async def test_the_number_is_heard_of_while_it_changes(world: World) -> None:
    await world.account(OLGA, SAM)
    profile = await world.profile()
    async with (
        served(world.service) as web,
        heard(web, "mia", NOTIFIED, id="mia") as hers,
        heard(web, "sam", NOTIFIED, id="mia") as his,
    ):
        assert await refusal(his) == "NOT_ALLOWED"
        await world.share(profile, MIA)
        await settle(world)
        assert (await next_of(hers))["data"]["notified"] == {"unread": 1}
        await world.service.read_notifications("mia")
        await settle(world)
        assert (await next_of(hers))["data"]["notified"] == {"unread": 0}


async def test_they_are_exported_and_go_with_the_account(world: World, client: Recorder) -> None:
    await world.account(OLGA)
    await world.share(await world.profile(), MIA)
    await settle(world)
    exported = [one.kind for one in await world.service.personal_data("mia", PageRequest(100))]
    assert "notifications" in exported
    await world.service.delete_my_account(MIA)
    await settle(world)
    assert [one async for one in world.db.scan(Notice)] == []
    assert [one async for one in world.db.scan(UnreadCounter)] == []


async def test_they_end_after_three_months(world: World) -> None:
    await world.account(OLGA)
    await world.share(await world.profile(), MIA)
    await settle(world)
    [notice] = [one async for one in world.db.scan(Notice)]
    assert notice.expires_at == notice.created_at + timedelta(days=NOTICE_DAYS)


async def _asked(web: httpx.AsyncClient, query: str) -> Any:
    answer = await web.post("/graphql", json={"query": query, "variables": {"id": "mia"}})
    found = answer.json()
    assert "errors" not in found, found
    return found["data"]
