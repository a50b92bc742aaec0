"""The document, statement by statement, through the author's eyes: raw boto3 on our table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from keyfold.review.check import check
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import (
    ACTIVITY_DAYS,
    Activity,
    CombinedCriteria,
    Compatibility,
    Listing,
    Member,
    Room,
    UserCriteria,
    UserRoom,
)

from .conftest import RoomAuthor, World

DOCUMENT = {
    "Room": {"roomId", "name", "createdByUserId", "createdAt", "searchType", "context"},
    "Member": {"roomId", "userId", "role", "joinedAt"},
    "UserRoom": {"userId", "roomId", "role", "joinedAt"},
    "Listing": {
        *("listingId", "roomId", "sourceBrand", "externalId", "title", "location", "status"),
        *("seenBy", "addedAt"),
    },
    "UserCriteria": {"roomId", "userId", "timestamp", "criteria", "weights", "source"},
    "CombinedCriteria": {
        *("roomId", "timestamp", "criteria", "weights", "fromUserIds", "combineMode"),
    },
    "Activity": {"roomId", "activityId", "type", "createdAt", "senderType", "senderId", "ttl"},
    "Compatibility": {
        *("roomId", "timestamp", "scorePercent", "level", "comment", "criteriaRefs"),
    },
}
"""The document's attributes, as they are stored."""


@dataclass(frozen=True)
class Life:
    """Mia and Jonas look for a flat: two listings, criteria, a score, words."""

    room: str
    loft: str
    attic: str

    @property
    def pk(self) -> str:
        return f"ROOM#{self.room}"


@pytest.fixture
async def life(world: World) -> Life:
    room = await world.room("mia", "jonas")
    loft = await world.pin("mia", room, "Loft", externalId="x#1", location="Bern")
    attic = await world.pin("jonas", room, "Attic")
    await world.do("jonas", "POST", f"{room}/listings/{loft}/seen")
    await world.do("mia", "PATCH", f"{room}/listings/{attic}", {"status": "VISIT_PLANNED"})
    await world.want("mia", room, price={"max": 2500}, location=["Bern"])
    await world.want("mia", room, price={"max": 2400}, location=["Bern"])
    await world.want("jonas", room, price={"max": 2000}, pets=True)
    await world.do("mia", "POST", f"{room}/combined-criteria", {"combineMode": "strict"})
    await world.do("mia", "POST", f"{room}/compatibility")
    await world.do("mia", "POST", f"{room}/messages", {"text": "Saturday?"})
    await world.settle()
    return Life(room.removeprefix("/rooms/"), loft, attic)


class TestItems:
    async def test_every_attribute_of_the_document_is_stored(
        self, life: Life, author: RoomAuthor
    ) -> None:
        for kind, wanted in DOCUMENT.items():
            items = [item for item in author.items() if item["entityType"] == kind]
            assert items, kind
            assert wanted <= set().union(*(item.keys() for item in items)), kind

    async def test_the_helpers_of_the_document_have_their_counterparts(
        self, life: Life, author: RoomAuthor
    ) -> None:
        """`keys.x(...)` is `X.key(...)`; each builds the key under which the item lies."""
        at = datetime(2031, 1, 2, 3, 4, 5, 678000, UTC)
        made = [
            Room.key(room_id="r"),
            Member.key(room_id="r", user_id="u"),
            UserRoom.key(user_id="u", room_id="r"),
            Listing.key(room_id="r", listing_id="l"),
            UserCriteria.key(room_id="r", user_id="u", timestamp=at),
            CombinedCriteria.key(room_id="r", timestamp=at),
            Activity.key(room_id="r", created_at=at, activity_id="a"),
            Compatibility.key(room_id="r", timestamp=at),
        ]
        stamp = "2031-01-02T03:04:05.678Z"
        assert [(one.wire()["PK"]["S"], one.wire()["SK"]["S"]) for one in made] == [
            ("ROOM#r", "ROOM"),
            ("ROOM#r", "MEMBER#u"),
            ("USER#u", "ROOM#r"),
            ("ROOM#r", "LISTING#l"),
            ("ROOM#r", f"CRITERIA#u#{stamp}"),
            ("ROOM#r", f"CRITERIA_COMBINED#{stamp}"),
            ("ROOM#r", f"ACTIVITY#{stamp}#a"),
            ("ROOM#r", f"COMPATIBILITY#{stamp}"),
        ]

    async def test_who_has_seen_a_listing_is_an_array(self, life: Life, author: RoomAuthor) -> None:
        item = author.get(life.pk, f"LISTING#{life.loft}")
        assert (item["seenBy"], item["status"]) == (["jonas"], "SEEN")

    async def test_criteria_and_weights_are_objects(self, life: Life, author: RoomAuthor) -> None:
        item = author.latest(life.pk, "CRITERIA#mia#")
        assert item["criteria"] == {"price": {"max": 2400}, "location": ["Bern"]}
        assert (item["source"], item["weights"]) == ("manual", {})

    async def test_what_we_add_is_in_no_partition_that_the_document_queries(
        self, life: Life, author: RoomAuthor
    ) -> None:
        ours = [item for item in author.items() if item["entityType"] not in DOCUMENT]
        assert not any("GSI1PK" in item or "GSI2PK" in item for item in ours)
        assert not any(item["PK"].startswith("ROOM#") for item in ours)
        profiles = {item["SK"] for item in ours if item["PK"].startswith("USER#")}
        assert profiles == {"PROFILE"}  # and the document asks for ROOM# there


