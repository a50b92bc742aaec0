"""Rooms and messages."""

from __future__ import annotations

import asyncio

import pytest

from keyfold_web import Conflict, Identity, Invalid, Missing, NotAllowed, PageRequest
from keyfold_systems.gg_core.payloads import NewRoom
from keyfold_systems.gg_core.rooms import Room
from tests.systems.opening import LATER, stored

from .conftest import FIRST, MIA, OLGA, SAM, World

pytestmark = LATER


async def talk(world: World) -> Room:
    return await world.service.create_room(NewRoom(scope="dm", members={"mia"}), caller=OLGA)


async def test_history_has_messages_only_newest_first_in_pages(world: World) -> None:
    room = await talk(world)
    for number in range(5):
        world.clock.advance(1)
        await world.service.send_message(room.room_id, str(number), caller=(OLGA, MIA)[number % 2])
    first = await world.service.messages(
        room.room_id, PageRequest(limit=3, cursor=None), caller=OLGA
    )
    rest = await world.service.messages(
        room.room_id, PageRequest(limit=3, cursor=first.cursor), caller=OLGA
    )
    assert [m.text for m in first] == ["4", "3", "2"]
    assert [m.text for m in rest] == ["1", "0"]


async def test_a_message_may_be_for_some_hours(world: World) -> None:
    room = await talk(world)
    await world.service.send_message(room.room_id, "for good", caller=OLGA)
    await world.service.send_message(room.room_id, "for now", caller=MIA, hours=1)
    assert len(await world.service.messages(room.room_id, FIRST, caller=OLGA)) == 2
    world.clock.advance(3601)
    assert [m.text for m in await world.service.messages(room.room_id, FIRST, caller=OLGA)] == [
        "for good"
    ]


async def test_rooms_are_listed_for_those_they_name(world: World) -> None:
    room = await talk(world)
    assert [r.room_id for r in await world.service.rooms("mia", FIRST)] == [room.room_id]
    assert (await world.service.rooms("sam", FIRST)).items == []


async def test_members_of_an_open_room_come_and_go(world: World) -> None:
    opened = NewRoom(scope="group", members={"mia"})
    room = await world.service.create_room(opened, caller=OLGA)
    await world.service.add_to_room(room.room_id, "sam", caller=OLGA)
    assert len(await world.service.rooms("sam", FIRST)) == 1
    await world.service.leave_room(room.room_id, caller=SAM)
    assert (await world.service.rooms("sam", FIRST)).items == []
    with pytest.raises(Conflict):
        await world.service.add_to_room((await talk(world)).room_id, "sam", caller=OLGA)


async def test_a_room_goes_with_the_last_who_leaves_it(world: World) -> None:
    opened = NewRoom(scope="group", members={"mia"})
    room = await world.service.create_room(opened, caller=OLGA)
    await world.service.send_message(room.room_id, "Bye", caller=OLGA)
    await world.service.leave_room(room.room_id, caller=OLGA)
    await world.settle()
    assert len(await world.service.messages(room.room_id, FIRST, caller=MIA)) == 1
    await world.service.leave_room(room.room_id, caller=MIA)
    await world.settle()
    keys = [item["PK"]["S"] for item in await stored(world.db, "gg_core")]
    assert f"ROOM#{room.room_id}" not in keys


async def test_a_groups_room_follows_the_group(world: World) -> None:
    group = await world.found(OLGA)
    input = NewRoom(scope="group", group_id=group.group_id)
    room = await world.service.create_room(input, caller=OLGA)
    callers = {"olga": OLGA, "mia": MIA}
    before = await world.service.verdicts("send_message", callers, room_id=room.room_id)
    await world.service.join_group(group.group_id, caller=MIA)
    after = await world.service.verdicts("send_message", callers, room_id=room.room_id)
    assert (before["mia"], after["mia"]) == (403, 200)
    [found] = await world.service.group_rooms(group.group_id, FIRST, caller=OLGA)
    assert found.room_id == room.room_id
    with pytest.raises(NotAllowed):
        await world.service.create_room(input, caller=MIA)


async def test_a_room_with_the_wrong_people_is_refused(world: World) -> None:
    for members in (set(), {"mia", "sam"}, {"nobody"}):
        with pytest.raises(Invalid):
            await world.service.create_room(NewRoom(scope="dm", members=members), caller=OLGA)
    with pytest.raises(Invalid, match="somebody else"):
        await world.service.create_room(NewRoom(scope="group"), caller=OLGA)


