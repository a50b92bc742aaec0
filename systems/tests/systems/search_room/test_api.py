"""Search Room over real HTTP: several people at once, and input that cannot be taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from keyfold import AsyncDb
from keyfold_web import Identity
from keyfold.maintain import verification
from keyfold.streams import AsyncConsumer
from tests.systems.conftest import Recorder, Web, served

from .conftest import MIA, Home

LONG = "x" * 5000


@pytest.fixture
async def web(home: Home) -> AsyncIterator[Web]:
    async with served(home.service) as opened:
        yield opened


async def test_a_couple_finds_a_home(web: Web, db: AsyncDb, client: Recorder) -> None:
    mia, jonas = web["mia"], web["jonas"]
    made = await mia.post("/rooms", json={"name": "First home", "searchType": "rent"})
    assert made.status_code == 201
    room = f"/rooms/{made.json()['roomId']}"
    assert (await jonas.get(room)).status_code == 403
    refused = await jonas.post(f"{room}/members")
    assert (refused.status_code, refused.json()["code"]) == (403, "NOT_INVITED")
    asked = await mia.post(f"{room}/invitations", json={"userId": "jonas"})
    assert (asked.status_code, asked.json()["status"]) == (201, "pending")
    mine = (await jonas.get("/users/jonas/invitations")).json()["items"]
    assert [(one["roomName"], one["invitedBy"]) for one in mine] == [("First home", "mia")]

    # He accepts on two devices at once: he is a member once.
    joined = await asyncio.gather(*(jonas.post(f"{room}/members") for _ in range(2)))
    assert sorted(one.status_code for one in joined) == [201, 409]

    # Both save the same flat at once: it is there once.
    flat = {"sourceBrand": "homegate", "externalId": "42", "title": "Loft", "location": "Bern"}
    saved = await asyncio.gather(
        *(who.post(f"{room}/listings", json=flat) for who in (mia, jonas, mia, jonas))
    )
    assert sorted(one.status_code for one in saved) == [201, 409, 409, 409]
    assert {one.json().get("code") for one in saved} == {None, "DUPLICATE"}
    query = {"sourceBrand": "homegate", "externalId": "42"}
    found = await jonas.get(f"{room}/listings/by-external-id", params=query)
    listing = f"{room}/listings/{found.json()['listingId']}"

    # Both look at it at once, then one moves it on.
    seen = await asyncio.gather(mia.post(f"{listing}/seen"), jonas.post(f"{listing}/seen"))
    assert [one.status_code for one in seen] == [200, 200]
    now = await mia.get(listing)
    assert sorted(now.json()["seenBy"]) == ["jonas", "mia"]
    assert now.json()["status"] == "SEEN"
    changed = await mia.patch(
        listing, json={"status": "VISIT_PLANNED"}, headers={"if-match": now.headers["etag"]}
    )
    assert changed.status_code == 200
    stale = await jonas.patch(
        listing, json={"status": "REJECTED"}, headers={"if-match": now.headers["etag"]}
    )
    assert (stale.status_code, stale.json()["code"]) == (412, "VERSION_CONFLICT")
    planned = await jonas.get(f"{room}/listings", params={"status": "VISIT_PLANNED"})
    assert [one["title"] for one in planned.json()["items"]] == ["Loft"]

    # They say what they look for, and how it fits.
    wishes = {
        "mia": {"price": {"max": 2000}, "location": ["Bern"]},
        "jonas": {"price": {"max": 2400}},
    }
    said = await asyncio.gather(
        *(
            web[who].post(f"{room}/criteria", json={"criteria": one, "weights": {"price": 1}})
            for who, one in wishes.items()
        )
    )
    assert [one.status_code for one in said] == [201, 201]
    combined = await mia.post(f"{room}/combined-criteria", json={"mode": "strict"})
    assert combined.json()["criteria"] == {"location": ["Bern"], "price": {"max": 2000}}
    shown = (await jonas.get(f"{room}/combined-criteria")).json()
    assert shown["criteria"] == combined.json()["criteria"]
    assert shown["fromUserNames"] == ["Jonas", "Mia"]
    score = await jonas.post(f"{room}/compatibility")
    assert score.status_code == 201
    assert 0 <= score.json()["scorePercent"] <= 100
    assert sorted(score.json()["criteriaRefs"]) == sorted(x.json()["criteriaId"] for x in said)

    # Everybody talks at once; nothing is lost, and news are what came after.
    first = await mia.post(f"{room}/messages", json={"text": "Hello"})
    await asyncio.gather(
        *(
            web[who].post(f"{room}/messages", json={"text": f"{n}"})
            for n in range(10)
            for who in ("mia", "jonas")
        )
    )
    page = (await jonas.get(f"{room}/activities", params={"limit": 100})).json()
    assert len([one for one in page["items"] if one["type"] == "ChatMessage"]) == 21
    news = await jonas.get(f"{room}/activities", params={"since": "2031-04-30T00:00:00Z"})
    assert first.json()["text"] in [one["text"] for one in news.json()["items"]]

    # A new name reaches every list; then all of it goes.
    assert (await mia.patch(room, json={"name": "Found!"})).status_code == 200
    await AsyncConsumer(db).drain()
    names = [one["roomName"] for one in (await jonas.get("/users/jonas/rooms")).json()["items"]]
    assert "Found!" in names
    assert (await jonas.delete(room)).status_code == 403
    assert (await mia.delete(room)).status_code == 204
    assert (await mia.get(room)).status_code in (403, 404)
    await AsyncConsumer(db).drain()
    report = await db.run(verification(db.context))
    assert report.clean, report
    partition = f"ROOM#{made.json()['roomId']}"
    assert [one for one in await client.items() if one["PK"]["S"] == partition] == []


BAD: list[tuple[str, str, str, Any, int, str]] = [
    ("mia", "POST", "/rooms", {"name": "", "searchType": "rent"}, 422, "name"),
    ("mia", "POST", "/rooms", {"name": LONG, "searchType": "rent"}, 422, "name"),
    ("mia", "POST", "/rooms", {"name": "R", "searchType": "steal"}, 422, "searchType"),
    ("mia", "POST", "/rooms", {"name": "R"}, 422, "searchType"),
    ("mia", "POST", "/rooms", {"name": "R", "searchType": "rent", "x": 1}, 422, "x"),
    ("mia", "POST", "/rooms", {"name": "R", "searchType": "rent", "context": {"a": LONG}}, 422, ""),
    ("mia", "PATCH", "{room}", {"name": ""}, 422, "name"),
    ("mia", "PATCH", "{room}", {"name": None}, 422, ""),
    ("mia", "PATCH", "{room}", {"searchType": "steal"}, 422, "searchType"),
    ("mia", "PATCH", "{room}", {"context": {"a": [1]}}, 422, ""),
    ("jonas", "PATCH", "{room}", {"name": "Mine"}, 403, ""),
    ("sam", "GET", "{room}", None, 403, ""),
    ("", "GET", "{room}", None, 401, ""),
    ("mia", "POST", "{room}/invitations", {"userId": "jonas"}, 409, ""),
    ("mia", "POST", "{room}/invitations", {"userId": "ines"}, 409, ""),
    ("mia", "POST", "{room}/invitations", {"userId": "a#b"}, 422, ""),
    ("mia", "POST", "{room}/invitations", {"userId": ""}, 422, "userId"),
    ("mia", "POST", "{room}/invitations", {"userId": LONG}, 422, "userId"),
    ("mia", "POST", "{room}/invitations", {"userId": "sam", "role": "king"}, 422, "role"),
    ("jonas", "POST", "{room}/invitations", {"userId": "sam"}, 403, ""),
    ("jonas", "DELETE", "{room}/invitations/ines", None, 403, ""),
    ("ines", "DELETE", "{room}/invitations/ines", None, 403, ""),
    ("mia", "DELETE", "{room}/invitations/sam", None, 404, ""),
    ("sam", "GET", "{room}/invitations", None, 403, ""),
    ("sam", "GET", "/users/ines/invitations", None, 403, ""),
    ("sam", "DELETE", "/users/sam/invitations/{room_id}", None, 404, ""),
    ("sam", "DELETE", "/users/ines/invitations/{room_id}", None, 403, ""),
    ("sam", "POST", "{room}/members", None, 403, ""),
    ("sam", "POST", "/rooms/none/members", None, 403, ""),
    ("jonas", "POST", "{room}/members", None, 409, ""),
    ("mia", "DELETE", "{room}/members/sam", None, 404, ""),
    ("mia", "DELETE", "{room}/members/mia", None, 409, ""),
    ("mia", "PUT", "{room}/members/mia/role", {"role": "member"}, 409, ""),
    ("mia", "PUT", "{room}/members/jonas/role", {"role": "king"}, 422, "role"),
    ("mia", "PUT", "{room}/members/sam/role", {"role": "owner"}, 404, ""),
    ("mia", "POST", "{room}/listings", {"sourceBrand": "h", "title": LONG}, 422, "title"),
    ("mia", "POST", "{room}/listings", {"title": "Flat"}, 422, "sourceBrand"),
    (
        "mia",
        "POST",
        "{room}/listings",
        {"sourceBrand": "homegate", "title": "Again", "externalId": "7"},
        409,
        "",
    ),
    ("mia", "GET", "{room}/listings?status=LOST", None, 422, "status"),
    ("mia", "GET", "{room}/listings?limit=0", None, 422, "limit"),
    ("mia", "GET", "{room}/listings?cursor=nonsense", None, 400, ""),
    ("mia", "GET", "{room}/listings/none", None, 404, ""),
    ("mia", "PATCH", "{room}/listings/none", {"title": "T"}, 404, ""),
    ("mia", "PATCH", "{listing}", {"status": "LOST"}, 422, "status"),
    ("mia", "PATCH", "{listing}", {"status": "ACCEPTED"}, 409, ""),
    ("mia", "PATCH", "{listing}", {"title": None}, 422, ""),
    ("mia", "PATCH", "{listing}", {"link": "javascript:alert(1)"}, 422, "link"),
    ("mia", "PATCH", "{listing}", {"price": -1}, 422, ""),
    ("mia", "PUT", "{listing}/vote", {"vote": "maybe"}, 422, "vote"),
    ("mia", "GET", "{room}/listings?maxPrice=much", None, 422, ""),
    ("mia", "POST", "{room}/invitations", {"userId": "nobody"}, 404, ""),
    ("mia", "POST", "{room}/copilot-messages", {"text": "Hi"}, 403, ""),
    ("sam", "POST", "{room}/links/none/members", None, 404, ""),
    ("mia", "DELETE", "{room}/links/none", None, 404, ""),
    ("jonas", "POST", "{room}/links", None, 403, ""),
    ("mia", "PUT", "/users/jonas", {"name": "Me"}, 403, ""),
    ("mia", "PUT", "/users/mia", {"name": " "}, 422, "name"),
    ("mia", "GET", "/users/jonas/notifications", None, 403, ""),
    ("mia", "POST", "{room}/listings/none/seen", None, 404, ""),
    ("mia", "DELETE", "{room}/listings/none", None, 404, ""),
    ("sam", "DELETE", "{listing}", None, 403, ""),
    (
        "mia",
        "POST",
        "{room}/criteria",
        {"criteria": {"price": {"min": 3, "max": 2}}},
        422,
        "criteria",
    ),
    ("mia", "POST", "{room}/criteria", {"criteria": {"price": {"max": -1}}}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": {"price": {}}}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": {"pets": None}}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": {"near": [[1]]}}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": {"": True}}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": ["Bern"]}, 422, "criteria"),
    ("mia", "POST", "{room}/criteria", {"criteria": {}, "weights": {"luck": 1}}, 422, ""),
    ("mia", "POST", "{room}/criteria", {"criteria": {}, "weights": {"price": 2}}, 422, ""),
    ("mia", "POST", "{room}/criteria", {"criteria": {}, "source": "oracle"}, 422, "source"),
    ("mia", "POST", "{room}/combined-criteria", {"mode": "some"}, 422, "mode"),
    ("mia", "POST", "{room}/combined-criteria", {"mode": "all"}, 409, ""),
    ("mia", "POST", "{room}/compatibility", None, 409, ""),
    ("mia", "GET", "{room}/compatibility", None, 404, ""),
    ("mia", "POST", "{room}/messages", {"text": ""}, 422, "text"),
    ("mia", "POST", "{room}/messages", {"text": LONG}, 422, "text"),
    ("mia", "POST", "{room}/messages", {"text": 7}, 422, "text"),
    ("mia", "GET", "{room}/activities?since=yesterday", None, 422, "since"),
    ("mia", "GET", "/users/jonas/rooms", None, 403, ""),
]


async def test_bad_input_is_refused_with_what_to_do_and_changes_nothing(
    web: Web, home: Home, client: Recorder
) -> None:
    listing = await home.listing("7")
    await home.meet(Identity.of("sam"))
    await home.service.invite(home.room.room_id, "ines", MIA)
    room = f"/rooms/{home.room.room_id}"
    places = {
        "room": room,
        "room_id": home.room.room_id,
        "listing": f"{room}/listings/{listing.listing_id}",
    }
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
