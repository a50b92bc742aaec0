"""The signature of an access pattern agrees with its plan, and calls agree with the signature."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel

from keyfold import (
    Count,
    Db,
    Design,
    Entity,
    First,
    Get,
    GetMany,
    Id,
    Key,
    Merge,
    On,
    Projected,
    Query,
    collection,
    each,
    get,
    get_many,
    merge,
)
from keyfold.errors import DeclarationError, PlanError

if TYPE_CHECKING:
    from datetime import datetime as Moment

design = Design("signatures")
table = design.table("Signatures")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Room(Entity, table=table):
    room_id: Id
    at: datetime
    size: int = 0
    key = Key("ROOM#{room_id}", "AT#{at}")


class Seat(Entity, table=table):
    room_id: Id
    seat_id: UUID
    key = Key("SEAT#{room_id}", "SEAT#{seat_id}")


class Sizes(BaseModel):
    size: int


class Floor(StrEnum):
    GROUND = "ground"


class Name(str):
    pass


@design.pattern()
def rooms(room_id: str, at: datetime, limit: int = 5) -> Query[Room]:
    return Room.key.query(room_id=room_id).since(at=at).limit(limit)


@design.pattern()
def many(room_ids: list[str]) -> Merge[Room]:
    return merge(Room.key.query(room_id=each(room_ids)))


@design.pattern()
def seat(room_id: str, seat_id: str) -> Get[Seat]:
    return get(Seat.key(room_id=room_id, seat_id=seat_id))


@design.pattern()
def larger(room_id: str, least: int, floor: Floor | None = None) -> Query[Room]:
    found = Room.key.query(room_id=room_id)
    return found.where(lambda room: (room.size > least) | (room.room_id == floor))


untyped: dict[str, Any] = {"rooms": rooms, "many": many, "larger": larger}


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def other_entity(room_id: str) -> Query[Room]:
    return Seat.key.query(room_id=room_id)  # type: ignore[return-value]


def other_kind(room_id: str) -> First[Room]:
    return Room.key.query(room_id=room_id)  # type: ignore[return-value]


def other_model(room_id: str) -> Projected[Room]:
    return Room.key.query(room_id=room_id).only(Sizes)  # type: ignore[arg-type]


def other_member(room_id: str) -> GetMany[Room]:
    return get_many(Seat.key(room_id=room_id, seat_id="1"))  # type: ignore[arg-type]


def other_merged(room_id: str) -> Merge[Room]:
    found = Seat.key.query(room_id=room_id)
    return merge(Room.key.query(room_id=room_id), found)


def no_read(room_id: str) -> list[Room]:
    return Room.key.query(room_id=room_id)  # type: ignore[return-value]


def nothing(room_id: str) -> None:
    return Room.key.query(room_id=room_id)  # type: ignore[return-value]


def unsaid(room_id: str):  # type: ignore[no-untyped-def]
    return Room.key.query(room_id=room_id)


def unused(room_id: str, floor: str) -> Query[Room]:
    return Room.key.query(room_id=room_id)


def text_limit(room_id: str, limit: str = "x") -> Query[Room]:
    return Room.key.query(room_id=room_id).limit(limit)  # type: ignore[arg-type]


def default_limit(room_id: str, limit: int = 0) -> Query[Room]:
    return Room.key.query(room_id=room_id).limit(limit)


def default_text(room_id: str = 5) -> Query[Room]:  # type: ignore[assignment]
    return Room.key.query(room_id=room_id)


def several(*room_ids: str) -> Merge[Room]:
    return merge(Room.key.query(room_id=each(room_ids)))


@pytest.mark.parametrize(
    ("function", "says", "suggests"),
    [
        (other_entity, r"returns Query\[Room\], but it returns Query\[Seat\]", "-> Query[Seat]"),
        (other_kind, r"returns First\[Room\], but it returns Query\[Room\]", "-> Query[Room]"),
        (other_model, r"but it returns Projected\[Sizes\]", "-> Projected[Sizes]"),
        (other_member, r"but it returns GetMany\[Seat\]", "-> GetMany[Seat]"),
        (other_merged, r"but it returns Merge\[Room \| Seat\]", "-> Merge[Room | Seat]"),
        (no_read, r"returns list\[Room\], but it returns Query\[Room\]", "-> Query[Room]"),
        (nothing, r"returns None, but it returns Query\[Room\]", "-> Query[Room]"),
        (unsaid, "does not say what it returns", "-> Query[Room]"),
        (unused, "parameter 'floor' is not used", "take it out"),
        (text_limit, "limit 'limit' is of type str", "limit: int"),
        (default_limit, "limit 'limit' is 0 by default", "at least 1"),
        (default_text, "'room_id' is of type str, but 5 by default", "the default"),
        (several, "parameter 'room_ids' cannot be given by name", "list[str]"),
    ],
)
def test_a_signature_that_contradicts_the_plan_is_refused(
    function: Callable[..., Any], says: str, suggests: str
) -> None:
    with pytest.raises(DeclarationError, match=says) as refused:
        Design("wrong").pattern()(function)
    assert refused.value.code == "E8"
    assert suggests in refused.value.suggestion
    assert f"test_pattern_signature.py:{refused.traceback[0].lineno + 1}" in refused.value.place
    assert f"pattern {function.__name__}" in refused.value.place


@pytest.mark.parametrize("requests", ["one", 0, -1, True, 1.5])
def test_a_budget_is_a_whole_number_of_at_least_1(requests: Any) -> None:
    with pytest.raises(DeclarationError, match=f"its budget is {requests!r} requests") as refused:
        Design("wrong").pattern(requests=requests)(rooms.function)
    assert refused.value.code == "E8"


def bare(room_id: str) -> Query:  # type: ignore[type-arg]
    return Room.key.query(room_id=room_id)


def of_anything(room_id: str) -> Query[Any]:
    return Room.key.query(room_id=room_id)


def of_a_base(room_id: str) -> Query[Entity]:
    return Room.key.query(room_id=room_id)  # type: ignore[return-value]


def of_either(room_id: str) -> Count[Room] | Query[Room]:
    return Room.key.query(room_id=room_id).count()


def for_checkers_only(room_id: str, at: Moment) -> Query[Room]:
    return Room.key.query(room_id=room_id).since(at=at)


def filtered(room_id: str, least: int) -> Query[Room]:
    return Room.key.query(room_id=room_id).where(lambda room: room.size > least + 1)


@pytest.mark.parametrize(
    "function",
    [
        bare,
        of_anything,
        of_a_base,
        of_either,
        for_checkers_only,
        filtered,
        lambda room_id: collection(Room, room_id=room_id),
    ],
)
def test_a_signature_may_say_less_than_the_plan(function: Callable[..., Any]) -> None:
    assert Design("right").pattern()(function).read


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda db: untyped["rooms"](db, ["a"], NOON), r"rooms: room_id must be str, not \['a'\]"),
        (lambda db: untyped["rooms"](db, 5, NOON), "rooms: room_id must be str, not 5"),
        (lambda db: untyped["rooms"](db, None, NOON), "rooms: room_id must be str, not None"),
        (lambda db: untyped["rooms"](db, "a", None), "rooms: at must be datetime, not None"),
        (lambda db: untyped["rooms"](db, "a", "2026"), "rooms: at must be datetime, not '2026'"),
        (lambda db: untyped["rooms"].pages(db, ["a"], NOON), "rooms: room_id must be str"),
        (lambda db: untyped["many"](db, "abc"), r"many: room_ids must be list\[str\], not 'abc'"),
        (lambda db: untyped["many"](db, 5), r"many: room_ids must be list\[str\], not 5"),
        (lambda db: untyped["larger"](db, "a", "1"), "larger: least must be int, not '1'"),
        (
            lambda db: untyped["larger"](db, "a", 1, 2),
            r"larger: floor must be Floor \| None, not 2",
        ),
        (lambda db: untyped["rooms"](db, "a", NOON, "x"), "limit must be a whole number"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    db: Db, call: Callable[[Any], object], says: str
) -> None:
    with pytest.raises(PlanError, match=says):
        call(db)


def test_arguments_are_of_a_subclass_of_the_fields_own_type_or_another_collection(db: Db) -> None:
    any_call: Any = rooms
    kept = db.create(Room(room_id="ground", at=NOON))
    for room_id in ("ground", Floor.GROUND, Name("ground")):
        assert any_call(db, room_id, NOON).items == [kept]
    one = db.create(Seat(room_id="ground", seat_id=uuid4()))
    taken: Any = seat
    assert taken(db, "ground", one.seat_id) == taken(db, "ground", str(one.seat_id)) == one
    several: Any = many
    for room_ids in (["ground"], ("ground",), {"ground"}, iter(["ground"]), {"ground": 1}):
        assert several(db, room_ids).items == [kept]
    compared: Any = larger
    assert compared(db, "ground", -1, "ground").items == [kept]


@pytest.mark.parametrize("given", ["ada", None, design])
def test_a_call_without_the_open_design_says_so(given: Any) -> None:
    with pytest.raises(PlanError, match=r"rooms: the first argument is the open design, not") as no:
        rooms(given, "a", NOON)
    assert "rooms(db, room_id, at, limit)" in str(no.value)
    forgotten: Any = rooms
    with pytest.raises(PlanError, match="the first argument is the open design"):
        forgotten("ada")
    with pytest.raises(PlanError, match=r"call rooms\.pages\(db, "):
        forgotten.pages("ada")


def test_an_async_design_checks_arguments_too() -> None:
    async def read() -> None:
        async with await design.open_async(":memory:") as db:
            call: Any = rooms
            assert (await call(db, "a", NOON)).items == []
            with pytest.raises(PlanError, match="room_id must be str"):
                await call(db, ["a"], NOON)

    asyncio.run(read())


@pytest.mark.parametrize(
    ("call", "says", "suggests"),
    [
        (lambda: design.pattern(request=1), "'request'; it takes name", "pattern(requests=1)"),  # type: ignore[call-arg]
        (lambda: design.pattern(rooms), "too many positional", "@design.pattern(requests=1)"),  # type: ignore[call-arg, arg-type]
        (lambda: design.table("Other", index=[]), "'index'; it takes name", "indexes=[Index("),  # type: ignore[call-arg]
        (lambda: Key("A", "B", "C"), "too many positional", "one for the sort key"),  # type: ignore[call-arg, arg-type]
        (lambda: On("A", "B", "C", "D"), "too many positional", 'On("GSI1"'),  # type: ignore[call-arg]
    ],
)
def test_an_argument_that_a_declaration_does_not_take_is_refused_with_its_place(
    call: Callable[[], object], says: str, suggests: str
) -> None:
    with pytest.raises(DeclarationError, match=says) as refused:
        call()
    assert refused.value.code == "E9"
    assert suggests in refused.value.suggestion
    assert "test_pattern_signature.py:" in refused.value.place
