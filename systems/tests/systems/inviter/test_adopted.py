"""A table that the author's code has filled, in the guide's layout, is taken over as it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.author import Item, by_key

from keyfold.maintain import repairing, verification
from keyfold.streams import AsyncConsumer

from .conftest import InviterAuthor, World

START = 4121494800000


def membership(group: str, name: str, user: str) -> Item:
    return {
        "PK": f"GROUP#{group}",
        "SK": f"USER#{user}",
        "type": "GroupMembership",
        "groupId": group,
        "userId": user,
        "groupName": name,
        "userName": user.title(),
        "gsi1pk": f"USER#{user}",
        "gsi1sk": f"GROUP#{group}",
    }


def pointer(holder: str, kind: str, **more: Any) -> Item:
    return {
        "PK": holder,
        "SK": "HANGOUT#h1",
        "type": kind,
        "hangoutId": "h1",
        "hostId": "ada",
        "title": "Run",
        "location": "Mill bridge",
        "startTimestamp": START,
        "gsi1pk": holder,
        "going": 0,
        "maybe": 0,
        "notGoing": 0,
        **more,
    }


ITEMS: list[Item] = [
    {"PK": "GROUP#g1", "SK": "METADATA", "type": "Group", "groupId": "g1", "name": "Runners"},
    membership("g1", "Runners", "ada"),
    membership("g1", "Runners", "ben"),
    {
        "PK": "EVENT#h1",
        "SK": "METADATA",
        "type": "Hangout",
        "hangoutId": "h1",
        "hostId": "ada",
        "title": "Run",
        "location": "Mill bridge",
        "startTimestamp": START,
        "associatedGroups": ["g1"],
        "invitedUsers": ["ada", "cleo"],
        "weather": "dry",  # nothing that we know of
    },
    pointer("GROUP#g1", "HangoutPointer", groupId="g1"),
    pointer("USER#ada", "UserHangoutPointer", userId="ada"),
    pointer("USER#cleo", "UserHangoutPointer", userId="cleo"),
]


@pytest.fixture
def old(author: InviterAuthor) -> list[Item]:
    """The author's table."""
    author.create(ITEMS)
    return ITEMS


@pytest.fixture
async def adopted(old: list[Item], world: World) -> World:
    """Taken over: the stream is read from now on, and the members are counted."""
    await AsyncConsumer(world.db).skip()
    found = (await world.db.run(verification(world.db.context))).drifts
    assert {drift.kind for drift in found} == {"counter"}
    await world.db.run(repairing(world.db.context, found))
    return world


async def test_nothing_is_to_be_repaired(adopted: World) -> None:
    assert await adopted.drifts() == []


async def test_no_key_is_rewritten_and_no_attribute_is_lost(
    old: list[Item], adopted: World, author: InviterAuthor
) -> None:
    now = by_key(author.items())
    for key, item in by_key(old).items():
        assert item.items() <= now[key].items()
    assert now["GROUP#g1", "METADATA"]["members"] == 2


async def test_every_read_finds_what_was_there(adopted: World) -> None:
    for path in ("/groups/g1/feed", "/groups/g1/upcoming", "/users/ben/hangouts"):
        assert await adopted.titles("ben", path) == ["Run"]
    assert await adopted.titles("cleo", "/users/cleo/hangouts") == ["Run"]
    assert (await adopted.do("cleo", "GET", "/hangouts/h1"))["location"] == "Mill bridge"
    [mine] = (await adopted.do("ben", "GET", "/users/ben/groups"))["items"]
    assert mine["groupName"] == "Runners"


async def test_a_change_reaches_old_pointers_and_keeps_what_we_do_not_know(
    adopted: World, author: InviterAuthor
) -> None:
    await adopted.do("ada", "PUT", "/hangouts/h1/title", {"title": "Long run"})
    await adopted.do("ben", "PUT", "/hangouts/h1/answer", {"answer": "going"})
    await adopted.settle()
    item = author.get("EVENT#h1", "METADATA")
    assert (item["title"], item["weather"], item["going"]) == ("Long run", "dry", 1)
    shown = [author.feed("g1")[0], author.get("USER#cleo", "HANGOUT#h1")]
    assert [(one["title"], one["going"]) for one in shown] == [("Long run", 1)] * 2


async def test_the_authors_code_goes_on_writing(adopted: World, author: InviterAuthor) -> None:
    author.table.put_item(Item=membership("g1", "Runners", "cleo"))
    await adopted.settle()
    assert await adopted.titles("cleo", "/groups/g1/feed") == ["Run"]
    assert (await adopted.do("cleo", "GET", "/groups/g1"))["members"] == 3
