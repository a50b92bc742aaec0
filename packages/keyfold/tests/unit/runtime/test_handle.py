"""What a handle does with a design: reads, writes, guards, cursors, budgets."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold import (
    AsyncDb,
    AtMost,
    Collection,
    Count,
    Counter,
    Created,
    Db,
    Design,
    Entity,
    Exists,
    First,
    Get,
    Id,
    Index,
    Key,
    Merge,
    On,
    Pointer,
    Query,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    Version,
    add,
    check,
    clear,
    collection,
    create,
    delete,
    each,
    get,
    merge,
    remove,
    set_if_absent,
    update,
)
from keyfold.conditions import contains
from keyfold.errors import (
    AlreadyExists,
    BudgetExceeded,
    ConditionFailed,
    CursorRefused,
    KeyValueRefused,
    NotFound,
    PlanError,
    RequestReused,
    TooManyWrites,
    TransactionInProgress,
    Undecodable,
    UniqueTaken,
    VersionConflict,
)
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

design = Design("rooms")
table = design.table(
    "rooms",
    indexes=[
        Index("GSI1", "GSI1PK", "GSI1SK"),
        Index("ByTime", "GSI1PK", "startTimestamp", sort_type="N"),
    ],
    ttl="ttl",
)


class Room(Entity, table=table):
    room_id: Id
    name: str
    code: str | None = None
    group_ids: Annotated[set[str], AtMost(190)] = set()
    starts_at: Timestamp
    members: Annotated[int, Counter("Member")] = 0
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    updated_at: Annotated[Timestamp | None, Updated()] = None
    key = Key("ROOM#{room_id}", "ROOM")
    by_code = On("GSI1", "CODE#{code}", "ROOM#{name}", when="code")
    one_code = Unique("code", normalise=str.casefold)


class Member(Entity, table=table):
    room_id: Id
    user_id: Id
    role: str = "member"
    key = Key("ROOM#{room_id}", "MEMBER#{user_id}")
    by_user = On("GSI1", "USER#{user_id}", "ROOM#{room_id}")


class Activity(Entity, table=table):
    room_id: Id
    at: Timestamp
    activity_id: Id
    text: str = ""
    tags: set[str] = set()
    expires_at: Annotated[Timestamp | None, Ttl(days=90, after="at")] = None
    key = Key("ROOM#{room_id}", "ACTIVITY#{at:iso}#{activity_id}")


class Snapshot(Entity, table=table):
    room_id: Id
    at: Timestamp
    key = Key("ROOM#{room_id}", "SNAPSHOT#{at:iso}")


class RoomPointer(Pointer[Room], table=table, each="group_ids"):
    group_id: str
    room_id: Id
    name: str
    starts_at: Timestamp
    members: int
    key = Key("GROUP#{group_id}", "ROOM#{room_id}")
    by_time = On("ByTime", "GROUP#{group_id}", "{starts_at:epoch_ms}")


@design.pattern(requests=1)
def room_by_id(room_id: str) -> Get[Room]:
    return get(Room.key(room_id=room_id))


@design.pattern(requests=1)
def members_of(room_id: str, limit: int = 50) -> Query[Member]:
    return Member.key.query(room_id=room_id).limit(limit)


@design.pattern(requests=1)
def activities_after(room_id: str, at: datetime, limit: int = 50) -> Query[Activity]:
    return Activity.key.query(room_id=room_id).after(at=at).limit(limit)


@design.pattern(requests=1)
def latest_snapshot(room_id: str) -> First[Snapshot]:
    return Snapshot.key.query(room_id=room_id).descending().first()


@design.pattern()
def member_count(room_id: str) -> Count[Member]:
    return Member.key.query(room_id=room_id).count()


@design.pattern()
def has_members(room_id: str) -> Exists[Member]:
    return Member.key.query(room_id=room_id).exists()


@design.pattern()
def whole_room(room_id: str) -> Collection:
    return collection(Room, Member, room_id=room_id)


@design.pattern()
def upcoming(group_ids: list[str], now: datetime, limit: int = 50) -> Merge[RoomPointer]:
    query = RoomPointer.by_time.query(group_id=each(group_ids)).after(starts_at=now)
    return merge(query, unique="room_id").limit(limit)


NOW = datetime(2025, 6, 1, tzinfo=UTC)


class Recorded:
    """The engine, with every request kept."""

    def __init__(self, engine: Engine) -> None:
        self.client = EmbeddedClient(engine)
        self.requests: list[tuple[str, Mapping[str, Any]]] = []

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.requests.append((operation, request))
        return self.client.call(operation, request)

    def close(self) -> None:
        self.client.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW.timestamp())


@pytest.fixture
def client(clock: ManualClock) -> Recorded:
    return Recorded(Engine.open(":memory:", clock=clock))


@pytest.fixture
def db(client: Recorded, clock: ManualClock) -> Iterator[Db]:
    with design.open(client, clock=clock, on_loop="raise") as opened:
        client.requests.clear()
        yield opened


def a_room(room_id: str = "r1", **values: Any) -> Room:
    return Room(**{"room_id": room_id, "name": "Loft", "starts_at": NOW, **values})


class TestWriting:
    def test_a_create_sets_version_and_stamps(self, db: Db) -> None:
        room = db.create(a_room())
        assert (room.version, room.created_at, room.updated_at) == (1, NOW, NOW)
        assert db.get(Room.key(room_id="r1")) == room

    def test_a_second_create_is_refused(self, db: Db) -> None:
        db.create(a_room())
        with pytest.raises(AlreadyExists, match="r1"):
            db.create(a_room(name="Other"))
        assert db.get(Room.key(room_id="r1")).name == "Loft"

    def test_an_update_of_a_missing_item_makes_no_ghost(self, db: Db) -> None:
        with pytest.raises(NotFound):
            db.update(Member.key(room_id="r1", user_id="u1"), role="owner")
        assert members_of(db, "r1").items == []

    def test_a_stale_writer_is_refused(self, db: Db) -> None:
        seen = db.create(a_room())
        db.update(seen, name="First")
        with pytest.raises(VersionConflict):
            db.update(seen, name="Second")
        with pytest.raises(VersionConflict):
            db.delete(seen)
        assert db.get(seen.ref()).name == "First"

    def test_value_clear_and_omitted_are_three_things(self, db: Db) -> None:
        room = db.create(a_room(code="X"))
        room = db.update(room, name="New")
        assert (room.name, room.code) == ("New", "X")
        assert db.update(room, code=None).code is None

    def test_a_required_field_cannot_be_cleared(self, db: Db) -> None:
        room = db.create(a_room())
        with pytest.raises(PlanError, match="not optional"):
            db.update(room, name=clear)

    def test_a_wrong_field_or_value_is_named(self, db: Db) -> None:
        room = db.create(a_room())
        with pytest.raises(PlanError, match="no field 'titel'"):
            db.update(room, titel="x")
        with pytest.raises(PlanError, match=r"Room\.name=7"):
            db.update(room, name=7)

    def test_typed_operations(self, db: Db) -> None:
        db.create(Activity(room_id="r1", at=NOW, activity_id="a", tags={"x"}))
        ref = Activity.key(room_id="r1", at=NOW, activity_id="a")
        assert db.update(ref, tags=add({"y"})).tags == {"x", "y"}
        assert db.update(ref, tags=remove({"x", "y"})).tags == set()
        assert db.update(ref, text=set_if_absent("kept")).text == ""

    def test_a_condition_guards_an_update(self, db: Db) -> None:
        db.create(a_room())
        member = db.create(Member(room_id="r1", user_id="u1"))
        with pytest.raises(ConditionFailed, match='role = "owner"'):
            db.update(member.ref(), where=lambda m: m.role == "owner", role="guest")
        assert db.update(member.ref(), where=lambda m: m.role == "member", role="x").role == "x"

    def test_a_value_with_the_delimiter_never_reaches_another_partition(self, db: Db) -> None:
        with pytest.raises(KeyValueRefused):
            members_of(db, "r1#MEMBER")

    def test_a_key_field_moves_only_by_move(self, db: Db) -> None:
        db.create(a_room())
        member = db.create(Member(room_id="r1", user_id="u1", role="owner"))
        with pytest.raises(PlanError, match=r"db\.move"):
            db.update(member, user_id="u2")
        moved = db.move(member, user_id="u2")
        assert moved.role == "owner"
        assert [m.user_id for m in members_of(db, "r1")] == ["u2"]
        assert db.get(Room.key(room_id="r1")).members == 1

    def test_a_put_over_an_item_keeps_what_the_framework_keeps(
        self, db: Db, clock: ManualClock
    ) -> None:
        db.create(a_room())
        db.create(Member(room_id="r1", user_id="u1"))
        clock.advance(60)
        room = db.put(a_room(name="Again"))
        assert (room.name, room.members, room.version, room.created_at) == ("Again", 1, 2, NOW)
        assert room.updated_at == NOW + timedelta(seconds=60)

    def test_a_collection_goes_with_what_is_kept_for_it(self, db: Db) -> None:
        db.create(a_room())
        for n in range(30):
            db.create(Member(room_id="r1", user_id=f"u{n:02d}"))
        seen: list[int] = []
        assert db.delete_collection(Member.key.query(room_id="r1"), seen.append) == 30
        assert seen == [25, 30]
        assert db.get(Room.key(room_id="r1")).members == 0


class TestIndexKeys:
    """Never half a key."""

    def test_a_changed_field_rewrites_the_whole_index_key(self, db: Db, client: Recorded) -> None:
        room = db.create(a_room(code="X"))
        db.update(room.ref(), name="Attic")
        item = client.call("GetItem", {"TableName": "rooms", "Key": room.ref().wire()})["Item"]
        assert item["GSI1PK"] == {"S": "CODE#X"}
        assert item["GSI1SK"] == {"S": "ROOM#Attic"}

    def test_clearing_a_sparse_field_takes_the_item_out_of_the_index(self, db: Db) -> None:
        room = db.create(a_room(code="X"))
        found = Room.by_code.query(code="X")
        assert len(db.read(found)) == 1
        db.update(room, code=None)
        assert len(db.read(found)) == 0

    def test_setting_a_sparse_field_puts_the_item_in(self, db: Db) -> None:
        room = db.create(a_room())
        db.update(room, code="Y")
        assert db.read(Room.by_code.query(code="Y")).items[0].name == "Loft"


class TestUnique:
    def test_a_taken_value_is_refused_with_its_holder(self, db: Db) -> None:
        db.create(a_room(code="Alpha"))
        with pytest.raises(UniqueTaken, match="ROOM#r1") as caught:
            db.create(a_room("r2", code="ALPHA"))
        assert caught.value.field == "code"
        assert db.find(Room.key(room_id="r2")) is None

    def test_change_and_delete_release_it(self, db: Db) -> None:
        room = db.create(a_room(code="A"))
        room = db.update(room, code="B")
        other = db.create(a_room("r2", code="a"))
        db.delete(room)
        assert db.update(other, code="B").code == "B"


class TestPointers:
    def test_pointers_follow_their_canonical(self, db: Db) -> None:
        room = db.create(a_room(group_ids={"g1", "g2"}))
        room = db.update(room, name="New", group_ids=remove({"g2"}))
        page = db.read(RoomPointer.key.query(group_id="g1"))
        assert [p.name for p in page] == ["New"]
        assert len(db.read(RoomPointer.key.query(group_id="g2"))) == 0
        db.delete(room)
        assert len(db.read(RoomPointer.key.query(group_id="g1"))) == 0

    def test_canonical_and_copies_are_one_transaction(self, db: Db, client: Recorded) -> None:
        room = db.create(a_room(group_ids={"g1"}))
        client.requests.clear()
        db.update(room, name="New")
        ((operation, request),) = client.requests
        assert operation == "TransactWriteItems"
        keys = [next(iter(w.values())) for w in request["TransactItems"]]
        assert keys[0]["Key"]["PK"] == {"S": "ROOM#r1"}
        assert keys[1]["Item"]["PK"] if "Item" in keys[1] else keys[1]["Key"]["PK"]

    def test_a_counter_reaches_the_pointers(self, db: Db) -> None:
        db.create(a_room(group_ids={"g1"}))
        db.create(Member(room_id="r1", user_id="u1"))
        db.create(Member(room_id="r1", user_id="u2"))
        db.delete(Member.key(room_id="r1", user_id="u1"))
        assert db.get(Room.key(room_id="r1")).members == 1
        assert db.read(RoomPointer.key.query(group_id="g1")).items[0].members == 1

    def test_more_writes_than_a_transaction_takes_are_refused(self, db: Db) -> None:
        with pytest.raises(
            TooManyWrites, match=r"101 items.*100 of them maintained copies.*sync='stream'"
        ):
            db.create(a_room(group_ids={f"g{n}" for n in range(100)}))
        assert db.find(Room.key(room_id="r1")) is None

    def test_more_writes_than_a_transaction_takes_are_not_advised_to_come_late(
        self, db: Db
    ) -> None:
        rooms = [create(a_room(room_id=f"r{n}")) for n in range(101)]
        with pytest.raises(TooManyWrites, match=r"101 writes were passed.*bulk\(") as refused:
            db.transact(*rooms)
        assert "stream" not in str(refused.value)
        pointed = [create(a_room(room_id=f"r{n}", group_ids={"g"})) for n in range(60)]
        with pytest.raises(TooManyWrites, match="Give fewer writes at once, or declare"):
            db.transact(*pointed)

    def test_a_counted_item_needs_its_holder(self, db: Db) -> None:
        with pytest.raises(NotFound):
            db.create(Member(room_id="none", user_id="u1"))
        assert members_of(db, "none").items == []

    def test_a_counted_item_can_go_after_its_holder(self, db: Db) -> None:
        room = db.create(a_room())
        db.create(Member(room_id="r1", user_id="u1"))
        db.delete(room.ref())
        db.delete(Member.key(room_id="r1", user_id="u1"))
        assert db.find(room.ref()) is None


class TestReading:
    def test_a_pattern_makes_exactly_its_request(self, db: Db, client: Recorded) -> None:
        activities_after(db, "r1", NOW, limit=7)
        assert client.requests == [
            (
                "Query",
                {
                    "TableName": "rooms",
                    "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
                    "FilterExpression": "(attribute_not_exists(#2) OR #2 > :3)",
                    "ExpressionAttributeNames": {"#0": "PK", "#1": "SK", "#2": "ttl"},
                    "ExpressionAttributeValues": {
                        ":0": {"S": "ROOM#r1"},
                        ":1": {"S": "ACTIVITY#2025-06-01T00:00:00.000000Z#\U0010ffff"},
                        ":2": {"S": "ACTIVITY#\U0010ffff"},
                        ":3": {"N": str(int(NOW.timestamp()))},
                    },
                    "Limit": 9,  # some more, since what has expired is left out behind it
                },
            )
        ]

    def test_a_range_is_exclusive_and_stays_inside_its_entity(self, db: Db) -> None:
        for minutes in range(4):
            at = NOW + timedelta(minutes=minutes)
            db.create(Activity(room_id="r1", at=at, activity_id=f"a{minutes}"))
            db.create(Snapshot(room_id="r1", at=at))
        found = activities_after(db, "r1", NOW + timedelta(minutes=1))
        assert [a.activity_id for a in found] == ["a2", "a3"]

    def test_latest_count_and_existence(self, db: Db) -> None:
        assert latest_snapshot(db, "r1") is None
        assert has_members(db, "r1") is False
        db.create(a_room())
        for n in range(3):
            db.create(Snapshot(room_id="r1", at=NOW + timedelta(seconds=n)))
            db.create(Member(room_id="r1", user_id=f"u{n}"))
        latest = latest_snapshot(db, "r1")
        assert latest is not None
        assert latest.at == NOW + timedelta(seconds=2)
        assert member_count(db, "r1") == 3
        assert has_members(db, "r1") is True

    def test_a_collection_is_typed_by_entity(self, db: Db, client: Recorded) -> None:
        db.create(a_room())
        db.create(Member(room_id="r1", user_id="u1"))
        db.create(Snapshot(room_id="r1", at=NOW))
        client.requests.clear()
        found = whole_room(db, "r1")
        assert found.one(Room).name == "Loft"
        assert [m.user_id for m in found.of(Member)] == ["u1"]
        assert len(found.items) == 2
        assert len(client.requests) == 1

    def test_expired_items_are_gone_before_they_are_deleted(
        self, db: Db, clock: ManualClock
    ) -> None:
        activity = db.create(Activity(room_id="r1", at=NOW, activity_id="a"))
        assert activity.expires_at == NOW + timedelta(days=90)
        assert len(activities_after(db, "r1", NOW - timedelta(1))) == 1
        clock.advance(91 * 86400)
        assert len(activities_after(db, "r1", NOW - timedelta(1))) == 0
        assert db.find(activity.ref()) is None

    def test_get_many_keeps_the_order_of_its_refs(self, db: Db) -> None:
        db.create(a_room("b"))
        db.create(a_room("a"))
        refs = [Room.key(room_id=r) for r in ("a", "none", "b", "a")]
        assert [r.room_id if r else None for r in db.get_many(refs)] == ["a", None, "b", "a"]

    def test_an_item_that_does_not_fit_is_reported_with_its_key(
        self, db: Db, client: Recorded
    ) -> None:
        item = {"PK": {"S": "ROOM#r1"}, "SK": {"S": "MEMBER#u1"}, "roomId": {"N": "1"}}
        client.call("PutItem", {"TableName": "rooms", "Item": item})
        with pytest.raises(Undecodable, match="MEMBER#u1") as caught:
            members_of(db, "r1")
        assert caught.value.key["SK"] == {"S": "MEMBER#u1"}

    def test_a_filter_is_typed_and_applied(self, db: Db) -> None:
        db.create(Activity(room_id="r1", at=NOW, activity_id="a", tags={"x"}))
        db.create(Activity(room_id="r1", at=NOW, activity_id="b"))
        query = Activity.key.query(room_id="r1").where(lambda a: contains(a.tags, "x"))
        assert [a.activity_id for a in db.read(query)] == ["a"]


class TestCursors:
    @pytest.fixture
    def first(self, db: Db) -> str:
        db.create(a_room())
        db.create(a_room("r2"))
        for n in range(5):
            db.create(Member(room_id="r1", user_id=f"u{n}"))
        cursor = members_of(db, "r1", limit=2).cursor
        assert cursor is not None
        return cursor

    def test_a_cursor_continues_behind_its_page(self, db: Db, first: str) -> None:
        page = members_of.after(first)(db, "r1", limit=10)
        assert [m.user_id for m in page] == ["u2", "u3", "u4"]
        assert page.cursor is None

    def test_an_edited_cursor_is_refused(self, db: Db, first: str) -> None:
        edited = first[:-2] + ("AA" if first[-2:] != "AA" else "BB")
        with pytest.raises(CursorRefused):
            members_of.after(edited)(db, "r1")

    def test_a_cursor_of_another_partition_is_refused(self, db: Db, first: str) -> None:
        with pytest.raises(CursorRefused):
            members_of.after(first)(db, "r2")

    def test_a_cursor_of_another_secret_is_refused(self, client: Recorded, first: str) -> None:
        other = design.open(client, cursor_secret=b"0123456789abcdef")
        with pytest.raises(CursorRefused):
            members_of.after(first)(other, "r1")

    @pytest.mark.parametrize("nonsense", ["", "x", "äöü", "====", "A" * 5000])
    def test_nonsense_is_refused(self, db: Db, nonsense: str) -> None:
        with pytest.raises(CursorRefused):
            db.read(Member.key.query(room_id="r1"), cursor=nonsense or "?")


@given(
    spread=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30),
    size=st.integers(1, 7),
)
def test_a_merge_gives_each_thing_once_in_order(spread: list[tuple[int, int]], size: int) -> None:
    db = design.open(":memory:")
    expected = {}
    for number, (minute, group) in enumerate(spread):
        groups = {f"g{group}", f"g{(group * 3 + number) % 4}"}
        at = NOW + timedelta(minutes=minute)
        db.create(a_room(f"r{number}", starts_at=at, group_ids=groups))
        if minute > 0:
            expected[f"r{number}"] = at
    found: list[RoomPointer] = []
    cursor = None
    while True:
        page = upcoming.after(cursor)(db, ["g0", "g1", "g2", "g3", "g0"], NOW, limit=size)
        assert len(page) <= size
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert [p.starts_at for p in found] == sorted(expected.values())
    assert sorted(p.room_id for p in found) == sorted(expected)
    db.close()


class TestTransactions:
    def test_all_or_nothing(self, db: Db) -> None:
        db.create(a_room())
        member = Member(room_id="r1", user_id="u1")
        with pytest.raises(AlreadyExists):
            db.transact(create(member), create(a_room()))
        assert members_of(db, "r1").items == []

    def test_a_new_item_and_what_counts_on_it(self, db: Db) -> None:
        room = a_room(group_ids={"g1"})
        db.transact(create(Member(room_id="r1", user_id="u1")), create(room))
        assert db.get(room.ref()).members == 1
        assert db.read(RoomPointer.key.query(group_id="g1")).items[0].members == 1

    def test_a_check_guards_the_others(self, db: Db) -> None:
        room = db.create(a_room())
        member = Member(room_id="r1", user_id="u1", role="owner")
        with pytest.raises(ConditionFailed, match='name = "Else"'):
            db.transact(
                create(Snapshot(room_id="r1", at=NOW)),
                check(room.ref(), where=lambda r: r.name == "Else"),
            )
        db.transact(create(member), update(room, name="Else"))
        stored = db.get(room.ref())
        assert (stored.name, stored.members) == ("Else", 1)

    def test_a_delete_beside_a_count_on_the_same_item(self, db: Db) -> None:
        room = db.create(a_room())
        member = db.create(Member(room_id="r1", user_id="u1"))
        db.transact(delete(room.ref()), delete(member))
        assert db.find(room.ref()) is None


class TestBudget:
    def test_a_pattern_may_not_make_more_requests_than_it_declares(self, db: Db) -> None:
        pattern = design.patterns.get("tight") or design.pattern(name="tight", requests=1)(
            lambda room_ids: merge(Snapshot.key.query(room_id=each(room_ids)))
        )
        assert pattern(db, ["r1"]).items == []
        with pytest.raises(BudgetExceeded, match="tight exceeds its budget, requests=1"):
            pattern(db, ["r1", "r2"])

    def test_a_loop_of_single_reads_is_an_n_plus_one(self, db: Db) -> None:
        for n in range(5):
            db.create(a_room(f"r{n}"))

        def one_by_one() -> list[Room]:
            return [db.get(Room.key(room_id=f"r{n}")) for n in range(5)]

        with db.work("list"), pytest.raises(BudgetExceeded, match=r"N\+1 in 'list': Room"):
            one_by_one()

    def test_a_unit_of_work_counts_by_pattern(self, db: Db) -> None:
        db.create(a_room())
        with db.work("view") as work:
            room_by_id(db, "r1")
            members_of(db, "r1")
            members_of(db, "r1")
        assert work.usage["members_of"].requests == 2
        assert work.usage["room_by_id"].read_units == 1.0
        assert work.total.requests == 3

    def test_a_unit_of_work_has_a_budget_too(self, db: Db) -> None:
        with db.work("view", requests=1):
            members_of(db, "r1")
            with pytest.raises(BudgetExceeded, match="'view'"):
                members_of(db, "r1")


class TestOnce:
    def test_the_same_id_gives_the_stored_result(self, db: Db) -> None:
        made: list[Room] = []

        def work() -> Room:
            made.append(db.create(a_room()))
            return made[-1]

        first = db.once("q1", work, result=Room, payload={"name": "Loft"})
        again = db.once("q1", work, result=Room, payload={"name": "Loft"})
        assert first == again
        assert len(made) == 1

    def test_another_payload_under_one_id_is_refused(self, db: Db) -> None:
        db.once("q1", lambda: 1, result=int, payload="a")
        with pytest.raises(RequestReused, match="q1"):
            db.once("q1", lambda: 2, result=int, payload="b")

    def test_equal_sets_are_one_payload_however_they_were_made(self, db: Db) -> None:
        one, other = {0, 8}, {8, 0}
        assert list(one) != list(other)
        first = db.once("q1", lambda: 1, result=int, payload={"ids": one})
        assert db.once("q1", lambda: 2, result=int, payload={"ids": other}) == first

    def test_failed_work_can_be_tried_again(self, db: Db) -> None:
        with pytest.raises(NotFound):
            db.once("q1", lambda: db.get(Room.key(room_id="none")), result=Room)
        assert db.once("q1", lambda: 5, result=int) == 5

    def test_a_crash_in_between_is_taken_over_after_the_lease(
        self, db: Db, clock: ManualClock
    ) -> None:
        from keyfold.runtime import idempotency

        db.run(idempotency.claim(db.context, "q1", None, 60))
        with pytest.raises(TransactionInProgress):
            db.once("q1", lambda: 1, result=int)
        clock.advance(61)
        assert db.once("q1", lambda: 1, result=int) == 1

    def test_requests_are_kept_in_a_table_that_forgets_them(self) -> None:
        apart = Design("apart")
        apart.table("lasting")
        apart.table("passing", ttl="until")
        with Engine.open(":memory:") as engine:
            opened = apart.open(EmbeddedClient(engine))
            opened.once("request", lambda: 1, result=int)
            (kept,) = opened.client.call("Scan", {"TableName": "passing"})["Items"]
            assert int(kept["until"]["N"]) > opened.context.clock.now()
            assert opened.client.call("Scan", {"TableName": "lasting"})["Items"] == []


def test_sync_and_async_handles_have_the_same_methods() -> None:
    def signatures(handle: type) -> dict[str, list[str]]:
        return {
            name.replace("_async", ""): list(inspect.signature(member).parameters)
            for name, member in vars(handle).items()
            if callable(member) and not name.startswith("_")
        }

    assert signatures(Db) == signatures(AsyncDb)


async def test_the_async_handle_reads_and_writes() -> None:
    async with await design.open_async(":memory:") as db:
        room = await db.create(a_room(group_ids={"g1"}))
        await db.update(room, name="New")
        page = await upcoming(db, ["g1"], NOW - timedelta(1))
        assert [p.name for p in page] == ["New"]
        assert [m async for m in db.iterate(Member.key.query(room_id="r1"))] == []
