"""Wrong declarations fail at import, with a code, a place and a suggestion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from keyfold import (
    Design,
    Entity,
    Get,
    Id,
    Index,
    Key,
    Name,
    On,
    Pointer,
    Query,
    Stored,
    Table,
    Timestamp,
    Ttl,
    Unique,
    Version,
    get,
)
from keyfold.errors import DeclarationError, MissingKeyField


def a_table(**options: Any) -> Table:
    indexes = [Index("GSI1", "GSI1PK", "GSI1SK"), Index("ByTime", "GSI1PK", "at", sort_type="N")]
    return Design("test").table("main", indexes=indexes, **options)


def refused(code: str, words: str, declare: Callable[[], object]) -> None:
    with pytest.raises(DeclarationError, match=words) as caught:
        declare()
    assert caught.value.code == code
    assert __file__ in caught.value.place
    assert caught.value.suggestion


def test_a_key_over_an_undeclared_field() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            key = Key("ROOM#{room}", "ROOM")

    refused("K1", "'room'", declare)


def test_an_entity_without_a_key() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id

    refused("K2", "Room has no key", declare)


def test_a_key_with_too_few_parts() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            key = Key("ROOM#{room_id}")

    refused("K2", "a partition and a sort key", declare)


def test_an_index_that_the_table_does_not_have() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            key = Key("ROOM#{room_id}", "ROOM")
            by_name = On("GSI9", "X#{room_id}", "Y")

    refused("K3", "GSI9", declare)


def test_an_optional_field_in_an_index_that_is_not_sparse() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            code: str | None = None
            key = Key("ROOM#{room_id}", "ROOM")
            by_code = On("GSI1", "CODE#{code}", "ROOM")

    refused("K3", "may be missing", declare)


def test_two_entities_with_one_key_shape() -> None:
    table = a_table()

    class Room(Entity, table=table):
        room_id: Id
        key = Key("ROOM#{room_id}", "ROOM")

    def declare() -> None:
        class Chamber(Entity, table=table):
            chamber_id: Id
            key = Key("ROOM#{chamber_id}", "ROOM")

    refused("K4", "Chamber and Room", declare)


def test_a_number_in_a_text_key_without_a_width() -> None:
    def declare() -> None:
        class Step(Entity, table=a_table()):
            room_id: Id
            number: int
            key = Key("ROOM#{room_id}", "STEP#{number}")

    refused("K8", "10 sorts before 9", declare)


def test_text_in_a_numeric_sort_key() -> None:
    def declare() -> None:
        class Event(Entity, table=a_table()):
            event_id: Id
            title: str
            key = Key("EVENT#{event_id}", "EVENT")
            by_time = On("ByTime", "EVENT#{event_id}", "{title}")

    refused("K12", "gives text", declare)


def test_a_list_in_a_key() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            tags: list[str]
            key = Key("ROOM#{tags}", "ROOM")

    refused("K12", "list", declare)


def test_two_versions_on_one_entity() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            a: Annotated[int, Version()] = 0
            b: Annotated[int, Version()] = 0
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E3", "Version on a and b", declare)


def test_a_ttl_on_text() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            until: Annotated[str, Ttl()] = ""
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E3", "Ttl is on", declare)


def test_a_ttl_in_a_table_that_expires_nothing() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            until: Annotated[Timestamp | None, Ttl(days=1)] = None
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E3", "has no TTL attribute", declare)


def test_a_ttl_that_is_stored_in_milliseconds() -> None:
    table = Design("rooms").table("Rooms", ttl="until")

    def declare() -> None:
        class Room(Entity, table=table):
            room_id: Id
            until: Annotated[Timestamp | None, Stored("epoch_ms"), Ttl(days=1)] = None
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E3", "stored in epoch seconds, not as epoch_ms", declare)


def test_two_fields_stored_under_one_name() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            other: Annotated[str, Name("roomId")]
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E2", "'roomId'", declare)


def test_a_field_stored_where_the_type_is() -> None:
    def declare() -> None:
        class Event(Entity, table=a_table()):
            event_id: Id
            type: str
            key = Key("EVENT#{event_id}", "EVENT")

    refused("E2", "uses for the type of an item", declare)


def test_a_type_that_cannot_be_stored() -> None:
    def declare() -> None:
        class Room(Entity, table=a_table()):
            room_id: Id
            what: complex
            key = Key("ROOM#{room_id}", "ROOM")

    refused("E5", "complex", declare)


def test_a_unique_over_an_undeclared_field() -> None:
    def declare() -> None:
        class User(Entity, table=a_table()):
            user_id: Id
            key = Key("USER#{user_id}", "USER")
            one_email = Unique("email")

    refused("K1", "'email'", declare)


def test_a_pointer_with_a_field_that_nothing_fills() -> None:
    table = a_table()

    class Room(Entity, table=table):
        room_id: Id
        key = Key("ROOM#{room_id}", "ROOM")

    def declare() -> None:
        class RoomPointer(Pointer[Room], table=table):
            room_id: Id
            owner: str
            key = Key("OWNER#{owner}", "ROOM#{room_id}")

    refused("E4", "owner would not be copied", declare)


class TestPatterns:
    """A pattern is recorded once, so what it looks at is refused."""

    def setup_method(self) -> None:
        self.table = a_table()
        self.design = self.table.design

        class Room(Entity, table=self.table):
            room_id: Id
            at: Annotated[Timestamp, Stored("epoch_ms")]
            key = Key("ROOM#{room_id}", "ROOM")
            by_time = On("ByTime", "ROOM#{room_id}", "{at:epoch_ms}")

        self.Room = Room

    def test_branching_on_a_parameter(self) -> None:
        def declare() -> None:
            @self.design.pattern()
            def room(room_id: str) -> Any:
                return get(self.Room.key(room_id=room_id if room_id else "none"))

        refused("E1", "reads the value of its parameter 'room_id'", declare)

    def test_returning_no_read(self) -> None:
        def declare() -> None:
            @self.design.pattern()
            def room(room_id: str) -> Any:
                return 7

        refused("E1", "returned int instead of a read", declare)

    def test_a_range_over_a_field_that_is_not_next(self) -> None:
        def declare() -> None:
            @self.design.pattern()
            def rooms(room_id: str, name: str) -> Query[Any]:
                return self.Room.by_time.query(room_id=room_id).after(name=name)

        refused("Q5", "the next sort field is at", declare)

    def test_a_consistent_read_of_an_index(self) -> None:
        def declare() -> None:
            @self.design.pattern()
            def rooms(room_id: str) -> Query[Any]:
                return self.Room.by_time.query(room_id=room_id).consistent()

        refused("X6", "does not support consistent reads", declare)

    def test_a_partition_key_that_is_not_given(self) -> None:
        with pytest.raises(MissingKeyField, match="room_id missing"):
            self.Room.by_time.query()

    def test_two_patterns_of_one_name(self) -> None:
        @self.design.pattern()
        def room(room_id: str) -> Get[Any]:
            return get(self.Room.key(room_id=room_id))

        with pytest.raises(DeclarationError, match="room twice"):
            self.design.pattern(name="room")(room.function)

    def test_a_pattern_is_data(self) -> None:
        @self.design.pattern(requests=1)
        def later(room_id: str, at: datetime, limit: int = 20) -> Query[Any]:
            """Later ones."""
            query = self.Room.by_time.query(room_id=room_id)
            return query.after(at=at).descending().limit(limit)

        described = self.design.schema.patterns[0]
        assert described.name == "later"
        assert described.index == "ByTime"
        assert described.descending
        assert described.limit == 20
        assert described.requests == 1
        assert described.description == "Later ones."
        assert described.condition.low is not None
        assert described.condition.low.parameter == "at"


class Colour(Enum):
    RED = "red"


class Address(BaseModel):
    street: str
    since: datetime | None = None


def test_every_kind_of_field_comes_back_as_it_was() -> None:
    class Thing(Entity, table=a_table()):
        thing_id: Id
        colour: Colour
        price: Decimal
        ratio: float
        count: int
        live: bool
        blob: bytes
        tags: set[str]
        numbers: set[int]
        steps: list[str]
        extra: dict[str, Any]
        address: Address
        at: Timestamp
        seen: Annotated[Timestamp, Stored("epoch_ms")]
        note: str | None = None
        key = Key("THING#{thing_id}", "THING")

    moment = datetime.fromisoformat("2025-05-06T07:08:09.123000+02:00")
    thing = Thing(
        thing_id="1",
        colour=Colour.RED,
        price=Decimal("12.50"),
        ratio=0.25,
        count=-3,
        live=True,
        blob=b"\x00\xff",
        tags={"a", "b"},
        numbers={1, 2},
        steps=["x"],
        extra={"k": 1},
        address=Address(street="Main", since=moment),
        at=moment,
        seen=moment,
    )
    item = Thing.__spec__.encode(thing)
    assert item["seen"] == {"N": "1746508089123"}
    assert item["tags"] == {"SS": ["a", "b"]}
    assert "note" not in item
    assert Thing.__spec__.decode(item) == thing
    assert type(Thing.__spec__.decode(item).extra["k"]) is int
