"""The document's migration on a populated old table, with traffic, interruptions and a way back."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold import Db
from keyfold_engine.clients import connect
from keyfold.errors import MigrationError
from keyfold.maintain import repair, verify
from keyfold.migrations import Backend, Migrator, backend_of
from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.entities import CombinedCriteria, Compatibility, Listing
from keyfold_systems.search_room.migration import histories, migration, open_criteria
from keyfold_systems.search_room.patterns import (
    latest_user_criteria,
    listing_by_external_id,
    listings_by_status,
    room_members,
    user_criteria_history,
    user_rooms,
)
from keyfold_systems.search_room.shape import stored_flat
from keyfold_systems.search_room.status import Status
from keyfold_systems.search_room.wishes import Span
from tests.systems.conftest import ADDRESS

from .conftest import most

TABLE = "search-room"
AT = "2025-01-02T03:04:05.678Z"


class Crash(Exception):
    """The migrator's process ends."""


class Failing:
    """A client that is gone after so many writes."""

    def __init__(self, backend: Backend, writes: int) -> None:
        self._client, self._left = backend.client, writes

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        if operation in ("UpdateItem", "PutItem", "TransactWriteItems"):
            self._left -= 1
            if self._left < 0:
                raise Crash
        return self._client.call(operation, request)

    def close(self) -> None:
        self._client.close()


def put(backend: Backend, partition: str, sort: str, **attributes: Any) -> None:
    item = {"PK": {"S": partition}, "SK": {"S": sort}}
    item |= {n: v if isinstance(v, dict) else {"S": v} for n, v in attributes.items()}
    backend.call("PutItem", {"TableName": TABLE, "Item": item})


def listing(backend: Backend, number: int, **attributes: Any) -> None:
    seen = {"L": [{"S": "mia"}, {"S": "mia"}]} if number % 2 else {"L": []}
    values = {
        "listingId": f"l{number}",
        "roomId": "r1",
        "sourceBrand": "homegate",
        "title": f"Flat {number}",
        "location": "Bern",
        "status": "SEEN" if number % 2 else "UNSEEN",
        "seenBy": seen,
        "addedAt": AT,
        **({"externalId": f"x{number}"} if number % 3 else {}),
        **attributes,
    }
    put(backend, "ROOM#r1", f"LISTING#l{number}", **values)


@pytest.fixture
def backend() -> Backend:
    """A table as the document had it before: two keys, no index, no TTL, no stream."""
    opened = backend_of(connect(ADDRESS or ":memory:"))
    for name in opened.call("ListTables", {})["TableNames"]:
        opened.call("DeleteTable", {"TableName": name})
    opened.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "S"},
            ],
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
        },
    )
    room = {"roomId": "r1", "name": "Ours", "createdByUserId": "mia", "searchType": "rent"}
    put(opened, "ROOM#r1", "ROOM", createdAt=AT, **room)
    for user, role in (("mia", "owner"), ("jonas", "member")):
        member = {"roomId": "r1", "userId": user, "role": role, "joinedAt": AT}
        put(opened, "ROOM#r1", f"MEMBER#{user}", **member)
        put(opened, f"USER#{user}", "ROOM#r1", **member)
    for number in range(40):
        listing(opened, number)
    return opened


def raw(backend: Backend) -> dict[str, dict[str, Any]]:
    items = backend.call("Scan", {"TableName": TABLE})["Items"]
    return {item["SK"]["S"]: item for item in items if item["SK"]["S"].startswith("LISTING#")}


def opened(backend: Backend) -> Db:
    return design.open(backend.client, create_tables=False)


def ends_right(backend: Backend) -> None:
    db = opened(backend)
    seen = listings_by_status(db, "r1", Status.SEEN, limit=100)
    assert {one.listing_id for one in seen} == {f"l{n}" for n in range(1, 40, 2)}
    assert all(one.seen_by == {"mia"} for one in seen)
    found = listing_by_external_id(db, "r1", "homegate", "x7")
    assert found is not None
    assert found.title == "Flat 7"
    for item in raw(backend).values():
        assert ("GSI1PK" in item) == ("externalId" in item)
        assert item["GSI2SK"]["S"] == f"STATUS#{item['status']['S']}#{item['listingId']['S']}"


