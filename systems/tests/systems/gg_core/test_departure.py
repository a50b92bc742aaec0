"""A person takes their data along, and leaves nothing behind."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from keyfold_web import Conflict, Identity, Invalid, Missing, NotAllowed, PageRequest
from keyfold.errors import CursorRefused, NotFound
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold.streams.policy import TRANSIENT
from keyfold.testing import Sandbox
from keyfold_systems.gg_core.departure import AT_ONCE
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.entities import Group, Role
from keyfold_systems.gg_core.payloads import NewReport, NewRoom
from keyfold_systems.gg_core.service import GgCore
from tests.systems.opening import LATER, ask, opened, stored

from .conftest import FIRST, MIA, OLGA, SAM, World, profile
from .test_histories import Crash, Interleaved

pytestmark = LATER
MO = Identity.of("mo", "moderator")


async def lived(world: World) -> dict[str, str]:
    """Olga has done something of everything, with others and alone."""
    service = world.service
    for one, other in ((OLGA, "mia"), (MIA, "olga"), (SAM, "olga")):
        await service.follow_user(other, caller=one)
    await world.register(Identity.of("zoe"), Identity.of("yan"))
    await service.block_user("zoe", caller=OLGA)
    await service.block_user("olga", caller=Identity.of("yan"))
    shared, alone = await world.found(OLGA), await world.found(OLGA)
    for one in (MIA, SAM):
        await service.join_group(shared.group_id, caller=one)
    await service.change_role(shared.group_id, "sam", Role.ADMIN)
    hall = NewRoom(scope="group", group_id=shared.group_id)
    rooms = [
        await service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA),
        await service.create_room(NewRoom(scope="group", members={"mia", "sam"}), caller=OLGA),
        await service.create_room(hall, caller=OLGA),
    ]
    for room in rooms:
        for number in range(3):
            world.clock.advance(1)
            await service.send_message(room.room_id, f"olga-{number}", caller=OLGA)
            await service.send_message(room.room_id, f"mia-{number}", caller=MIA)
    await service.leave_room(rooms[1].room_id, caller=OLGA)
    post = await world.post(OLGA, "mine")
    await world.comment(MIA, post, "about hers")
    theirs = await world.post(MIA, "theirs")
    await world.comment(OLGA, theirs, "about theirs")
    await world.post(OLGA, "in the group", group=shared.group_id)
    goal = await world.goal()
    task = await world.task(goal)
    await world.counted(1)
    await world.counted(5)
    await world.done(task)
    spam = NewReport(subject_type="user", subject_id="zoe", reason="Spam")
    await service.report(spam, caller=OLGA)
    await service.feed("olga", FIRST)
    await world.settle()
    return {"shared": shared.group_id, "alone": alone.group_id, "room": rooms[0].room_id}


async def exported(world: World, limit: int = 50) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    cursor = None
    while True:
        page = await world.service.personal_data("olga", PageRequest(limit, cursor))
        found += [(one.kind, one.item) for one in page]
        cursor = page.cursor
        if cursor is None:
            return found


async def traces(world: World) -> list[str]:
    """Keys of what still names her; what the feed keeps, and expires, is left out."""
    found = []
    for item in await stored(world.db, "gg_core"):
        kept = "SOURCE#" in item["SK"]["S"] or "_SETTLEMENTS#" in item["PK"]["S"]
        if kept and "ttl" in item:
            continue
        if "olga" in json.dumps(item, default=str):
            found.append(f"{item['PK']['S']} {item['SK']['S']}")
    return found


async def test_an_export_has_all_that_somebody_did_in_pages_of_any_size(world: World) -> None:
    await lived(world)
    whole = await exported(world)
    kinds = [kind for kind, _ in whole]
    assert {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)} == {
        "profile": 1,
        "following": 1,
        "follower": 2,
        "block": 1,
        "group": 2,
        "goal": 1,
        "task": 1,
        "quest": 2,
        "award": 1,
        "activity": 2,
        "group activity": 1,
        "room": 1,
        "message": 9,
        "notifications": 4,
        "report": 1,
    }
    assert all(data["userId"] == "olga" for kind, data in whole if kind == "message")
    assert await exported(world, limit=1) == whole
    with pytest.raises(CursorRefused):
        await world.service.personal_data("olga", PageRequest(limit=1, cursor="x"))


async def test_who_leaves_leaves_nothing_behind_and_others_keep_theirs(world: World) -> None:
    ids = await lived(world)
    await world.service.delete_user("olga", caller=OLGA)
    await world.service.delete_user("olga", caller=OLGA)
    assert (await world.service.verdicts("post_activity", {"olga": OLGA}))["olga"] == 403
    await world.settle()
    assert await traces(world) == []
    with pytest.raises(Missing):
        await world.service.user("olga", caller=MIA)
    with pytest.raises(NotFound):
        await world.service.delete_user("olga", caller=OLGA)
    members = await world.service.group_members(ids["shared"], FIRST)
    assert {one.user_id: one.role for one in members} == {"mia": Role.MEMBER, "sam": Role.OWNER}
    assert await world.db.find(Group.key(group_id=ids["alone"])) is None
    kept = await world.service.messages(ids["room"], FIRST, caller=MIA)
    assert [one.text for one in kept] == ["mia-2", "mia-1", "mia-0"]
    with pytest.raises(Conflict, match="Nobody else"):
        await world.service.send_message(ids["room"], "Hello?", caller=MIA)
    [post] = await world.service.activities("mia", FIRST, caller=SAM)
    assert (post.preview_text, post.comments) == ("theirs", 0)
    assert (await world.service.counts("mia")).followers == 0
    assert await world.drift() == []
    await world.register(OLGA)
    assert await exported(world) == [("profile", (await exported(world))[0][1])]


async def test_an_administrator_deletes_somebodys_data_and_it_is_noted(world: World) -> None:
    await lived(world)
    root = Identity.of("root", "admin")
    assert not (await world.service.delete_personal_data("olga", root)).done
    await world.settle()
    assert (await world.service.delete_personal_data("olga", root)).done
    left = await traces(world)
    assert [one.partition("#")[0] for one in left] == ["AUDIT"]


async def test_what_others_reported_of_somebody_goes_with_them(world: World) -> None:
    ids = await lived(world)
    post = await world.post(OLGA, "Buy this")
    hers = await world.service.send_message(ids["room"], "Buy it", caller=OLGA)
    others = await world.post(SAM, "Buy that")
    about: list[dict[str, Any]] = [
        {"subject_type": "user", "subject_id": "olga"},
        {
            "subject_type": "activity",
            "subject_id": post.activity_id,
            "place_id": "olga",
            "created_at": post.created_at,
        },
        {
            "subject_type": "message",
            "subject_id": hers.message_id,
            "place_id": ids["room"],
            "created_at": hers.created_at,
        },
        {
            "subject_type": "activity",
            "subject_id": others.activity_id,
            "place_id": "sam",
            "created_at": others.created_at,
        },
        {"subject_type": "group", "subject_id": ids["shared"]},
    ]
    for one in about:
        await world.service.report(NewReport(**one, reason="Spam"), caller=MIA)
    await world.service.handle_report("mia", "user", "olga", "dismissed", MO)
    await world.settle()
    await world.service.delete_user("olga", caller=OLGA)
    await world.settle()
    assert [one.partition("#")[0] for one in await traces(world)] == ["AUDIT"]
    left = {one.subject_id for one in await world.service.reports(FIRST)}
    assert left == {others.activity_id, ids["shared"]}


async def test_who_decided_stays_known_when_they_leave(world: World) -> None:
    spam = NewReport(subject_type="user", subject_id="sam", reason="Spam")
    await world.service.report(spam, caller=MIA)
    olga = Identity.of("olga", "moderator")
    await world.service.handle_report("mia", "user", "sam", "dismissed", olga)
    await world.settle()
    await world.service.delete_user("olga", caller=OLGA)
    await world.settle()
    left = [one.partition("#20")[0] for one in await traces(world)]
    assert sorted(left) == ["AUDIT", "USER#mia REPORT#user#sam"]


async def test_a_suspension_outlasts_the_account(world: World) -> None:
    await world.service.suspend_user("olga", 24, "Spam", MO)
    await world.service.delete_user("olga", caller=OLGA)
    await world.settle()
    left = [one for one in await traces(world) if not one.startswith("AUDIT#")]
    assert left == ["USER#olga SUSPENSION"]
    with pytest.raises(NotAllowed, match="Spam"):
        await ask(world.service, "createUser", OLGA, input=profile(OLGA))
    world.clock.advance(24 * 3600 + 1)
    await ask(world.service, "createUser", OLGA, input=profile(OLGA))


async def test_who_comes_back_talks_to_the_same_people_again(world: World) -> None:
    direct = NewRoom(scope="dm", members={"mia"})
    before = await world.service.create_room(direct, caller=OLGA)
    await world.service.send_message(before.room_id, "Hello", caller=MIA)
    await world.service.delete_user("olga", caller=OLGA)
    await world.settle()
    await world.register(OLGA)
    for who, other in ((MIA, "olga"), (OLGA, "mia")):
        room = await world.service.create_room(NewRoom(scope="dm", members={other}), caller=who)
        assert room.members == {"mia", "olga"}
        await world.service.send_message(room.room_id, "Hello again", caller=who)
    assert [one.title for one in await world.service.rooms("mia", FIRST)] == ["Olga"]
    assert len(await world.service.rooms("olga", FIRST)) == 1
    await world.settle()
    assert await world.drift() == []


async def test_nobody_is_drawn_into_anything_while_leaving(world: World) -> None:
    room = await world.service.create_room(NewRoom(scope="group", members={"sam"}), caller=MIA)
    await world.service.delete_user("olga", caller=OLGA)
    for members in ({"olga"}, {"olga", "sam"}):
        with pytest.raises(Invalid, match="olga"):
            await world.service.create_room(NewRoom(scope="group", members=members), caller=MIA)
    for asked in (
        world.service.add_to_room(room.room_id, "olga", caller=MIA),
        world.service.follow_user("olga", caller=MIA),
        world.service.block_user("olga", caller=MIA),
    ):
        with pytest.raises(Missing):
            await asked


@pytest.mark.parametrize("seed", range(2))
async def test_a_departure_goes_on_when_consumers_die(world: World, seed: int) -> None:
    await lived(world)
    await world.service.delete_user("olga", caller=OLGA)
    dice = random.Random(seed)
    client = Interleaved(world.db.client, dice)
    prefix = world.db.context.table_prefix
    db = await design.open_async(
        client, clock=world.clock, table_prefix=prefix, create_tables=False
    )
    while client.deaths < 5:
        client.left = dice.randrange(5, 60)
        with suppress(Crash, *TRANSIENT):
            await AsyncConsumer(db, options=ConsumerOptions(batch=5)).run_once()
        world.clock.advance(31)
    await world.settle()
    assert await traces(world) == []
    assert await world.drift() == []


@pytest.mark.sandbox(index_lag=(0, 5))
async def test_a_departure_finds_what_indexes_show_late(sandbox: Sandbox) -> None:
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox, indexes_lag=True)
        await world.register(OLGA, MIA, SAM)
        await lived(world)
        await world.service.follow_user("zoe", caller=MIA)
        await world.service.delete_user("olga", caller=OLGA)
        await world.settle()
        world.clock.advance(60)
        await world.settle()
        assert await traces(world) == []
        assert await world.drift() == []


@pytest.mark.sandbox(index_lag=(5, 5))
async def test_every_group_gets_an_owner_also_where_the_index_shows_those_that_were_left(
    sandbox: Sandbox,
) -> None:
    async with opened(design, sandbox, "embedded") as db:
        world = World(GgCore(db), db, sandbox, indexes_lag=True)
        await world.register(OLGA, MIA)
        groups = [await world.found(OLGA) for _ in range(AT_ONCE + 3)]
        for group in groups:
            await world.service.join_group(group.group_id, caller=MIA)
        await world.settle()
        world.clock.advance(60)
        await world.service.delete_user("olga", caller=OLGA)
        await AsyncConsumer(db).drain()
        await world.settle()
        world.clock.advance(60)
        await world.settle()
        kept = [await db.get(group.ref()) for group in groups]
        assert {(group.owner_id, group.owners) for group in kept} == {("mia", 1)}
        assert await traces(world) == []
