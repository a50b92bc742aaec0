"""Nothing is written that could not be read back, and what is told is what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationInfo, field_validator, model_validator

from keyfold import (
    AtMost,
    Created,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Stored,
    Timestamp,
    Updated,
    Version,
    add,
    append,
    create,
    put,
    remove,
    update,
)
from keyfold.errors import IdempotentParameterMismatch, ValueRefused, VersionConflict
from keyfold_engine.clock import ManualClock

design = Design("readable")
table = design.table("readable", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])
AT = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


class Window(Entity, table=table):
    window_id: Id
    lo: int = 0
    hi: int = 10
    key = Key("WINDOW#{window_id}", "WINDOW")

    @model_validator(mode="after")
    def _ordered(self) -> Window:
        if self.lo > self.hi:
            raise ValueError("lo must not exceed hi")
        return self


class Locked(Window, table=table):
    version: Annotated[int, Version()] = 0
    key = Key("LOCKED#{window_id}", "LOCKED")


class Ranged(Entity, table=table):
    ranged_id: Id
    low: int = 0
    high: int = 9
    note: str = ""
    key = Key("RANGED#{ranged_id}", "RANGED")

    @field_validator("high")
    @classmethod
    def _above(cls, value: int, info: ValidationInfo) -> int:
        if info.data.get("low", 0) > value:
            raise ValueError("high is below low")
        return value

    @field_validator("note")
    @classmethod
    def _short(cls, value: str) -> str:
        return value.strip()


class Stock(Entity, table=table):
    stock_id: Id
    amount: Annotated[int, Field(ge=0)] = 0
    weight: float = 0.0
    price: Decimal = Decimal(0)
    code: str = "A"
    note: str = ""
    tags: Annotated[set[str], AtMost(3)] = set()
    log: Annotated[list[str], AtMost(3)] = []
    key = Key("STOCK#{stock_id}", "STOCK")

    @field_validator("code")
    @classmethod
    def _upper(cls, value: str) -> str:
        if not value.isupper():
            raise ValueError("must be upper case")
        return value

    @field_validator("note")
    @classmethod
    def _fits(cls, value: str, info: ValidationInfo) -> str:
        if len(value) > 3 and info.data.get("code") == "SHORT":
            raise ValueError("must be short")
        return value


class Bag(Entity, table=table):
    bag_id: Id
    coins: Annotated[int, Field(ge=0, lt=100)] = 0
    tags: Annotated[set[str], AtMost(3)] = set()
    log: Annotated[list[str], AtMost(3)] = []
    key = Key("BAG#{bag_id}", "BAG")


class Visit(Entity, table=table):
    visit_id: Id
    at: Annotated[Timestamp, Stored("epoch_ms")]
    until: Annotated[Timestamp | None, Stored("iso_s")] = None
    made_at: Annotated[Timestamp | None, Created(), Stored("iso_ms")] = None
    changed_at: Annotated[Timestamp | None, Updated(), Stored("epoch")] = None
    key = Key("VISIT#{visit_id}", "{at:iso}")
    by_end = On("GSI1", "VISITS", "{until:iso}", when="until")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        yield handle


def items(db: Db) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = db.client.call("Scan", {"TableName": "readable"})["Items"]
    return found


@pytest.mark.parametrize("kind", [Window, Locked])
def test_an_update_that_breaks_a_validator_writes_nothing(db: Db, kind: type[Window]) -> None:
    made = db.create(kind(window_id="w", hi=3))
    before = items(db)
    for write in (
        lambda: db.update(made.ref(), lo=5),
        lambda: db.update(made, lo=5),
        lambda: db.transact(update(made.ref(), lo=5)),
        lambda: db.transact(update(made.ref(), lo=5), put(Stock(stock_id="s"))),
        lambda: db.put(made.model_copy(update={"lo": 5})),
        lambda: db.create(kind.model_construct(window_id="v", lo=5, hi=3, version=0)),
        lambda: db.put_many([kind.model_construct(window_id="v", lo=5, hi=3, version=0)]),
        lambda: db.update(made.ref(), lo=add(5)),
    ):
        with pytest.raises(ValueRefused, match="lo must not exceed hi"):
            write()
    assert items(db) == before
    assert db.update(made.ref(), lo=5, hi=7).lo == 5


@pytest.mark.parametrize("kind", [Window, Locked])
def test_what_a_validator_saw_is_guarded(db: Db, kind: type[Window]) -> None:
    """Two changes, each right by itself, are not right together: the later one looks again."""
    made = db.create(kind(window_id="w", lo=0, hi=10))
    call = db.client.call
    raced: list[int] = []

    def between(operation: str, request: Any) -> Any:
        if operation == "UpdateItem" and not raced:
            raced.append(1)
            db.update(made.ref(), hi=4)
        return call(operation, request)

    db.client.call = between  # type: ignore[method-assign]
    with pytest.raises(ValueRefused, match="lo must not exceed hi"):
        db.update(made.ref(), lo=5)
    assert (db.get(made.ref()).lo, db.get(made.ref()).hi) == (0, 4)


def test_an_item_that_was_made_up_does_not_pass_for_the_stored_one(db: Db) -> None:
    made = db.create(Locked(window_id="w", hi=3))
    with pytest.raises(VersionConflict):
        db.update(made.model_copy(update={"hi": 100}), lo=50)
    assert db.get(made.ref()) == made


def test_validators_of_fields_hold_in_updates(db: Db) -> None:
    made = db.create(Stock(stock_id="s"))
    for changes in ({"code": "b"}, {"amount": add(-1)}, {"note": "long", "code": "SHORT"}):
        with pytest.raises(ValueRefused):
            db.update(made.ref(), **changes)
    db.update(made.ref(), note="long")
    with pytest.raises(ValueRefused, match=r"note: .*must be short"):
        db.update(made.ref(), code="SHORT")
    assert db.update(made.ref(), amount=add(5)).amount == 5
    assert db.update(made.ref(), amount=add(-5)).amount == 0


def test_what_a_field_holds_at_most_is_held_by_adds(db: Db) -> None:
    made = db.create(Stock(stock_id="s", tags={"a", "b"}, log=["1", "2"]))
    assert db.update(made.ref(), tags=add({"c"}), log=append(["3"])).tags == {"a", "b", "c"}
    for changes in ({"tags": add({"d"})}, {"log": append(["4"])}, {"tags": add({"a", "d"})}):
        with pytest.raises(ValueRefused, match=r"AtMost\(3\)"):
            db.update(made.ref(), **changes)
        with pytest.raises(ValueRefused, match=r"AtMost\(3\)"):
            db.transact(update(made.ref(), **changes), put(Window(window_id="w")))
    assert db.update(made.ref(), tags=add({"a"})).tags == {"a", "b", "c"}
    assert db.update(made.ref(), tags=add({"a", "b"})).tags == {"a", "b", "c"}
    assert db.update(made.ref(), tags=remove({"a"})).tags == {"b", "c"}


def test_operations_within_bounds_stay_one_request(db: Db) -> None:
    made = db.create(Bag(bag_id="b"))
    with db.work("add") as work:
        db.update(made.ref(), tags=add({"d"}))
        db.update(made.ref(), log=append(["1", "2"]))
        assert db.update(made.ref(), coins=add(99)).coins == 99
        for amount in (1, -100):
            with pytest.raises(ValueRefused, match="coins: Input should be"):
                db.update(made.ref(), coins=add(amount))
        with pytest.raises(ValueRefused, match=r"AtMost\(3\)"):
            db.update(made.ref(), log=append(["3", "4"]))
    assert work.total.requests == 3, "what is refused has no answer to count"
    assert db.get(made.ref()) == Bag(bag_id="b", coins=99, tags={"d"}, log=["1", "2"])


def test_what_is_told_is_what_is_stored(db: Db) -> None:
    given = Visit(visit_id="v", at=AT, until=AT + timedelta(hours=1))
    made = db.create(given)
    assert made == db.get(made.ref()) == db.get(given.ref())
    assert made.at.microsecond == 123000
    assert Visit.__spec__.encode(made) == items(db)[0]
    for until in (AT, AT + timedelta(days=1, microseconds=7)):
        changed = db.update(made.ref(), until=until)
        assert changed == db.get(made.ref())
        assert Visit.__spec__.encode(changed) == items(db)[0]
        changed = db.transact(update(changed, until=until), put(Window(window_id="w")))[0]
        assert changed is None or changed == db.get(made.ref())
    put_again = db.put(given.model_copy(update={"until": None}))
    assert put_again == db.get(made.ref())
    [visit] = [item for item in items(db) if item["type"]["S"] == "Visit"]
    assert Visit.__spec__.encode(put_again) == visit


def test_a_transaction_tells_the_time_of_the_update_that_it_wrote() -> None:
    clock = ManualClock(1_900_000_000)
    with design.open(":memory:", clock=clock) as db:
        made = db.create(Visit(visit_id="v", at=AT))
        clock.advance(60)
        changed, _ = db.transact(update(made, until=AT), put(Window(window_id="w")))
        assert changed == db.get(made.ref())
        assert changed.changed_at == datetime.fromtimestamp(1_900_000_060, UTC)


def test_a_validator_that_sees_other_fields_is_asked_when_these_change(db: Db) -> None:
    made = db.create(Ranged(ranged_id="r"))
    with pytest.raises(ValueRefused, match="high is below low"):
        db.update(made.ref(), low=10)
    assert db.update(made.ref(), low=9, note=" n ") == db.get(made.ref())
    assert db.get(made.ref()).note == "n"


def test_a_moved_item_says_when_it_was_moved() -> None:
    clock = ManualClock(1_900_000_000)
    with design.open(":memory:", clock=clock) as db:
        made = db.create(Visit(visit_id="v", at=AT))
        clock.advance(60)
        moved = db.move(made, visit_id="w")
        assert moved == db.get(moved.ref())
        assert (moved.made_at, moved.changed_at) == (
            made.made_at,
            datetime.fromtimestamp(1_900_000_060, UTC),
        )


def test_a_token_makes_an_equal_second_attempt_an_answer_and_refuses_another(db: Db) -> None:
    first, second = (Window(window_id=name) for name in ("first", "second"))
    for _ in range(3):
        db.transact(create(first), create(second), token="t")
    assert len(items(db)) == 2
    with pytest.raises(IdempotentParameterMismatch):
        db.transact(create(first), create(Window(window_id="third")), token="t")


def test_sums_are_those_of_the_table(db: Db) -> None:
    made = db.create(Locked(window_id="w"))
    stock = db.create(Stock(stock_id="s", weight=0.1, price=Decimal("1E27"), code="B"))
    told = db.transact(
        update(stock.ref(), weight=add(0.2), price=add(Decimal("0.01")), code="C"),
        update(made, hi=11),
    )[0]
    assert told == db.get(stock.ref())
    assert (told.weight, told.price) == (0.3, Decimal("1000000000000000000000000000.01"))