def test_both_indexes_the_backfill_and_the_ttl(backend: Backend) -> None:
    Migrator(migration, backend, without_routers=True).apply("contract")
    ends_right(backend)
    described = backend.describe(TABLE)
    assert described is not None
    names = {one["IndexName"] for one in described["GlobalSecondaryIndexes"]}
    assert names == {"ExternalIdIndex", "StatusIndex"}
    ttl = backend.call("DescribeTimeToLive", {"TableName": TABLE})["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}


def test_the_running_system_goes_on_with_what_was_there(backend: Backend) -> None:
    Migrator(migration, backend, without_routers=True).apply("contract")
    db = opened(backend)
    repair(db, verify(db))
    assert verify(db).clean
    assert [(m.user_id, m.room_name) for m in room_members(db, "r1")] == [
        ("jonas", "Ours"),
        ("mia", "Ours"),
    ]
    assert [one.room_name for one in user_rooms(db, "jonas")] == ["Ours"]
    flat = db.get(Listing.key(room_id="r1", listing_id="l8"))
    moved = db.update(flat, status=Status.VISIT_PLANNED)
    assert moved.version == flat.version + 1
    assert [x.listing_id for x in listings_by_status(db, "r1", Status.VISIT_PLANNED)] == ["l8"]


@pytest.mark.parametrize("writes", [3, 20, 60, 90])
def test_it_goes_on_where_it_was_killed(backend: Backend, writes: int) -> None:
    dying = Backend(Failing(backend, writes), backend.prefix, backend.names)
    with pytest.raises(Crash):
        Migrator(migration, dying, without_routers=True).apply("contract")
    Migrator(migration, backend, without_routers=True).apply("contract")
    ends_right(backend)


def test_a_listing_that_changes_meanwhile_keeps_its_change(backend: Backend) -> None:
    """The backfill is guarded: it neither overwrites a newer status nor brings a listing back."""

    class Busy:
        """Somebody moves or deletes listings just before they are written."""

        def __init__(self) -> None:
            self.moved = False

        def call(self, operation: str, request: Any) -> dict[str, Any]:
            if "l7" in str(request.get("Key", "")) and not self.moved:
                self.moved = True
                listing(backend, 7, status="APPLIED")
                key = {"PK": {"S": "ROOM#r1"}, "SK": {"S": "LISTING#l8"}}
                backend.call("DeleteItem", {"TableName": TABLE, "Key": key})
            return backend.client.call(operation, request)

        def close(self) -> None:
            backend.client.close()

    busy = Busy()
    Migrator(migration, Backend(busy, backend.prefix, backend.names), without_routers=True).apply(
        "contract"
    )
    assert busy.moved
    stored = raw(backend)
    assert stored["LISTING#l7"]["GSI2SK"] == {"S": "STATUS#APPLIED#l7"}
    assert "LISTING#l8" not in stored


def test_the_way_back_leaves_the_old_table(backend: Backend) -> None:
    before = raw(backend)
    migrator = Migrator(migration, backend, without_routers=True)
    migrator.apply("hold")
    migrator.rollback()
    described = backend.describe(TABLE)
    assert described is not None
    assert not described.get("GlobalSecondaryIndexes")
    after = raw(backend)
    assert set(after) == set(before)
    assert not any({"GSI1PK", "GSI2PK", "version"} & set(item) for item in after.values())


def test_duplicates_of_before_are_named_and_nothing_is_lost(backend: Backend) -> None:
    listing(backend, 100, externalId="x7")
    migrator = Migrator(migration, backend, without_routers=True)
    with pytest.raises(MigrationError):
        migrator.apply("contract")
    problems = migrator.status().problems
    assert any("homegate#x7" in str(problem) for problem in problems)
    assert len(raw(backend)) == 41


def test_histories_get_keys_that_tell_one_instant_apart(backend: Backend) -> None:
    wishes = {"M": {"priceMax": {"N": "2000"}, "locations": {"L": [{"S": "Bern"}]}}}
    moments = [f"2025-01-0{day}T03:04:05.678Z" for day in (1, 2, 3)]
    for at in moments:
        said = {"roomId": "r1", "timestamp": at, "criteria": wishes, "weights": {"M": {}}}
        put(backend, "ROOM#r1", f"CRITERIA#mia#{at}", userId="mia", source="manual", **said)
        users = {"L": [{"S": "mia"}]}
        put(
            backend,
            "ROOM#r1",
            f"CRITERIA_COMBINED#{at}",
            fromUserIds=users,
            combineMode="all",
            **said,
        )
        score = {"scorePercent": {"N": "70"}, "level": "high", "comment": "Fine"}
        put(backend, "ROOM#r1", f"COMPATIBILITY#{at}", roomId="r1", timestamp=at, **score)
    Migrator(migration, backend, without_routers=True).apply("contract")
    Migrator(histories, backend, without_routers=True).apply("contract")
    db = opened(backend)
    found = user_criteria_history(db, "r1", "mia")
    assert [one.timestamp.day for one in found] == [3, 2, 1]
    assert {(most(one), str(one.criteria["location"])) for one in found} == {(2000, "['Bern']")}
    assert [one.timestamp.day for one in db.scan(CombinedCriteria)] == [1, 2, 3]
    assert [one.score_percent for one in db.scan(Compatibility)] == [70, 70, 70]
    keys = {item["SK"]["S"] for item in backend.call("Scan", {"TableName": TABLE})["Items"]}
    assert {f"CRITERIA#mia#{at}#0" for at in moments} <= keys
    assert not {f"CRITERIA#mia#{at}" for at in moments} & keys


FLAT = {
    "priceMin": {"NULL": True},
    "priceMax": {"N": "2000"},
    "roomsMin": {"N": "3.5"},
    "locations": {"L": [{"S": "Thun"}, {"S": "Bern"}]},
    "features": {"L": [{"S": "balcony"}]},
}
OPEN = {
    "price": {"M": {"max": {"N": "2000"}}},
    "rooms": {"M": {"min": {"N": "3.5"}}},
    "location": {"L": [{"S": "Bern"}, {"S": "Thun"}]},
    "balcony": {"BOOL": True},
}


def stated(backend: Backend) -> list[str]:
    """Criteria as they were stored before, of each kind."""
    at = "2025-01-01T03:04:05.678Z"
    weights = {"M": {"locations": {"N": "0.5"}, "features": {"N": "0.2"}, "price": {"N": "1"}}}
    said = {"roomId": "r1", "timestamp": at, "criteria": {"M": FLAT}, "weights": weights}
    mine = {**said, "userId": "mia", "source": "manual", "criteriaId": "c1"}
    put(backend, "ROOM#r1", f"CRITERIA#mia#{at}#c1", **mine, entityType="UserCriteria")
    put(backend, "ROOM#r1", "CRITERIA_LATEST#mia", **mine, entityType="LatestCriteria")
    both = {**said, "combinedId": "c1", "combineMode": "all", "fromUserIds": {"L": []}}
    put(backend, "ROOM#r1", f"CRITERIA_COMBINED#{at}#c1", **both, entityType="CombinedCriteria")
    return [f"CRITERIA#mia#{at}#c1", "CRITERIA_LATEST#mia", f"CRITERIA_COMBINED#{at}#c1"]


def criteria_of(backend: Backend, keys: list[str]) -> list[Any]:
    items = backend.call("Scan", {"TableName": TABLE})["Items"]
    found = {item["SK"]["S"]: item for item in items}
    return [(found[key]["criteria"]["M"], found[key]["weights"]["M"]) for key in keys]


def test_criteria_of_before_are_read_and_get_the_open_shape(backend: Backend) -> None:
    Migrator(migration, backend, without_routers=True).apply("contract")
    keys = stated(backend)
    db = opened(backend)
    before = latest_user_criteria(db, "r1", "mia")
    assert before is not None
    assert before.criteria == {
        "price": Span(max=2000),
        "rooms": Span(min=3.5),
        "location": ["Bern", "Thun"],
        "balcony": True,
    }
    assert before.weights == {"price": 1, "location": 0.5, "balcony": 0.2}
    Migrator(open_criteria, backend, without_routers=True).apply("contract")
    weights = {"price": {"N": "1"}, "location": {"N": "0.5"}, "balcony": {"N": "0.2"}}
    assert criteria_of(backend, keys) == [(OPEN, weights)] * 3
    assert latest_user_criteria(db, "r1", "mia") == before


def test_the_way_back_gives_criteria_the_shape_of_before(backend: Backend) -> None:
    Migrator(migration, backend, without_routers=True).apply("contract")
    keys = stated(backend)
    before = criteria_of(backend, keys)
    migrator = Migrator(open_criteria, backend, without_routers=True)
    migrator.apply("hold")
    item = {"heating": {"S": "gas"}, "pets": {"BOOL": False}, "price": {"N": "9"}}
    put(backend, "ROOM#r1", "CRITERIA_LATEST#jonas", criteria={"M": item}, weights={"M": {}})
    migrator.rollback()
    assert criteria_of(backend, keys) == before
    ((since, _),) = criteria_of(backend, ["CRITERIA_LATEST#jonas"])
    assert since == {
        "priceMin": {"N": "9"},
        "priceMax": {"N": "9"},
        "features": {"L": [{"S": "heating gas"}, {"S": "no pets"}]},
    }


def test_the_shape_of_before_is_the_same_in_whatever_order_a_backend_gives_a_map() -> None:
    inner = {"near": {"S": "lake"}, "below": {"N": "700"}}
    wishes = {
        "pets": {"BOOL": False},
        "heating": {"S": "gas"},
        "place": {"M": inner},
        "kinds": {"SS": ["loft", "flat"]},
    }
    turned = {
        **dict(reversed(wishes.items())),
        "place": {"M": dict(reversed(inner.items()))},
        "kinds": {"SS": ["flat", "loft"]},
    }
    flat, _ = stored_flat(wishes, {})
    assert stored_flat(turned, {}) == (flat, {})
    features = ["heating gas", "kinds flat, loft", "no pets", "place below 700, near lake"]
    assert flat == {"features": {"L": [{"S": one} for one in features]}}
