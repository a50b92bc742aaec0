"""The service: idempotency, quests, chat, media, events, REST and GraphQL."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.systems.author import Author, server
from tests.systems.conftest import ADDRESS

from keyfold import new_ulid
from keyfold.review.check import check
from keyfold.streams import AsyncConsumer, Queue
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.media import MediaStore

from .conftest import World, opened


def test_the_design_check_has_nothing_to_report() -> None:
    assert check(design.schema).findings == ()


@pytest.fixture
async def goal(world: World) -> str:
    """A goal of Ada's, among three users."""
    await world.join("ada", "ben", "cyd")
    made: str = (await world.do("ada", "POST", "/goals", {"title": "Run"}))["goalId"]
    return made


async def task(world: World, goal: str, title: str = "Shoes") -> str:
    made: str = (await world.do("ada", "POST", f"/goals/{goal}/tasks", {"title": title}))["taskId"]
    return made


async def quest(world: World, **given: Any) -> dict[str, Any]:
    made: dict[str, Any] = await world.do("ada", "POST", "/quests", {"title": "Q", **given})
    return made


async def test_a_taken_nickname_is_refused_in_any_spelling(world: World) -> None:
    await world.join("ada")
    for field, value in (
        ("nickname", "ADA"),
        ("nickname", "a\u200bda"),
        ("email", "Ada@x.org"),
        ("email", "ada@\uff58.org"),
    ):
        profile = {"nickname": "dora", "email": "dora@x.org", "fullName": "Dora", field: value}
        answer = await world.call("dora", "POST", "/users", profile)
        assert (answer.status_code, answer.json()["code"]) == (409, "TAKEN"), field


async def test_a_repeated_request_has_one_effect(world: World, goal: str, author: Author) -> None:
    said = {"previewText": "Once."}
    first = await world.call("ada", "POST", "/activities", said, idempotency_key="k1")
    again = await world.call("ada", "POST", "/activities", said, idempotency_key="k1")
    other = await world.call(
        "ada", "POST", "/activities", {"previewText": "Twice."}, idempotency_key="k1"
    )
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (422, "REQUEST_REUSED")
    assert len(author.query(None, "ACTIVITY#ada")) == 1


async def test_counters_are_those_of_the_follows_there_are(world: World, goal: str) -> None:
    await world.do("ada", "POST", "/following/ben")
    assert (await world.call("ada", "POST", "/following/ben")).status_code == 409
    assert await world.do("ada", "GET", "/users/ben/counts") == {"followers": 1, "following": 0}
    await world.do("ada", "DELETE", "/following/ben")
    assert (await world.call("ada", "DELETE", "/following/ben")).status_code == 404
    assert await world.do("ada", "GET", "/users/ben/counts") == {"followers": 0, "following": 0}
    assert await world.drifts() == []


async def test_a_quest_is_linked_only_to_what_is_ones_own(world: World, goal: str) -> None:
    done = await task(world, goal)
    linked = {"title": "Q", "kind": "linked", "linkedTaskIds": [done]}
    assert (await world.call("ben", "POST", "/quests", linked)).status_code in (404, 412)
    foreign = {"title": "Q", "kind": "linked", "linkedGoalIds": [goal]}
    assert (await world.call("ben", "POST", "/quests", foreign)).status_code == 404
    nothing = await world.call("ada", "POST", "/quests", {"title": "Q", "kind": "linked"})
    assert (nothing.status_code, nothing.json()["errors"][0]["path"]) == (422, "linkedGoalIds")
    assert (await quest(world, kind="linked", linkedTaskIds=[done]))["linkedTaskIds"] == [done]


async def test_a_linked_quest_is_completed_when_all_is_done(world: World, goal: str) -> None:
    tasks = [await task(world, goal, title) for title in ("One", "Two")]
    made = await quest(world, kind="linked", linkedTaskIds=tasks)
    path = f"/quests/{made['questId']}/completion"
    await world.do("ada", "POST", f"/goals/{goal}/tasks/{tasks[0]}/completion")
    assert (await world.call("ada", "POST", path)).status_code >= 400
    await world.do("ada", "POST", f"/goals/{goal}/tasks/{tasks[1]}/completion")
    assert (await world.do("ada", "POST", path))["status"] == "completed"


