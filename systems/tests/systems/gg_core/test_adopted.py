"""A table that the author's code has filled, in the document's layout, is taken over as it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.systems.author import Author, by_key

from keyfold.maintain import repairing, verification
from keyfold.streams import AsyncConsumer

from .conftest import World

AT = "2026-10-11T09:30:00.250Z"
LATER = (datetime.now(UTC) - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S.250Z")
"""Young enough for a feed."""


def user(id: str) -> dict[str, Any]:
    return {
        "PK": f"USER#{id}",
        "SK": f"PROFILE#{id}",
        "GSI1PK": f"USER#{id}",
        "GSI1SK": f"ENTITY#User#{AT}",
        "GSI2PK": f"NICK#{id}",
        "GSI2SK": f"PROFILE#{id}",
        "GSI3PK": f"EMAIL#{id}@x.org",
        "GSI3SK": f"PROFILE#{id}",
        "type": "User",
        "id": id,
        "nickname": id,
        "email": f"{id}@x.org",
        "fullName": id.title(),
        "language": "en",
        "tags": ["new", "new"],
        "tier": "free",
        "createdAt": AT,
        "updatedAt": AT,
        "shoeSize": 43,
    }


def counter(id: str, what: str, count: int) -> dict[str, Any]:
    """With the fields that the document names: no type, and no id beside the key."""
    return {"PK": f"USER#{id}", "SK": f"COUNTER#{what}", "count": count, "updatedAt": AT}


ITEMS: list[dict[str, Any]] = [
    user("ada"),
    user("ben"),
    {
        "PK": "USER#ada",
        "SK": "FOLLOWING#ben",
        "GSI1PK": "USER#ben",
        "GSI1SK": "FOLLOWER#ada",
        "type": "Follow",
        "followerId": "ada",
        "followeeId": "ben",
        "createdAt": AT,
    },
    counter("ben", "FOLLOWERS", 1),
    counter("ada", "FOLLOWING", 1),
    {
        "PK": "GROUP#g",
        "SK": "GROUP#g",
        "type": "Group",
        "groupId": "g",
        "name": "Runners",
        "description": "",
        "ownerId": "ben",
        "tags": [],
        "isPersistent": True,
        "createdAt": AT,
        "updatedAt": AT,
    },
    {
        "PK": "GROUP#g",
        "SK": "MEMBER#ben",
        "GSI1PK": "USER#ben",
        "GSI1SK": f"ENTITY#Group#{AT}#g",
        "type": "GroupMember",
        "groupId": "g",
        "userId": "ben",
        "role": "owner",
        "joinedAt": AT,
    },
    {
        "PK": "ACTIVITY#ben",
        "SK": f"TS#{LATER}#a1",
        "type": "Activity",
        "activityId": "a1",
        "actorId": "ben",
        "verb": "post",
        "objectType": "Post",
        "objectId": "p1",
        "previewText": "Ran.",
        "tags": ["b", "a"],
        "createdAt": LATER,
    },
    {
        "PK": "USER#ada",
        "SK": "QUEST#q",
        "GSI1PK": "USER#ada",
        "GSI1SK": f"ENTITY#Quest#{AT}",
        "type": "Quest",
        "id": "q",
        "userId": "ada",
        "title": "Three things",
        "difficulty": "easy",
        "rewardXp": 25,
        "status": "active",
        "tags": [],
        "kind": "quantitative",
        "targetCount": 3,
        "createdAt": AT,
        "updatedAt": AT,
    },
    {
        "PK": "ROOM#r",
        "SK": "ROOM#r",
        "type": "Room",
        "roomId": "r",
        "scope": "dm",
        "members": ["ada", "ben"],
        "createdAt": AT,
    },
    {
        "PK": "ROOM#r",
        "SK": f"MSG#{AT}#m",
        "type": "Message",
        "roomId": "r",
        "messageId": "m",
        "userId": "ben",
        "text": "Hello",
        "createdAt": AT,
    },
]


@pytest.fixture
def old(author: Author) -> list[dict[str, Any]]:
    """The author's table."""
    author.create_table(ITEMS)
    return ITEMS


@pytest.fixture
async def adopted(old: list[dict[str, Any]], world: World) -> World:
    """Taken over: the stream is read from now on, and the claims of unique names are written."""
    await AsyncConsumer(world.db).skip()
    found = (await world.db.run(verification(world.db.context))).drifts
    await world.db.run(repairing(world.db.context, found))
    return world


async def test_no_item_is_rewritten(
    old: list[dict[str, Any]], adopted: World, author: Author
) -> None:
    now = by_key(author.items())
    assert {key: now.get(key) for key, item in by_key(old).items() if item != now.get(key)} == {}


async def test_every_read_finds_what_was_there(adopted: World) -> None:
    assert await adopted.do("ada", "GET", "/users/ben/counts") == {"followers": 1, "following": 0}
    assert (await adopted.do("ada", "GET", "/nicknames/ben"))["tags"] == ["new", "new"]
    assert (await adopted.do("ada", "GET", "/users/ada/quests/q"))["rewardXp"] == 25
    assert [m["role"] for m in (await adopted.do("ben", "GET", "/groups/g/members"))["items"]] == [
        "owner"
    ]
    assert (await adopted.do("ada", "GET", "/rooms/r/messages"))["items"][0]["text"] == "Hello"
    assert await adopted.feed("ada") == ["Ran."]


async def test_it_goes_on(adopted: World, author: Author) -> None:
    await adopted.do("ada", "DELETE", "/following/ben")
    await adopted.do("ada", "PATCH", "/users/ada", {"fullName": "Ada L."})
    item = author.get("USER#ada", "PROFILE#ada")
    assert (item["fullName"], item["shoeSize"]) == ("Ada L.", 43)
    assert author.get("USER#ben", "COUNTER#FOLLOWERS")["count"] == 0
    taken = {"nickname": "ben", "email": "x@x.org", "fullName": "X"}
    assert (await adopted.call("cyd", "POST", "/users", taken)).status_code == 409
    await adopted.settle()
    assert await adopted.drifts() == []
