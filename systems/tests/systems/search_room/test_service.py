"""The service: duplicates, versions, criteria at once, copilots, lagging indexes, bad input."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.systems.author import server
from tests.systems.conftest import ADDRESS, served
from tests.systems.listener import heard, next_of

from keyfold import new_ulid
from keyfold_systems.search_room.entities import Listing, UserCriteria

from .conftest import RoomAuthor, World, opened


async def test_duplicates_are_impossible_at_once(world: World) -> None:
    room = await world.room("mia", "jonas")
    new = {"sourceBrand": "homegate", "externalId": "7", "title": "Loft"}
    calls = [world.call(who, "POST", f"{room}/listings", new) for who in ("mia", "jonas") * 3]
    answers = await asyncio.gather(*calls)
    codes = sorted(one.status_code for one in answers)
    assert codes[0] == 201
    assert set(codes[1:]) == {409}
    assert len([one async for one in world.db.scan(Listing)]) == 1
    await world.pin("mia", await world.room("mia"), externalId="7")  # another room may have it


async def test_a_deleted_listing_can_be_saved_again(world: World) -> None:
    room = await world.room("mia")
    first = await world.pin("mia", room, externalId="7")
    await world.do("mia", "DELETE", f"{room}/listings/{first}")
    assert await world.pin("mia", room, externalId="7") != first


async def test_looking_changes_no_version_and_shows_everybody_once(world: World) -> None:
    room = await world.room("mia", "jonas")
    path = f"{room}/listings/{await world.pin('mia', room)}"
    read = await world.do("mia", "GET", path)
    await world.do("jonas", "POST", f"{path}/seen")  # the first look makes it SEEN: an edit
    again = [world.do(who, "POST", f"{path}/seen") for who in ("jonas", "mia") * 3]
    await asyncio.gather(*again)
    found = await world.do("mia", "GET", path)
    assert sorted(found["seenBy"]) == ["jonas", "mia"]
    assert (found["status"], found["version"]) == ("SEEN", read["version"] + 1)


async def test_looking_does_not_move_a_listing_back(world: World) -> None:
    room = await world.room("mia", "jonas")
    path = f"{room}/listings/{await world.pin('mia', room)}"
    await world.do("mia", "PATCH", path, {"status": "VISIT_PLANNED"})
    seen = await world.do("jonas", "POST", f"{path}/seen")
    assert (seen["status"], seen["seenBy"]) == ("VISIT_PLANNED", ["jonas"])


async def test_of_two_edits_of_one_version_the_second_is_refused(world: World) -> None:
    room = await world.room("mia", "jonas")
    path = f"{room}/listings/{await world.pin('mia', room)}"
    first = await world.call("mia", "PATCH", path, {"title": "A"}, if_match='"1"')
    late = await world.call("jonas", "PATCH", path, {"title": "B"}, if_match='"1"')
    assert (first.status_code, late.status_code) == (200, 412)


async def test_criteria_said_at_once_are_all_kept_under_times_of_their_own(world: World) -> None:
    room = await world.room("mia", "jonas")
    await asyncio.gather(*(world.want("mia", room, price={"max": n + 1}) for n in range(8)))
    history = [one async for one in world.db.scan(UserCriteria)]
    assert len(history) == len({one.timestamp for one in history}) == 8
    [latest] = (await world.do("jonas", "GET", f"{room}/wishes"))["criteria"]
    assert (
        latest["timestamp"]
        == (await world.do("mia", "GET", f"{room}/criteria/mia"))["items"][0]["timestamp"]
    )


async def test_what_was_said_before_stays_and_the_latest_counts(world: World) -> None:
    room = await world.room("mia", "jonas")
    for price in (1, 2, 3):
        await world.want("mia", room, price={"max": price})
    page = await world.do("jonas", "GET", f"{room}/criteria/mia")
    assert [one["criteria"]["price"]["max"] for one in page["items"]] == [3, 2, 1]
    made = await world.do("mia", "POST", f"{room}/combined-criteria", {"combineMode": "all"})
    assert (made["combineMode"], made["criteria"]["price"]) == ("all", {"max": 3})


async def test_who_left_is_not_combined(world: World) -> None:
    room = await world.room("mia", "jonas")
    await world.want("mia", room, price={"max": 2000})
    await world.want("jonas", room, price={"max": 1000})
    await world.do("jonas", "DELETE", f"{room}/members/jonas")
    made = await world.do("mia", "POST", f"{room}/combined-criteria", {"combineMode": "strict"})
    assert (made["fromUserIds"], made["criteria"]["price"]["max"]) == (["mia"], 2000)
    assert (await world.call("jonas", "GET", f"{room}/wishes")).status_code == 403
    assert (await world.do("jonas", "GET", "/users/jonas/rooms"))["items"] == []


async def test_conflicts_are_named_and_one_voice_has_no_score(world: World) -> None:
    room = await world.room("mia", "jonas")
    await world.want("mia", room, location=["Bern"])
    alone = await world.call("mia", "POST", f"{room}/compatibility")
    assert (alone.status_code, alone.json()["code"]) == (409, "NOTHING_TO_COMPARE")
    await world.want("jonas", room, location=["Thun"])
    made = await world.do("mia", "POST", f"{room}/combined-criteria", {"combineMode": "strict"})
    assert made["criteria"] == {}
    [said, *_] = (await world.do("mia", "GET", f"{room}/activities"))["items"]
    assert said["text"] == "strict (nothing suits everybody: location)"


async def test_the_owner_stays(world: World) -> None:
    room = await world.room("mia", "jonas")
    answer = await world.call("mia", "DELETE", f"{room}/members/mia")
    assert (answer.status_code, answer.json()["code"]) == (409, "OWNER")


async def test_a_copilot_speaks_as_one_where_it_is_a_member(world: World) -> None:
    room = await world.room("mia", "pilot")
    said = await world.do("pilot:ai_copilot", "POST", f"{room}/messages", {"text": "Look here."})
    assert (said["senderType"], said["senderName"]) == ("ai_copilot", "Pilot")
    assert (await world.do("mia", "POST", f"{room}/messages", {"text": "Yes."}))[
        "senderType"
    ] == "user"


async def test_a_large_room_goes_with_everything(world: World, author: RoomAuthor) -> None:
    room = await world.room("mia", "jonas")
    for number in range(120):
        await world.do("mia", "POST", f"{room}/messages", {"text": str(number)})
    await world.do("mia", "DELETE", room)
    assert (await world.call("jonas", "POST", f"{room}/messages", {"text": "?"})).status_code == 403
    await world.settle()
    assert not any(room.rpartition("/")[2] in item["PK"] + item["SK"] for item in author.items())


async def test_a_repeated_request_has_one_effect(world: World) -> None:
    room = await world.room("mia")
    sent = {"criteria": {"price": {"max": 1}}}
    first = await world.call("mia", "POST", f"{room}/criteria", sent, idempotency_key="k")
    again = await world.call("mia", "POST", f"{room}/criteria", sent, idempotency_key="k")
    assert first.json() == again.json()
    assert len([one async for one in world.db.scan(UserCriteria)]) == 1


@pytest.mark.skipif(ADDRESS is not None, reason="other servers have no index that can be held")
async def test_with_indexes_that_show_nothing_members_act_and_strangers_are_refused() -> None:
    with server(index_lag="held") as address:
        async with opened(address, f"{new_ulid()}-") as world:
            room = await world.room("mia", "jonas")
            await world.room("sam")
            loft = await world.pin("mia", room, externalId="7")
            assert (await world.do("jonas", "GET", f"{room}/listings"))["items"]
            assert (await world.do("jonas", "GET", f"{room}/listings?status=UNSEEN"))["items"] == []
            again = {"sourceBrand": "homegate", "externalId": "7", "title": "Loft"}
            assert (await world.call("jonas", "POST", f"{room}/listings", again)).status_code == 409
            for method, path in (
                ("GET", f"{room}/listings"),
                ("DELETE", f"{room}/listings/{loft}"),
                ("DELETE", room),
            ):
                assert (await world.call("sam", method, path)).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/rooms", {"name": " ", "searchType": "rent"}, 422, "name"),
        ("POST", "/rooms", {"name": "Ours", "searchType": "lease"}, 422, "searchType"),
        ("POST", "{room}/members", {"userId": "nobody"}, 422, "nobody"),
        ("POST", "{room}/listings", {"title": "Flat"}, 422, "sourceBrand"),
        ("POST", "{room}/criteria", {"criteria": {"price": {"min": 3, "max": 2}}}, 422, "price"),
        ("POST", "{room}/criteria", {"criteria": {}, "weights": {"price": 1}}, 422, "price"),
        ("POST", "{room}/combined-criteria", {"combineMode": "best"}, 422, "combineMode"),
        ("POST", "{room}/messages", {"text": " "}, 422, "text"),
        ("GET", "{room}/listings/none", None, 404, "NOT_FOUND"),
    ],
)
async def test_bad_input_is_refused_and_says_where(
    world: World, author: RoomAuthor, method: str, path: str, body: Any, status: int, said: str
) -> None:
    room = await world.room("mia")
    before = author.items()
    answer = await world.call("mia", method, path.format(room=room), body)
    assert answer.status_code == status
    assert said in answer.text
    assert author.items() == before


async def test_members_hear_of_changes_and_strangers_nothing(world: World) -> None:
    room = await world.room("mia", "jonas")
    asked = "subscription ($id: String!) { roomChanged(roomId: $id) { kind } }"
    id = room.removeprefix("/rooms/")
    async with (
        served(world.service) as web,
        heard(web, "jonas", asked, id=id) as jonas,
        heard(web, "sam", asked, id=id) as sam,
    ):
        assert (await next_of(sam))["errors"][0]["extensions"]["code"] == "NOT_ALLOWED"
        await world.do("mia", "POST", f"{room}/messages", {"text": "Hi"})
        assert (await next_of(jonas))["data"] == {"roomChanged": {"kind": "Activity"}}