@pytest.mark.parametrize("scope", ["any", "linked"])
async def test_a_counted_quest_counts_what_is_done_in_its_scope(
    world: World, goal: str, scope: str
) -> None:
    before = await task(world, goal)
    await world.do("ada", "POST", f"/goals/{goal}/tasks/{before}/completion")
    await asyncio.sleep(0.002)  # times are stored in milliseconds
    links = {"linkedGoalIds": [goal]} if scope == "linked" else {}
    made = await quest(world, kind="quantitative", targetCount=1, countScope=scope, **links)
    path = f"/quests/{made['questId']}/completion"
    early = await world.call("ada", "POST", path)
    assert (early.status_code, early.json()["detail"]) == (409, "0 of 1 tasks are done.")
    after = await task(world, goal)
    await world.do("ada", "POST", f"/goals/{goal}/tasks/{after}/completion")
    assert (await world.do("ada", "POST", path))["status"] == "completed"


async def test_a_quest_ends_once_and_an_administrator_deletes_it(world: World, goal: str) -> None:
    made = await quest(world, kind="quantitative", targetCount=1)
    path = f"/quests/{made['questId']}/cancellation"
    assert (await world.do("ada", "POST", path))["status"] == "cancelled"
    assert (await world.call("ada", "POST", path)).status_code >= 400
    await world.do("root", "DELETE", f"/users/ada/quests/{made['questId']}")
    assert (await world.do("ada", "GET", "/users/ada/quests"))["items"] == []


async def test_two_users_have_one_room(world: World, goal: str) -> None:
    rooms = [
        await world.do(who, "POST", "/rooms", {"members": [other]})
        for who, other in (("ada", "ben"), ("ben", "ada"), ("ada", "ben"))
    ]
    assert len({one["roomId"] for one in rooms}) == 1
    shared = await world.do("ada", "POST", "/rooms", {"members": ["ben", "cyd"]})
    assert shared["scope"] == "group"
    assert (await world.call("ada", "POST", "/rooms", {"members": ["ada"]})).status_code == 422
    listed = (await world.do("cyd", "GET", "/users/cyd/rooms"))["items"]
    assert [sorted(p["userId"] for p in one["people"]) for one in listed] == [["ada", "ben", "cyd"]]


async def test_a_message_may_be_for_some_hours(world: World, goal: str, author: Author) -> None:
    room = (await world.do("ada", "POST", "/rooms", {"members": ["ben"]}))["roomId"]
    await world.do("ada", "POST", f"/rooms/{room}/messages", {"text": "For good"})
    await world.do("ada", "POST", f"/rooms/{room}/messages", {"text": "Briefly", "hours": 1})
    found = author.query(None, f"ROOM#{room}", "MSG#")
    assert ["ttl" in one for one in found] == [False, True]
    shown = (await world.do("ben", "GET", f"/rooms/{room}/messages"))["items"]
    assert [(one["text"], one["userName"]) for one in shown] == [
        ("Briefly", "Ada"),
        ("For good", "Ada"),
    ]


class Signer:
    """Links that nobody opens."""

    def generate_presigned_url(self, method: str, *, Params: dict[str, Any], ExpiresIn: int) -> str:
        return f"https://{Params['Bucket']}.example/{Params['Key']}?{method}"