class TestRoomOperations:
    async def test_get_room_by_id(self, life: Life, author: RoomAuthor) -> None:
        assert author.get(life.pk, "ROOM")["name"] == "Ours"

    async def test_get_room_members(self, life: Life, author: RoomAuthor) -> None:
        found = {item["userId"]: item["role"] for item in author.begins(life.pk, "MEMBER#")}
        assert found == {"mia": "owner", "jonas": "member"}

    async def test_get_users_rooms(self, life: Life, author: RoomAuthor) -> None:
        [item] = author.begins("USER#jonas", "ROOM#")
        assert (item["roomId"], item["role"]) == (life.room, "member")

    async def test_check_membership(self, life: Life, author: RoomAuthor) -> None:
        assert author.get(life.pk, "MEMBER#jonas")
        assert not author.get(life.pk, "MEMBER#ines")

    async def test_delete_room(self, life: Life, world: World, author: RoomAuthor) -> None:
        await world.do("mia", "DELETE", f"/rooms/{life.room}")
        await world.settle()
        assert author.query(None, life.pk) == []
        assert author.begins("USER#jonas", "ROOM#") == []


class TestListingOperations:
    async def test_get_listing_by_id(self, life: Life, author: RoomAuthor) -> None:
        assert author.get(life.pk, f"LISTING#{life.attic}")["title"] == "Attic"

    async def test_get_all_room_listings(self, life: Life, author: RoomAuthor) -> None:
        found = author.begins(life.pk, "LISTING#")
        assert [item["title"] for item in found] == ["Loft", "Attic"]

    async def test_get_listings_by_status(
        self, life: Life, world: World, author: RoomAuthor
    ) -> None:
        assert [item["title"] for item in author.by_status(life.room, "SEEN")] == ["Loft"]
        path = f"/rooms/{life.room}/listings/{life.loft}"
        for status in ("ACCEPTED", "SEEN", "UNSEEN"):  # a wrong tap is undone
            await world.do("mia", "PATCH", path, {"status": status})
            [item] = author.by_status(life.room, status)
            assert item["GSI2SK"] == f"STATUS#{status}#{life.loft}"
        assert author.by_status(life.room, "VISIT") == []

    async def test_find_by_external_id(self, life: Life, author: RoomAuthor) -> None:
        # A # in an id of a platform is escaped, so that no other key is made of it.
        [item] = author.by_external_id("homegate", "x%231", life.room)
        assert (item["title"], item["externalId"]) == ("Loft", "x#1")
        assert author.by_external_id("homegate", "x%231", "other") == []

    async def test_index_keys_are_there_where_the_document_has_them(
        self, life: Life, author: RoomAuthor
    ) -> None:
        kinds = {
            index: {item["entityType"] for item in author.items() if f"{index}PK" in item}
            for index in ("GSI1", "GSI2")
        }
        assert kinds == {"GSI1": {"Listing"}, "GSI2": {"Listing"}}
        attic = author.get(life.pk, f"LISTING#{life.attic}")
        assert "GSI1PK" not in attic
        assert "GSI2PK" in attic