async def test_two_people_have_one_room(world: World) -> None:
    asked = [
        world.service.create_room(NewRoom(scope="dm", members={other.id}), caller=one)
        for one, other in ((OLGA, MIA), (MIA, OLGA)) * 3
    ]
    assert len({room.room_id for room in await asyncio.gather(*asked)}) == 1
    assert len(await world.service.rooms("mia", FIRST)) == 1
    other = await world.service.create_room(NewRoom(scope="dm", members={"sam"}), caller=OLGA)
    assert len(await world.service.rooms("olga", FIRST)) == 2
    assert other.members == {"olga", "sam"}


async def test_a_block_holds_in_rooms(world: World) -> None:
    room = await talk(world)
    opened = NewRoom(scope="group", members={"sam"})
    open_room = await world.service.create_room(opened, caller=OLGA)
    await world.service.send_message(room.room_id, "Hello", caller=MIA)
    await world.service.block_user("mia", caller=OLGA)
    for who in (OLGA, MIA):
        with pytest.raises(NotAllowed, match="blocked"):
            await world.service.send_message(room.room_id, "Hello?", caller=who)
    with pytest.raises(NotAllowed, match="blocked"):
        await talk(world)
    with pytest.raises(NotAllowed, match="blocked"):
        await world.service.add_to_room(open_room.room_id, "mia", caller=OLGA)
    three = NewRoom(scope="group", members={"olga", "sam"})
    with pytest.raises(NotAllowed, match="blocked"):
        await world.service.create_room(three, caller=MIA)
    # What was written stays, and all is as before once they make up.
    assert len(await world.service.messages(room.room_id, FIRST, caller=OLGA)) == 1
    await world.service.unblock_user("mia", caller=OLGA)
    await world.service.send_message(room.room_id, "Sorry", caller=MIA)


async def test_a_block_holds_in_every_room_that_two_are_left_in(world: World) -> None:
    of_two = await world.service.create_room(NewRoom(scope="group", members={"mia"}), caller=OLGA)
    three = NewRoom(scope="group", members={"mia", "sam"})
    of_three = await world.service.create_room(three, caller=OLGA)
    await world.service.block_user("mia", caller=OLGA)
    with pytest.raises(NotAllowed, match="blocked"):
        await world.service.send_message(of_two.room_id, "Hello?", caller=MIA)
    await world.service.send_message(of_three.room_id, "Hello all", caller=MIA)
    await world.service.leave_room(of_three.room_id, caller=SAM)
    with pytest.raises(NotAllowed, match="blocked"):
        await world.service.send_message(of_three.room_id, "Hello?", caller=MIA)


async def test_nobody_opens_a_room_while_being_blocked(world: World) -> None:
    for number in range(6):
        fan = Identity.of(f"fan{number}")
        await world.register(fan)
        input = NewRoom(scope="dm", members={"mia"})
        await asyncio.gather(
            world.service.create_room(input, caller=fan),
            world.service.block_user(fan.id, caller=MIA),
            return_exceptions=True,
        )
        with pytest.raises(NotAllowed):
            await world.service.create_room(input, caller=fan)


async def test_a_list_of_rooms_shows_who_what_and_whether_it_is_new(world: World) -> None:
    room = await talk(world)
    group = await world.found(OLGA)
    await world.service.create_room(NewRoom(scope="group", group_id=group.group_id), caller=OLGA)
    world.clock.advance(1)
    await world.service.send_message(room.room_id, "See you", caller=MIA)
    await world.settle()
    [mine] = await world.service.rooms("olga", FIRST)
    assert (mine.title, mine.last_text, mine.last_by) == ("Mia", "See you", "mia")
    assert mine.last_by_name == "Mia"
    assert mine.unread
    [theirs] = await world.service.rooms("mia", FIRST)
    assert (theirs.title, theirs.unread) == ("Olga", False)
    await world.service.read_room(room.room_id, caller=OLGA)
    [mine] = await world.service.rooms("olga", FIRST)
    assert not mine.unread
    [hall] = await world.service.group_rooms(group.group_id, FIRST, caller=OLGA)
    assert hall.title == "Runners"
    [message] = await world.service.messages(room.room_id, FIRST, caller=OLGA)
    assert (message.author_name, message.mine) == ("Mia", False)


async def test_a_message_that_is_taken_back_is_not_the_last(world: World) -> None:
    room = await talk(world)
    sent = []
    for text in ("one", "two"):
        world.clock.advance(1)
        sent.append(await world.service.send_message(room.room_id, text, caller=MIA))
    await world.settle()
    last = sent[-1]
    await world.service.delete_message(room.room_id, last.message_id, last.created_at, caller=MIA)
    with pytest.raises(Missing):
        await world.service.delete_message(
            room.room_id, last.message_id, last.created_at, caller=MIA
        )
    await world.settle()
    [found] = await world.service.rooms("olga", FIRST)
    assert found.last_text == "one"