async def test_media_is_stored_by_key_and_linked_when_read(
    world: World, goal: str, author: Author
) -> None:
    asked = {"contentType": "image/png"}
    assert (await world.call("ada", "POST", "/media", asked)).json()["code"] == "NO_MEDIA"
    world.service.store = MediaStore("bucket", Signer())
    link = await world.do("ada", "POST", "/media", asked)
    assert link["url"] == f"https://bucket.example/{link['s3Key']}?put_object"
    media = {"s3Key": link["s3Key"], "contentType": "image/png", "width": 4, "height": 3}
    await world.do("ben", "POST", "/following/ada")
    await world.post("ada", "Look", media=media)
    [item] = author.query(None, "ACTIVITY#ada")
    assert item["media"] == media
    [entry] = (await world.do("ben", "GET", "/users/ben/feed"))["items"]
    assert entry["mediaUrl"] == f"https://bucket.example/{link['s3Key']}?get_object"
    stolen = await world.call("ben", "POST", "/activities", {"previewText": "Mine", "media": media})
    assert stolen.status_code == 422


async def test_what_happens_is_announced_once(world: World, goal: str) -> None:
    await world.settle()
    queue = Queue("events")
    await world.do("ada", "POST", "/following/ben")
    await world.post("ada", "Ran.")
    made = await quest(world, kind="quantitative", targetCount=1)
    await world.do("ada", "POST", f"/quests/{made['questId']}/cancellation")
    await world.do("ada", "DELETE", "/following/ben")
    await AsyncConsumer(world.db, sinks=[queue]).drain()
    told = sorted(event.name for event in await world.db.run(queue.messages(world.db.context)))
    wanted = ["ActivityPosted", "QuestCreated", "QuestEnded", "UserFollowed", "UserUnfollowed"]
    assert [one for one in told if one in wanted] == wanted


async def test_graphql_has_the_documents_mutations(world: World, goal: str) -> None:
    asked = 'mutation { followUser(followeeId: "ben") { followeeId } }'
    answer = await world.do("ada", "POST", "/graphql", {"query": asked})
    assert answer["data"] == {"followUser": {"followeeId": "ben"}}
    await world.post("ben", "Hello")
    asked = '{ feed(userId: "ada") { nodes { previewText actorName promoted } } }'
    [shown] = (await world.do("ada", "POST", "/graphql", {"query": asked}))["data"]["feed"]["nodes"]
    assert shown == {"previewText": "Hello", "actorName": "Ben", "promoted": False}
    names = {"followUser", "unfollowUser", "joinGroup", "leaveGroup", "postActivity"}
    names |= {"createQuest", "cancelQuest", "deleteQuest", "sendMessage"}
    assert names <= set(world.service.operations)


@pytest.mark.skipif(ADDRESS is not None, reason="only our indexes can be held")
async def test_with_indexes_that_show_nothing_members_act_and_strangers_are_refused() -> None:
    """Every rule reads an item by its key, and names are unique by claims."""
    with server(index_lag="held") as address:
        async with opened(address, f"{new_ulid()}-") as world:
            await world.join("ada", "ben", "cyd")
            group = (await world.do("ada", "POST", "/groups", {"name": "Runners"}))["groupId"]
            await world.do("ben", "POST", f"/groups/{group}/members")
            room = (await world.do("ada", "POST", "/rooms", {"members": ["ben"]}))["roomId"]
            await world.do("ben", "POST", f"/rooms/{room}/messages", {"text": "Hello"})
            await world.post("ada", "Sunday", actorId=group)
            assert len((await world.do("ben", "GET", f"/groups/{group}/members"))["items"]) == 2
            assert (await world.do("ben", "GET", f"/users/{group}/activities"))["items"]
            await world.do("ben", "POST", "/following/ada")
            await world.post("ada", "Ran")
            assert await world.feed("ben") == ["Ran"]  # its groups are found by the index
            taken = {"nickname": "ada", "email": "new@x.org", "fullName": "X"}
            assert (await world.call("dan", "POST", "/users", taken)).status_code == 409
            for method, path, body in (
                ("GET", f"/groups/{group}/members", None),
                ("GET", f"/users/{group}/activities", None),
                ("GET", f"/rooms/{room}/messages", None),
                ("POST", f"/rooms/{room}/messages", {"text": "Hi"}),
                ("POST", "/activities", {"previewText": "x", "actorId": group}),
            ):
                assert (await world.call("cyd", method, path, body)).status_code == 403
