"""Users and groups that go: all of theirs with them, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Conflict, Identity, Missing, PageRequest
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer, ConsumerOptions, Policy
from keyfold_systems.inviter.entities import (
    Answer,
    Group,
    Hangout,
    Membership,
    Notification,
    Response,
    User,
    UserHangout,
)
from tests.systems.conftest import ADDRESS, IndexLag, Recorder, Web, served

from .conftest import Town

PAGE = PageRequest(limit=50)
MANY = 60


async def clean(db: AsyncDb) -> None:
    await AsyncConsumer(db).drain()
    report = await db.run(verification(db.context))
    assert report.clean, report


async def kinds(client: Recorder, *names: str) -> list[str]:
    found = [item["type"]["S"] for item in await client.items() if "type" in item]
    return [one for one in found if one in names]


async def test_a_host_of_many_hangouts_leaves_while_the_stream_removes_them_too(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    group = await town.settle()
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    for hour in range(40):
        await town.hangout(group, hours=hour + 1, user_ids={"ben", "ada"})
    async with served(town.service) as web:
        consumer = AsyncConsumer(db)
        answers = await asyncio.gather(
            web["ada"].delete("/users/ada"), consumer.drain(), web["ada"].delete("/users/ada")
        )
        assert [answers[0].status_code, answers[2].status_code] == [204, 204]
    await clean(db)
    assert await kinds(client, "Hangout", "GroupHangout", "UserHangout", "Removal") == []


async def test_a_group_closes_while_its_hangouts_are_deleted(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    made = [await town.hangout(group, hours=hour + 1) for hour in range(20)]
    async with served(town.service) as web:
        gone = [web["ada"].delete(f"/hangouts/{one.hangout_id}") for one in made]
        answers = await asyncio.gather(*gone, web["ada"].delete(f"/groups/{group.group_id}"))
        assert {one.status_code for one in answers} == {204}
    await clean(db)
    assert await db.find(Group.key(group_id=group.group_id)) is None
    assert [one async for one in db.scan(Membership)] == []


async def test_who_comes_back_under_the_same_id_has_nothing_of_before(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    group = await town.settle()
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    for hour in range(MANY):
        made = await town.hangout(group, hours=hour + 1)
    await town.service.respond(made.hangout_id, Answer.GOING, town.ada)
    await town.service.delete_user("ada")
    await town.service.save_user("ada", "Another Ada")
    await clean(db)
    assert await kinds(client, "Hangout", "GroupHangout", "UserHangout", "Response") == []
    ada = await db.get(User.key(user_id="ada"))
    assert (ada.name, ada.groups, ada.hosting, ada.answers) == ("Another Ada", 0, 0, 0)


if ADDRESS is None:  # nobody else's index can be told to lag

    @pytest.mark.parametrize("index_lag", ["held"])
    async def test_an_id_is_not_given_again_before_a_late_index_has_shown_all(
        town: Town, db: AsyncDb, client: Recorder, index_lag: IndexLag
    ) -> None:
        group = await town.settle()
        hangout = await town.hangout(group)
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
        await town.service.delete_user("ben")
        with pytest.raises(Missing):
            await town.service.user("ben")
        with pytest.raises(Conflict, match="still being deleted"):
            await town.service.save_user("ben", "Ben again")
        with pytest.raises(Missing):
            await town.service.join_group(group.group_id, town.ben)
        with pytest.raises(Missing):
            await town.service.respond(hangout.hangout_id, Answer.MAYBE, town.ben)
        patient = ConsumerOptions(policy=Policy(patience=1))
        consumer = AsyncConsumer(db, options=patient)
        await consumer.run_once()
        client.catch_up()
        await consumer.drain()
        await town.service.save_user("ben", "Ben again")
        assert [one async for one in db.scan(Response)] == []
        assert {one.user_id async for one in db.scan(Membership)} == {"ada"}


async def test_the_stream_ends_a_deletion_that_was_cut_off(
    town: Town, db: AsyncDb, client: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await town.settle()
    await town.service.join_group(group.group_id, town.cleo)
    for hour in range(30):
        hangout = await town.hangout(group, hours=hour + 1, user_ids={"ben"})
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    call, writes = client.call, 0

    async def failing(operation: str, request: Any) -> dict[str, Any]:
        nonlocal writes
        writes += operation == "TransactWriteItems"
        if writes > 2:
            raise asyncio.CancelledError
        return await call(operation, request)

    deletions: list[Callable[[], Awaitable[None]]] = [
        lambda: town.service.delete_user("ben"),
        lambda: town.service.delete_group(group.group_id),
    ]
    for delete in deletions:
        writes = 0
        with monkeypatch.context() as patch:
            patch.setattr(client, "call", failing)
            with pytest.raises(asyncio.CancelledError):
                await delete()
    await clean(db)
    assert await kinds(client, "Group", "Membership", "GroupHangout", "Removal", "Response") == []
    assert {one.user_id async for one in db.scan(User)} == {"ada", "cleo"}
    assert {one.user_id async for one in db.scan(UserHangout)} == {"ada"}


async def test_a_deleted_user_leaves_nothing_at_all(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    group = await town.settle()
    dan = Identity.of("dan")
    await town.service.save_user("dan", "Dan")
    private = await town.service.create_group("Friends", town.ada, private=True)
    await town.service.invite_to_group(private.group_id, "dan", town.ada)
    await town.service.join_group(group.group_id, dan)
    hangout = await town.hangout(group, user_ids={"dan"})
    await town.service.respond(hangout.hangout_id, Answer.GOING, dan)
    await town.service.invite_to_group(group.group_id, "cleo", dan)
    await town.drain()
    assert (await db.get(User.key(user_id="dan"))).unread
    told = [one async for one in db.scan(Notification) if one.actor_id == "dan"]
    assert {one.kind for one in told} == {"answered", "group_invited", "group_joined"}
    await town.service.delete_user("dan")
    await clean(db)
    assert [item for item in await client.items() if "dan" in str(item).lower()] == []
    assert (await db.get(Hangout.key(hangout_id=hangout.hangout_id))).going == 0


async def test_an_owner_leaves_after_handing_over(town: Town, db: AsyncDb) -> None:
    group = await town.settle()
    with pytest.raises(Conflict, match="Hand over"):
        await town.service.delete_user("ada")
    await town.service.hand_over_group(group.group_id, "ben", town.ada)
    await town.service.delete_user("ada")
    await clean(db)
    stored = await db.get(Group.key(group_id=group.group_id))
    assert (stored.owner_id, stored.members) == ("ben", 1)


async def everything_of(web: Web, who: str) -> list[tuple[str, dict[str, Any]]]:
    """An export, in pages of three."""
    found: list[tuple[str, dict[str, Any]]] = []
    more: dict[str, Any] = {}
    while True:
        answer = await web[who].get(f"/people/{who}/data", params={"limit": 3, **more})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += [(one["kind"], one["item"]) for one in page["items"]]
        if page.get("cursor") is None:
            return found
        more = {"cursor": page["cursor"]}


async def test_a_person_takes_all_of_their_data_along_and_leaves_nothing(
    town: Town, db: AsyncDb, client: Recorder
) -> None:
    group = await town.settle()
    private = await town.service.create_group("Friends", town.ada, private=True)
    await town.service.invite_to_group(private.group_id, "ben", town.ada)
    for hour in range(7):
        hangout = await town.hangout(group, hours=hour + 1, user_ids={"ben"})
        await town.service.respond(hangout.hangout_id, Answer.GOING, town.ben)
    await town.drain()
    stored = [
        item
        for item in await client.items()
        if item.get("userId") == {"S": "ben"} or item.get("hostId") == {"S": "ben"}
    ]
    async with served(town.service) as web:
        found = await everything_of(web, "ben")
        assert len(found) == len(stored)
        assert Counter(kind for kind, _ in found) == {
            "profile": 1,
            "memberships": 1,
            "invitations": 7,
            "answers": 7,
            "groupInvitations": 1,
            "notifications": 8,
        }
        calls = 0
        done = False
        while not done:
            answer = (await web["ben"].delete("/people/ben/data")).json()
            done, calls = answer["done"], calls + 1
        assert calls == 2
        assert await everything_of(web, "ben") == []
    await clean(db)
    left = [item for item in await client.items() if item.get("userId") == {"S": "ben"}]
    assert left == []
