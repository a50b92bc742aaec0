"""Items from before: they are read as they are, and filled with what lists show now."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import PageRequest
from keyfold_engine.clients import connect
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold.maintain import verification
from keyfold.migrations import Backend, Migrator, backend_of
from keyfold_systems.inviter.entities import (
    Answer,
    GroupHangout,
    Hangout,
    Response,
    User,
    UserHangout,
)
from keyfold_systems.inviter.migration import ground, migration
from keyfold_systems.inviter.patterns import people_named
from keyfold_systems.inviter.payloads import HangoutChange
from tests.systems.conftest import ADDRESS, Recorder

from .conftest import Town

PAGE = PageRequest(limit=50)
TABLE = "InviterTable"
NEW = {
    "Hangout": {"hostName"},
    "GroupHangout": {"hostName"},
    "UserHangout": {"hostName"},
    "Response": {"userName", "groupId", "guestId"},
    "User": {"foundAs", "initial", "leaving", "hosting", "answers", "unread", "gsi1pk", "gsi1sk"},
    "Group": {"private"},
}


def as_before(item: dict[str, Any]) -> dict[str, Any] | None:
    """An item as it was stored before; None for one that there was not."""
    kind = item["type"]["S"]
    if kind == "UserHangout" and item["userId"] == item["hostId"]:
        return None
    kept = {name: value for name, value in item.items() if name not in NEW.get(kind, ())}
    if kind == "Hangout":
        users = [one for one in item["userIds"]["SS"] if one != item["hostId"]["S"]]
        kept |= {"userIds": {"SS": users}}
    return kept


def backend_beside(client: Recorder) -> Backend:
    """The same tables, for a migration."""
    direct = connect(ADDRESS or "") if client.engine is None else EmbeddedClient(client.engine)
    return backend_of(direct, prefix=client.prefix)


async def make_old(db: AsyncDb, client: Recorder) -> None:
    for item in await client.items():
        name = {"TableName": f"{client.prefix}{TABLE}"}
        if (old := as_before(item)) is not None:
            await db.client.call("PutItem", {**name, "Item": old})
        else:
            key = {one: item[one] for one in ("PK", "SK")}
            await db.client.call("DeleteItem", {**name, "Key": key})


@pytest.fixture
async def before(town: Town, db: AsyncDb, client: Recorder) -> tuple[str, Hangout]:
    """Ada's group and hangout, with answers, in the shape of before."""
    group = await town.settle()
    hangout = await town.hangout(group, user_ids={"cleo"})
    for one in (town.ben, town.cleo):
        await town.service.respond(hangout.hangout_id, Answer.GOING, one)
    await town.service.save_user("dan", "Dan")
    await town.drain()
    stray = Response(hangout_id=hangout.hangout_id, user_id="dan", answer=Answer.MAYBE)
    await db.create(stray)
    await town.drain()
    await make_old(db, client)
    return group.group_id, hangout


async def test_items_from_before_are_read_and_changed_as_they_are(
    before: tuple[str, Hangout], town: Town
) -> None:
    group_id, hangout = before
    [card] = await town.service.group_feed(group_id, PAGE, town.ben)
    assert (card.title, card.host_name, card.going, card.my_answer) == ("Run", "", 2, "going")
    for one in (town.ada, town.ben):
        await town.service.respond(hangout.hangout_id, Answer.MAYBE, one)
    await town.service.join_group(group_id, town.cleo)
    renamed = HangoutChange(title="Long run")
    await town.service.update_hangout(hangout.hangout_id, renamed)
    [card] = await town.service.my_hangouts("cleo", PAGE)
    assert card.title == "Long run"
    await town.service.delete_user("ben")


async def test_a_new_field_of_a_pointer_is_filled_on_every_old_one(
    before: tuple[str, Hangout], town: Town, db: AsyncDb, client: Recorder
) -> None:
    group_id, hangout = before
    backend = backend_beside(client)
    await asyncio.to_thread(Migrator(migration, backend, without_routers=True).apply, "contract")
    assert await ground(db) == 3
    assert await ground(db) == 0
    for user in ("ada", "cleo"):
        pointer = await db.get(UserHangout.key(user_id=user, hangout_id=hangout.hangout_id))
        assert pointer.host_name == "Ada A"
    feed = await db.get(GroupHangout.key(group_id=group_id, hangout_id=hangout.hangout_id))
    assert feed.host_name == "Ada A"
    assert [one.user_id for one in await people_named(db, "c", "cle")] == ["cleo"]
    answers = {one.user_id: one async for one in db.scan(Response)}
    assert {user: one.user_name for user, one in answers.items()} == {
        "ben": "Ben A",
        "cleo": "Cleo A",
    }
    assert (answers["ben"].group_id, answers["cleo"].guest_id) == (group_id, "cleo")
    ada = await db.get(User.key(user_id="ada"))
    assert (ada.hosting, ada.groups) == (1, 1)
    await town.drain()
    report = await db.run(verification(db.context))
    assert report.clean, report
