"""The service: idempotency, paging, versions, lagging indexes, live updates, bad input."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.systems.author import server
from tests.systems.conftest import ADDRESS, served
from tests.systems.listener import heard, next_of

from keyfold import new_ulid
from keyfold_systems.inviter.entities import Hangout

from .conftest import InviterAuthor, World, at, opened


async def test_friends_plan_answer_and_see_the_counts(world: World) -> None:
    await world.join("ada", "ben", "cleo")
    group = await world.group("Runners", "ada", "ben")
    run = await world.plan("ada", "Run", associatedGroups=[group], invitedUsers=["cleo"])
    for who, answer in (("ada", "going"), ("ben", "going"), ("cleo", "maybe")):
        await world.do(who, "PUT", f"/hangouts/{run}/answer", {"answer": answer})
    await world.do("ben", "PUT", f"/hangouts/{run}/answer", {"answer": "not_going"})
    await world.settle()
    [card] = (await world.do("cleo", "GET", "/users/cleo/hangouts"))["items"]
    assert (card["going"], card["maybe"], card["notGoing"]) == (1, 1, 1)
    assert card["myAnswer"] == "maybe"
    said = (await world.do("cleo", "GET", f"/hangouts/{run}/answers"))["items"]
    assert {one["name"]: one["answer"] for one in said} == {
        "Ada": "going",
        "Ben": "not_going",
        "Cleo": "maybe",
    }
    guests = await world.do("ben", "GET", f"/hangouts/{run}/guests")
    assert guests["host"] == {"userId": "ada", "name": "Ada"}
    assert [one["name"] for one in (*guests["groups"], *guests["users"])] == ["Runners", "Cleo"]
    assert await world.drifts() == []


async def test_who_is_not_invited_any_more_loses_the_list_and_the_answer(world: World) -> None:
    await world.join("ada", "ben", "cleo")
    group = await world.group("Runners", "ada", "ben")
    run = await world.plan("ada", "Run", associatedGroups=[group], invitedUsers=["cleo"])
    for who in ("ben", "cleo"):
        await world.do(who, "PUT", f"/hangouts/{run}/answer", {"answer": "going"})
    await world.settle()
    await world.do("ada", "PUT", f"/hangouts/{run}/guests", {"invitedUsers": []})
    await world.settle()
    for who in ("ben", "cleo"):
        assert await world.titles(who, f"/users/{who}/hangouts") == []
        assert (await world.call(who, "GET", f"/hangouts/{run}")).status_code == 403
    found = await world.do("ada", "GET", f"/hangouts/{run}")
    assert (found["going"], found["associatedGroups"]) == (0, [])
    assert await world.titles("ada", "/users/ada/hangouts") == ["Run"]
    assert await world.drifts() == []


async def test_names_follow_in_the_memberships(world: World) -> None:
    await world.join("ada", "ben")
    group = await world.group("Runners", "ada", "ben")
    await world.do("ben", "PATCH", f"/groups/{group}", {"name": "Joggers"})
    await world.do("ada", "PUT", "/users/ada", {"name": "Ada Lang"})
    await world.settle()
    [mine] = (await world.do("ada", "GET", "/users/ada/groups"))["items"]
    assert (mine["groupName"], mine["userName"]) == ("Joggers", "Ada Lang")


async def test_a_hangout_has_as_many_groups_and_guests_as_it_needs(
    world: World, author: InviterAuthor
) -> None:
    """More pointers than one transaction holds: the stream writes what is left."""
    guests = [f"u{number:03d}" for number in range(120)]
    await world.join("ada", *guests)
    run = await world.plan("ada", "Big run", invitedUsers=guests)
    await world.settle()
    assert await world.titles("u119", "/users/u119/hangouts") == ["Big run"]
    await world.do("ada", "PUT", f"/hangouts/{run}/title", {"title": "Bigger run"})
    await world.settle()
    shown = {author.get(f"USER#{one}", f"HANGOUT#{run}")["title"] for one in guests}
    assert shown == {"Bigger run"}
    await world.do("ada", "DELETE", f"/hangouts/{run}")
    await world.settle()
    assert not any(item["SK"] == f"HANGOUT#{run}" for item in author.items())


async def test_a_long_list_has_one_cursor_and_each_hangout_once(world: World) -> None:
    await world.join("ada", "ben")
    groups = [await world.group(name, "ada", "ben") for name in "ABC"]
    for hour in range(9):
        await world.plan("ada", f"{hour}", hour, associatedGroups=groups[: hour % 3 + 1])
    found, cursor = list[str](), ""
    while True:
        page = await world.do("ben", "GET", f"/users/ben/hangouts?limit=4{cursor}")
        found += [one["title"] for one in page["items"]]
        if page["cursor"] is None:
            break
        cursor = f"&cursor={page['cursor']}"
    assert found == [str(hour) for hour in range(9)]


async def test_of_two_edits_of_one_version_the_second_is_refused(world: World) -> None:
    await world.join("ada")
    path = f"/hangouts/{await world.plan('ada', 'Run')}/title"
    first = await world.call("ada", "PUT", path, {"title": "One"}, if_match='"1"')
    late = await world.call("ada", "PUT", path, {"title": "Two"}, if_match='"1"')
    assert (first.status_code, late.status_code) == (200, 412)


async def test_a_repeated_request_has_one_effect(world: World) -> None:
    await world.join("ada")
    sent = {"title": "Run", "startTimestamp": at(1)}
    first = await world.call("ada", "POST", "/hangouts", sent, idempotency_key="k1")
    again = await world.call("ada", "POST", "/hangouts", sent, idempotency_key="k1")
    other = await world.call(
        "ada", "POST", "/hangouts", {**sent, "title": "Swim"}, idempotency_key="k1"
    )
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (422, "REQUEST_REUSED")
    assert await world.titles("ada", "/users/ada/hangouts") == ["Run"]


async def test_joining_at_once_makes_one_member(world: World) -> None:
    await world.join("ada", "ben")
    group = await world.group("Runners", "ada")
    path = f"/groups/{group}/members"
    answers = await asyncio.gather(*(world.call("ben", "POST", path) for _ in range(5)))
    codes = sorted(one.status_code for one in answers)
    assert codes[0] == 201
    assert set(codes[1:]) == {409}
    await world.settle()
    assert (await world.do("ben", "GET", f"/groups/{group}"))["members"] == 2


async def test_an_answer_and_a_deletion_at_once_leave_nothing(
    world: World, author: InviterAuthor
) -> None:
    await world.join("ada", "ben")
    for _ in range(5):
        run = await world.plan("ada", "Run", invitedUsers=["ben"])
        await asyncio.gather(
            world.call("ben", "PUT", f"/hangouts/{run}/answer", {"answer": "going"}),
            world.call("ada", "DELETE", f"/hangouts/{run}"),
        )
    await world.settle()
    assert not any(item["PK"].startswith("EVENT#") for item in author.items())


@pytest.mark.skipif(ADDRESS is not None, reason="other servers have no index that can be held")
async def test_with_an_index_that_shows_nothing_members_act_and_strangers_are_refused() -> None:
    """Every rule reads the membership or the hangout itself."""
    with server(index_lag="held") as address:
        async with opened(address, f"{new_ulid()}-") as world:
            await world.join("ada", "ben", "dora")
            group = await world.group("Runners", "ada", "ben")
            run = await world.plan("ada", "Run", associatedGroups=[group])
            assert await world.titles("ben", f"/groups/{group}/feed") == ["Run"]
            await world.do("ben", "PUT", f"/hangouts/{run}/answer", {"answer": "going"})
            assert await world.titles("ben", "/users/ben/hangouts") == []  # its index is behind
            for method, path in (
                ("GET", f"/groups/{group}/feed"),
                ("GET", f"/hangouts/{run}"),
                ("PUT", f"/hangouts/{run}/answer"),
                ("DELETE", f"/hangouts/{run}"),
                ("DELETE", f"/groups/{group}/members/me"),
            ):
                body = {"answer": "going"} if method == "PUT" else None
                assert (await world.call("dora", method, path, body)).status_code == 403
            assert await world.db.find(Hangout.key(hangout_id=run))


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("POST", "/hangouts", {"title": " ", "startTimestamp": at(1)}, 422, "title"),
        ("POST", "/hangouts", {"title": "Run"}, 422, "startTimestamp"),
        (
            "POST",
            "/hangouts",
            {"title": "Run", "startTimestamp": at(2), "endTimestamp": at(1)},
            422,
            "endTimestamp",
        ),
        (
            "POST",
            "/hangouts",
            {"title": "Run", "startTimestamp": at(1), "invitedUsers": ["nobody"]},
            422,
            "invitedUsers",
        ),
        ("PUT", "/users/ada", {"name": ""}, 422, "name"),
        ("GET", "/groups/none", None, 404, "none"),
        ("POST", "/groups/none/members", None, 404, "none"),
        ("GET", "/users/nobody", None, 404, "nobody"),
    ],
)
async def test_bad_input_is_refused_and_says_where(
    world: World, author: InviterAuthor, method: str, path: str, body: Any, status: int, said: str
) -> None:
    await world.join("ada")
    before = author.items()
    answer = await world.call("ada", method, path, body)
    assert answer.status_code == status
    assert said in answer.text
    assert author.items() == before


async def test_members_and_guests_hear_of_changes_and_strangers_nothing(world: World) -> None:
    await world.join("ada", "ben", "dora")
    group = await world.group("Runners", "ada", "ben")
    feed = "subscription ($id: String!) { groupChanged(groupId: $id) { groupId } }"
    async with (
        served(world.service) as web,
        heard(web, "ben", feed, id=group) as ben,
        heard(web, "dora", feed, id=group) as dora,
    ):
        assert (await next_of(dora))["errors"][0]["extensions"]["code"] == "NOT_ALLOWED"
        await world.plan("ada", "Run", associatedGroups=[group])
        assert (await next_of(ben))["data"] == {"groupChanged": {"groupId": group}}
