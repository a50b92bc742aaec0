"""A table of the document's migration notes, filled by boto3, becomes this design's as it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import boto3
import pytest
from tests.systems.author import KEYS, Item, by_key

from keyfold.errors import MigrationError
from keyfold.migrations import Migrator, backend_of
from keyfold.streams import AsyncConsumer
from keyfold_engine.clients import connect
from keyfold_systems.search_room.migration import migration

from .conftest import RoomAuthor, World, opened

AT = "2025-01-02T03:04:05.678Z"


def item(pk: str, sk: str, kind: str, **attributes: Any) -> Item:
    return {"PK": pk, "SK": sk, "entityType": kind, **attributes}


def listing(number: int, **more: Any) -> Item:
    own: dict[str, Any] = {"listingId": f"l{number}"}
    own |= {"roomId": "r1", "sourceBrand": "homegate", "addedAt": AT}
    own |= {"title": f"Flat {number}", "location": "Bern", "status": "SEEN", "seenBy": ["mia"]}
    if number % 2:
        own["externalId"] = f"x{number}"
    return item("ROOM#r1", f"LISTING#l{number}", "Listing", **own, **more)


MEMBERS = (("mia", "owner"), ("jonas", "member"))
ITEMS: list[Item] = [
    item(
        *("ROOM#r1", "ROOM", "Room"),
        roomId="r1",
        name="Ours",
        createdByUserId="mia",
        searchType="rent",
        createdAt=AT,
        context={"description": "Two of us", "familySize": 2},
    ),
    *(
        item(
            *("ROOM#r1", f"MEMBER#{user}", "Member"),
            roomId="r1",
            userId=user,
            role=role,
            joinedAt=AT,
        )
        for user, role in MEMBERS
    ),
    *(
        item(
            *(f"USER#{user}", "ROOM#r1", "UserRoom"),
            roomId="r1",
            userId=user,
            role=role,
            joinedAt=AT,
        )
        for user, role in MEMBERS
    ),
    *(listing(number, favourite=True) for number in range(30)),
    item(
        *("ROOM#r1", f"CRITERIA#mia#{AT}", "UserCriteria"),
        roomId="r1",
        userId="mia",
        timestamp=AT,
        source="ai_proposed",
        criteria={"price": {"max": 2500}, "location": ["Bern"], "view": {"lake": {"near": True}}},
        weights={"price": 1},
    ),
    item(
        *("ROOM#r1", f"ACTIVITY#{AT}#a1", "Activity"),
        roomId="r1",
        activityId="a1",
        type="ChatMessage",
        createdAt=AT,
        senderType="user",
        senderId="mia",
        text="Hello",
        ttl=4102444800,
    ),
]


@pytest.fixture
def prefix(address: str) -> str:
    """None: a migration names the tables of its design."""
    tables = boto3.resource("dynamodb", endpoint_url=address, **KEYS).tables
    for one in tables.all():
        one.delete()
    return ""


@pytest.fixture
def old(author: RoomAuthor) -> list[Item]:
    author.create(ITEMS)
    return ITEMS


@pytest.fixture
async def adopted(address: str, prefix: str, old: list[Item]) -> AsyncIterator[World]:
    backend = backend_of(connect(address))
    Migrator(migration, backend, without_routers=True).apply("contract")
    async with opened(address, prefix, create_tables=False) as world:
        await AsyncConsumer(world.db).drain()
        yield world


async def test_index_attributes_are_filled_and_nothing_else_changes(
    old: list[Item], adopted: World, author: RoomAuthor
) -> None:
    now = by_key(author.items())
    for key, before in by_key(old).items():
        added = {n: v for n, v in now[key].items() if before.get(n) != v}
        if before["entityType"] != "Listing":
            assert added == {}, key
            continue
        external = before.get("externalId")
        first = {"GSI1PK": f"SOURCE#homegate#{external}", "GSI1SK": "ROOM#r1"} if external else {}
        status = f"STATUS#SEEN#{before['listingId']}"
        assert added == {**first, "GSI2PK": "ROOM#r1", "GSI2SK": status}


async def test_every_read_finds_what_was_there(adopted: World, author: RoomAuthor) -> None:
    assert len(author.by_status("r1", "SEEN")) == 30
    assert author.by_external_id("homegate", "x7", "r1")[0]["title"] == "Flat 7"
    [room] = (await adopted.do("jonas", "GET", "/users/jonas/rooms"))["items"]
    assert (room["name"], room["role"]) == ("Ours", "member")
    seen = await adopted.do("mia", "GET", "/rooms/r1/listings?status=SEEN&limit=100")
    assert len(seen["items"]) == 30
    wishes = await adopted.do("mia", "GET", "/rooms/r1/wishes")
    assert wishes["criteria"][0]["criteria"]["view"] == {"lake": {"near": True}}
    said = await adopted.do("mia", "GET", "/rooms/r1/activities")
    assert [one["text"] for one in said["items"]] == ["Hello"]


async def test_an_edit_keeps_what_we_do_not_know(adopted: World, author: RoomAuthor) -> None:
    await adopted.do("mia", "PATCH", "/rooms/r1/listings/l3", {"status": "APPLIED"})
    stored = author.get("ROOM#r1", "LISTING#l3")
    assert (stored["favourite"], stored["seenBy"]) == (True, ["mia"])
    assert author.by_status("r1", "APPLIED") == [stored]


async def test_a_listing_that_was_there_is_a_duplicate(adopted: World) -> None:
    again = {"sourceBrand": "homegate", "externalId": "x7", "title": "Again"}
    answer = await adopted.call("mia", "POST", "/rooms/r1/listings", again)
    assert (answer.status_code, answer.json()["code"]) == (409, "DUPLICATE")


async def test_an_old_room_goes_with_everything_in_it(adopted: World, author: RoomAuthor) -> None:
    await adopted.do("mia", "DELETE", "/rooms/r1")
    await adopted.settle()
    left = {one["entityType"] for one in author.items() if "r1" in f"{one['PK']}{one['SK']}"}
    assert left <= {"Once"}


async def test_the_authors_code_goes_on_writing(adopted: World, author: RoomAuthor) -> None:
    keys = {"GSI2PK": "ROOM#r1", "GSI2SK": "STATUS#UNSEEN#l99"}
    new = listing(99) | keys | {"status": "UNSEEN", "seenBy": []}
    author.table.put_item(Item=new)
    await adopted.do("jonas", "POST", "/rooms/r1/listings/l99/seen")
    stored = author.get("ROOM#r1", "LISTING#l99")
    assert (stored["seenBy"], stored["GSI2SK"]) == (["jonas"], "STATUS#SEEN#l99")


async def test_duplicates_of_before_are_named_and_nothing_is_lost(
    address: str, prefix: str, author: RoomAuthor
) -> None:
    author.create([*ITEMS, listing(31) | {"externalId": "x7"}])
    backend = backend_of(connect(address))
    with pytest.raises(MigrationError, match="x7"):
        Migrator(migration, backend, without_routers=True).apply("contract")
    assert len(author.begins("ROOM#r1", "LISTING#")) == 31


async def test_the_way_back_leaves_the_old_table(
    address: str, prefix: str, old: list[Item], author: RoomAuthor
) -> None:
    migrator = Migrator(migration, backend_of(connect(address)), without_routers=True)
    migrator.apply("verify")
    migrator.rollback()
    kept = by_key([one for one in author.items() if "#" in one["PK"] and "entityType" in one])
    assert {key: kept[key] for key in by_key(old)} == by_key(old)
