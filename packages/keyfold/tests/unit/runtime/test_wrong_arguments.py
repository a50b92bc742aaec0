"""What is given in place of an item, an address or a write is refused in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, Any

import pytest

from keyfold import (
    AtMost,
    Counter,
    Db,
    Design,
    Entity,
    Id,
    Key,
    Version,
    append,
    check,
    create,
    update,
)
from keyfold.errors import (
    CursorRefused,
    KeyValueRefused,
    PlanError,
    TableNotFound,
    Undecodable,
    ValueRefused,
)
from keyfold_engine.clients.address import AddressError
from keyfold_engine.clients.boto import BotoClient

design = Design("arguments")
table = design.table("Arguments")


class Order(Entity, table=table):
    order_id: Id
    tags: Annotated[set[str], AtMost(2)] = set()
    lines: Annotated[list[str], AtMost(2)] = []
    weight: float = 0.0
    at: datetime | None = None
    parts: Annotated[int, Counter("Part")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("ORDER#{order_id}", "ORDER")


class Part(Entity, table=table):
    order_id: Id
    number: int
    key = Key("ORDER#{order_id}", "PART#{number:03d}")


class Step(Entity, table=table):
    number: int
    key = Key("STEP", "STEP#{number:03d}")


class Homeless(Entity):
    order_id: Id


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Order(order_id="1"))
        yield opened


def test_items_and_addresses_are_told_from_other_things(db: Db) -> None:
    anything: Any
    for anything in (None, "ORDER#1", {"order_id": "1"}, Order):
        with pytest.raises(PlanError, match="is not an item"):
            db.create(anything)
        with pytest.raises(PlanError, match="is not an item"):
            db.put(anything)
        with pytest.raises(PlanError, match="is not an item"):
            db.put_many([anything])
        with pytest.raises(PlanError, match="neither an item nor its address"):
            db.update(anything, lines=[])
        with pytest.raises(PlanError, match="neither an item nor its address"):
            db.delete(anything)
    for anything in (None, "ORDER#1", Order, Order.key, Order(order_id="1")):
        with pytest.raises(PlanError, match="is not an item address"):
            db.get(anything)
        with pytest.raises(PlanError, match="is not an item address"):
            db.find(anything)
        with pytest.raises(PlanError, match="is not an item address"):
            db.get_many([anything])
        with pytest.raises(PlanError, match="is not an item address"):
            check(anything)
    with pytest.raises(PlanError, match="Homeless is declared without table="):
        db.create(Homeless(order_id="1"))


def test_a_transaction_takes_writes_one_by_one(db: Db) -> None:
    anything: Any
    for anything in (Order(order_id="2"), [create(Order(order_id="2"))], None):
        with pytest.raises(PlanError, match=r"is not a write; give create\(\.\.\.\)"):
            db.transact(anything)
    with pytest.raises(PlanError, match=r"writes Step\(number=1\) twice"):
        db.transact(create(Step(number=1)), create(Step(number=1)))


@pytest.mark.parametrize("field", ["version", "parts"])
def test_what_keyfold_counts_is_not_set_by_hand(db: Db, field: str) -> None:
    changes: dict[str, Any] = {field: 7}
    with pytest.raises(PlanError, match=rf"Order.{field} is a counter"):
        update(Order.key(order_id="1"), **changes)


def test_a_list_or_set_holds_at_most_what_it_declares(db: Db) -> None:
    three = ["a", "b", "c"]
    with pytest.raises(ValueRefused, match=r"Order.tags would hold 3.*AtMost\(2\)") as refused:
        db.create(Order(order_id="2", tags=set(three)))
    assert refused.value.fields == {"tags": "has more than 2 entries"}
    with pytest.raises(ValueRefused, match=r"Order\.lines would hold 3"):
        db.put(Order(order_id="1", lines=three))
    with pytest.raises(ValueRefused, match=r"Order\.lines would hold 3"):
        db.update(Order.key(order_id="1"), lines=three)
    with pytest.raises(ValueRefused, match=r"Order\.lines would hold 3"):
        db.update(Order.key(order_id="1"), lines=append(three))
    assert db.get(Order.key(order_id="1")).lines == []


def test_a_value_that_cannot_be_written_is_named_with_its_field(db: Db) -> None:
    with pytest.raises(ValueRefused, match=r"Order\.weight: DynamoDB cannot store nan"):
        db.create(Order(order_id="2", weight=float("nan")))
    with pytest.raises(PlanError, match=r"Order\.at: .* has no time zone"):
        db.create(Order(order_id="2", at=datetime(2026, 1, 1)))
    with pytest.raises(PlanError, match=r"Order\.at: .* has no time zone"):
        db.update(Order.key(order_id="1"), at=datetime(2026, 1, 1))
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    with pytest.raises(PlanError, match=r"Order\.at: .* is outside the years 1 to 9999"):
        db.create(Order(order_id="2", at=first))
    with pytest.raises(KeyValueRefused, match="Step: number: -1 does not fit"):
        db.create(Step(number=-1))
    with pytest.raises(KeyValueRefused, match="number='x' cannot be written in the format 03d"):
        db.read(Part.key.query(order_id="1").after(number="x"))
    with pytest.raises(KeyValueRefused, match="cannot be written as text"):
        db.find(Order.key(order_id="\ud800"))


def test_a_page_has_a_number_and_a_cursor_is_text(db: Db) -> None:
    size: Any = "5"
    with pytest.raises(PlanError, match="limit must be a whole number of at least 1, not '5'"):
        db.read(Part.key.query(order_id="1").limit(size))
    cursor: Any = 5
    with pytest.raises(CursorRefused):
        db.read(Part.key.query(order_id="1"), cursor=cursor)


def test_a_batch_takes_each_item_once(db: Db) -> None:
    with pytest.raises(PlanError, match=r"put_many was given Step\(number=1\) twice"):
        db.put_many([Step(number=1), Step(number=2), Step(number=1)])
    with pytest.raises(PlanError, match="delete_many was given"):
        db.delete_many([Step(number=1).ref()] * 2)


def test_a_request_that_cannot_be_remembered_is_refused_before_its_work(db: Db) -> None:
    def work() -> int:
        raise AssertionError("the work was done")

    with pytest.raises(PlanError, match="at most 2043 bytes"):
        db.once("x" * 3000, work, result=int)
    with pytest.raises(PlanError, match="the payload of a request cannot be compared"):
        db.once("request", work, result=int, payload=object())


def test_a_path_is_an_address(tmp_path: Path) -> None:
    with design.open(tmp_path / "orders.db") as db:
        db.create(Order(order_id="1"))
    with design.open(str(tmp_path / "orders.db")) as db:
        assert db.find(Order.key(order_id="1")) is not None


def test_a_session_of_boto3_is_a_backend() -> None:
    boto3 = pytest.importorskip("boto3")
    session = boto3.Session("id", "secret", region_name="eu-west-1")
    with design.open(session) as db:
        assert isinstance(db.client, BotoClient)
    with pytest.raises(AddressError, match="not an address, a boto3 session"):
        design.open(None)


async def no_tables() -> None:
    async with await design.open_async(":memory:", create_tables=False) as db:
        await db.create(Step(number=1))


def test_a_table_that_is_not_there_is_named_with_what_to_do() -> None:
    words = r"Requested resource not found: Arguments\. Create the tables with db\.create_t"
    with design.open(":memory:", create_tables=False) as db:
        with pytest.raises(TableNotFound, match=words):
            db.create(Order(order_id="1"))
        with pytest.raises(TableNotFound, match=words):
            db.transact(create(Step(number=1)), create(Step(number=2)))
        with pytest.raises(TableNotFound, match=words):
            db.get_many([Step(number=1).ref()])
    with pytest.raises(TableNotFound, match=words):
        asyncio.run(no_tables())


def test_an_item_of_another_shape_is_named_with_its_attribute(db: Db) -> None:
    key = Order.key(order_id="1").wire()
    item = {**key, "orderId": {"S": "1"}, "weight": {"S": "heavy"}}
    db.client.call("PutItem", {"TableName": "Arguments", "Item": item})
    with pytest.raises(Undecodable, match=r"the attribute weight is .*heavy.*, not float"):
        db.get(Order.key(order_id="1"))
