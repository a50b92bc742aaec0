"""Inviter over real HTTP: several people at once, and input that cannot be taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from tests.systems.conftest import Recorder, Web, served

from .conftest import NOW, Town

LONG = "x" * 5000


def at(hours: float) -> str:
    return (NOW + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


@pytest.fixture
async def web(town: Town) -> AsyncIterator[Web]:
    async with served(town.service) as opened:
        yield opened


async def test_friends_meet(web: Web, db: AsyncDb, client: Recorder) -> None:
    people = ("ada", "ben", "cleo", "dan")
    names = await asyncio.gather(
        *(web[one].put(f"/users/{one}", json={"name": one.title()}) for one in people)
    )
    assert [one.status_code for one in names] == [200] * 4
    ada, ben, cleo, dan = (web[one] for one in people)
    made = await ada.post("/groups", json={"name": "Runners"})
    assert (made.status_code, made.json()["members"]) == (201, 1)
    group = f"/groups/{made.json()['groupId']}"

    # Everybody joins at once, some of them twice: each is a member once.
    joined = await asyncio.gather(*(one.post(f"{group}/members") for one in (ben, cleo, ben, cleo)))
    assert sorted(one.status_code for one in joined) == [201, 201, 409, 409]
    assert (await ada.get(group)).json()["members"] == 3

    # A hangout for the group and for Dan, who is in no group.
    new = {
        "title": "Run",
        "place": "Lake",
        "startsAt": at(2),
        "endsAt": at(3),
        "groupIds": [made.json()["groupId"]],
        "userIds": ["dan"],
    }
    hosted = await ada.post("/hangouts", json=new)
    assert hosted.status_code == 201
    hangout = f"/hangouts/{hosted.json()['hangoutId']}"

    # All answer at once, and change their minds; the counts on every list are right.
    for answer in ("maybe", "going"):
        given = await asyncio.gather(
            *(one.put(f"{hangout}/response", json={"answer": answer}) for one in (ben, cleo, dan))
        )
        assert [one.status_code for one in given] == [200] * 3
    await AsyncConsumer(db).drain()
    feed = (await ben.get(f"{group}/feed")).json()["items"]
    mine = (await dan.get("/users/dan/hangouts")).json()["items"]
    assert [one["myAnswer"] for one in (*feed, *mine)] == ["going", "going"]
    page = (await cleo.get(hangout)).json()
    assert [(x["going"], x["maybe"]) for x in (*feed, *mine, page)] == [(3, 0)] * 3

    # Two devices of the host edit at once: one of them is told.
    version = (await ada.get(hangout)).headers["etag"]
    edits = await asyncio.gather(
        *(
            ada.patch(hangout, json={"title": title}, headers={"if-match": version})
            for title in ("Long run", "Short run")
        )
    )
    assert sorted(one.status_code for one in edits) == [200, 412]
    title = next(one.json()["title"] for one in edits if one.status_code == 200)
    for who, path in (
        (ben, f"{group}/feed"),
        (dan, "/users/dan/hangouts"),
        (ben, f"{group}/upcoming"),
        (cleo, "/users/cleo/hangouts"),
    ):
        assert [one["title"] for one in (await who.get(path)).json()["items"]] == [title]

    # Renames reach the members' lists.
    await asyncio.gather(
        ada.patch(group, json={"name": "Sprinters"}), ben.put("/users/ben", json={"name": "Benno"})
    )
    await AsyncConsumer(db).drain()
    members = (await cleo.get(f"{group}/members")).json()["items"]
    assert {one["userName"] for one in members} == {"Ada", "Benno", "Cleo"}
    groups = (await cleo.get("/users/cleo/groups")).json()["items"]
    assert [one["groupName"] for one in groups] == ["Sprinters"]

    # In the end everybody leaves, and nothing is left.
    assert (await ada.delete("/users/ada")).status_code == 409
    assert (await ada.delete(group)).status_code == 204
    gone = await asyncio.gather(*(web[one].delete(f"/users/{one}") for one in people))
    assert [one.status_code for one in gone] == [204] * 4
    await AsyncConsumer(db).drain()
    report = await db.run(verification(db.context))
    assert report.clean, report
    assert await client.items() == []


HANGOUT: dict[str, Any] = {"title": "Run", "startsAt": at(1), "endsAt": at(2)}
BAD: list[tuple[str, str, str, Any, int, str]] = [
    ("", "GET", "/users/ada", None, 401, ""),
    ("ada", "PUT", "/users/ada", {"name": ""}, 422, "name"),
    ("ada", "PUT", "/users/ada", {"name": LONG}, 422, "name"),
    ("ada", "PUT", "/users/ada", {}, 422, "name"),
    ("ada", "PUT", "/users/ben", {"name": "Mine"}, 403, ""),
    ("ada", "GET", "/users/nobody", None, 404, ""),
    ("ada", "DELETE", "/users/ada", None, 409, ""),
    ("nobody", "POST", "/groups", {"name": "G"}, 404, ""),
    ("ada", "POST", "/groups", {"name": LONG}, 422, "name"),
    ("ben", "PATCH", "{group}", {"name": "Mine"}, 403, ""),
    ("ben", "DELETE", "{group}", None, 403, ""),
    ("ben", "POST", "{group}/members", None, 409, ""),
    ("cleo", "POST", "/groups/none/members", None, 404, ""),
    ("nobody", "POST", "{group}/members", None, 404, ""),
    ("ada", "DELETE", "{group}/members/ada", None, 409, ""),
    ("cleo", "DELETE", "{group}/members/cleo", None, 404, ""),
    ("cleo", "DELETE", "{group}/members/ben", None, 403, ""),
    ("ada", "DELETE", "{group}/members/cleo", None, 404, ""),
    ("ada", "PUT", "{group}/owner", {"userId": "cleo"}, 422, "userId"),
    ("ben", "PUT", "{group}/owner", {"userId": "ben"}, 403, ""),
    ("ben", "PUT", "{group}/privacy", {"private": True}, 403, ""),
    ("ben", "POST", "{group}/invitations", {"userId": "nobody"}, 422, "userId"),
    ("ben", "POST", "{group}/invitations", {"userId": "ada"}, 409, ""),
    ("cleo", "POST", "{group}/invitations", {"userId": "cleo"}, 403, ""),
    ("cleo", "DELETE", "{group}/invitations/cleo", None, 404, ""),
    ("ada", "GET", "/people?name=%20", None, 422, "name"),
    ("ada", "GET", "/people", None, 422, "name"),
    (
        "ada",
        "POST",
        "/users/ada/notifications/read",
        {"notificationIds": []},
        422,
        "notificationIds",
    ),
    ("ben", "GET", "/users/ada/notifications", None, 403, ""),
    ("cleo", "GET", "{group}/feed", None, 403, ""),
    ("ben", "GET", "{group}/feed?limit=0", None, 422, "limit"),
    ("ben", "GET", "{group}/feed?cursor=nonsense", None, 400, ""),
    ("ben", "GET", "/users/ada/hangouts", None, 403, ""),
    ("ada", "POST", "/hangouts", {**HANGOUT, "title": ""}, 422, "title"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "description": LONG}, 422, "description"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "startsAt": "soon"}, 422, "startsAt"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "startsAt": "2031-08-09T12:00:00"}, 422, "startsAt"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "endsAt": at(0)}, 422, "endsAt"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "endsAt": at(24 * 15)}, 422, "endsAt"),
    ("ada", "POST", "/hangouts", {**HANGOUT, "startsAt": at(-30)}, 422, "startsAt"),
    (
        "ada",
        "POST",
        "/hangouts",
        {**HANGOUT, "startsAt": at(-30), "endsAt": at(-28)},
        422,
        "startsAt",
    ),
    ("ada", "POST", "/hangouts", {**HANGOUT, "userIds": ["nobody"]}, 422, "userIds"),
    ("cleo", "POST", "/hangouts", {**HANGOUT, "groupIds": ["none"]}, 422, "groupIds"),
    (
        "ada",
        "POST",
        "/hangouts",
        {**HANGOUT, "userIds": [str(n) for n in range(31)]},
        422,
        "userIds",
    ),
    ("ada", "POST", "/hangouts", {**HANGOUT, "going": 7}, 422, "going"),
    ("nobody", "POST", "/hangouts", HANGOUT, 404, ""),
    ("cleo", "GET", "{hangout}", None, 403, ""),
    ("ada", "GET", "/hangouts/none", None, 403, ""),
    ("ben", "PATCH", "{hangout}", {"title": "Mine"}, 403, ""),
    ("ada", "PATCH", "{hangout}", {"endsAt": at(0)}, 422, "endsAt"),
    ("ada", "PATCH", "{hangout}", {"startsAt": at(-30)}, 422, "startsAt"),
    ("ada", "PATCH", "{hangout}", {"title": None}, 422, "title"),
    ("ada", "PATCH", "{hangout}", {"hostId": "ben"}, 422, "hostId"),
    ("ada", "POST", "{hangout}/withdrawals", {"userIds": ["ada"]}, 422, "userIds"),
    ("ben", "DELETE", "{hangout}", None, 403, ""),
    ("ada", "POST", "{hangout}/guests", {"userIds": ["nobody"]}, 422, "userIds"),
    ("ada", "POST", "{hangout}/guests", {"groupIds": ["none"]}, 422, "groupIds"),
    ("ben", "POST", "{hangout}/guests", {"userIds": ["cleo"]}, 403, ""),
    ("cleo", "PUT", "{hangout}/response", {"answer": "going"}, 403, ""),
    ("ben", "PUT", "{hangout}/response", {"answer": "perhaps"}, 422, "answer"),
]


async def test_bad_input_is_refused_with_what_to_do_and_changes_nothing(
    web: Web, town: Town, client: Recorder
) -> None:
    group = await town.settle()
    hangout = await town.hangout(group)
    places = {"group": f"/groups/{group.group_id}", "hangout": f"/hangouts/{hangout.hangout_id}"}
    before = await client.items()
    for who, method, path, body, status, field in BAD:
        sent = {"json": body} if body is not None else {}
        answer = await web[who].request(method, path.format(**places), **sent)
        case = (who, method, path, answer.text)
        assert answer.status_code == status, case
        problem = answer.json()
        assert problem["detail"], case
        assert problem["code"], case
        if field:
            assert field in [one["path"] for one in problem["errors"]], case
    assert await client.items() == before


async def test_what_is_not_there_is_named_as_the_caller_named_it(web: Web) -> None:
    answer = await web["ada"].get("/users/nobody")
    assert (answer.status_code, answer.json()["detail"]) == (404, 'User "nobody" does not exist.')