class TestCriteriaOperations:
    async def test_get_users_latest_criteria(self, life: Life, author: RoomAuthor) -> None:
        assert author.latest(life.pk, "CRITERIA#mia#")["criteria"]["price"] == {"max": 2400}

    async def test_get_all_users_criteria(
        self, life: Life, world: World, author: RoomAuthor
    ) -> None:
        found = author.begins(life.pk, "CRITERIA#")
        assert [item["userId"] for item in found] == ["jonas", "mia", "mia"]
        wanted = (await world.do("jonas", "GET", f"/rooms/{life.room}/wishes"))["criteria"]
        latest = {one["userName"]: one["criteria"]["price"]["max"] for one in wanted}
        assert latest == {"Jonas": 2000, "Mia": 2400}

    async def test_get_combined_criteria(self, life: Life, author: RoomAuthor) -> None:
        item = author.latest(life.pk, "CRITERIA_COMBINED#")
        assert (item["combineMode"], item["fromUserIds"]) == ("strict", ["jonas", "mia"])
        assert item["criteria"]["price"] == {"max": 2000}


class TestActivityOperations:
    async def test_get_room_activities(self, life: Life, author: RoomAuthor) -> None:
        found = author.begins(life.pk, "ACTIVITY#", ScanIndexForward=False)
        assert (found[0]["type"], found[0]["text"]) == ("ChatMessage", "Saturday?")
        assert {item["type"] for item in found} >= {"RoomCreated", "ListingPinned", "ListingMoved"}

    async def test_get_activities_after_timestamp(
        self, life: Life, world: World, author: RoomAuthor
    ) -> None:
        every = author.begins(life.pk, "ACTIVITY#")
        third = every[2]["createdAt"]
        # The document's condition has no upper bound: what sorts after activities comes along.
        found = author.later(life.room, third)
        kinds = {item["entityType"] for item in found}
        assert kinds > {"Activity", "Listing"}
        ours = await world.do(
            "mia", "GET", f"/rooms/{life.room}/activities?limit=100&since={third}"
        )
        assert [one["activityId"] for one in ours["items"]] == [
            item["activityId"] for item in every if item["createdAt"] > third
        ]


class TestCompatibilityOperations:
    async def test_get_latest_compatibility_and_history(
        self, life: Life, author: RoomAuthor
    ) -> None:
        [item] = author.begins(life.pk, "COMPATIBILITY#", ScanIndexForward=False)
        assert item == author.latest(life.pk, "COMPATIBILITY#")
        assert 0 <= item["scorePercent"] <= 100
        assert item["level"] in ("low", "medium", "high", "excellent")
        assert item["criteriaRefs"] == [
            author.latest(life.pk, f"CRITERIA#{one}#")["SK"] for one in ("jonas", "mia")
        ]


class TestTtl:
    async def test_activities_expire_after_90_days(self, life: Life, author: RoomAuthor) -> None:
        for item in author.begins(life.pk, "ACTIVITY#"):
            made = datetime.fromisoformat(item["createdAt"].replace("Z", "+00:00"))
            assert int(item["ttl"]) == int((made + timedelta(days=ACTIVITY_DAYS)).timestamp())

    async def test_nothing_else_expires(self, life: Life, author: RoomAuthor) -> None:
        mortal = {item["entityType"] for item in author.items() if "ttl" in item}
        assert mortal & DOCUMENT.keys() == {"Activity"}


def test_indexes_and_ttl_are_the_documents() -> None:
    table = design.schema.by_table["search-room"]
    assert [(i.name, i.partition, i.sort) for i in table.indexes] == [
        ("ExternalIdIndex", "GSI1PK", "GSI1SK"),
        ("StatusIndex", "GSI2PK", "GSI2SK"),
    ]
    assert (table.ttl, table.partition, table.sort) == ("ttl", "PK", "SK")


async def test_the_table_is_on_demand_and_named_by_the_environment(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DYNAMODB_TABLE_NAME", "rooms-of-tests")
    async with await design.open_async(address, create_tables=True):
        made = RoomAuthor(address, "rooms-of-tests").table
        made.load()
        assert made.billing_mode_summary["BillingMode"] == "PAY_PER_REQUEST"
        made.delete()


def test_the_design_check_has_nothing_to_report() -> None:
    assert check(design.schema).findings == ()
