"""Counted and added numbers are exact, as DynamoDB's own sums are: 38 digits, no binary rest."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

import pytest

from keyfold import Counter, Db, Design, Entity, Id, Key, Unique, add, create, update
from keyfold.errors import UniqueTaken
from keyfold.maintain import repair, verify
from keyfold.runtime.changes import total

design = Design("exact")
table = design.table("exact")


class Sale(Entity, table=table):
    shop_id: Id
    sale_id: Id
    price: float = 0.0
    exactly: Decimal = Decimal(0)
    key = Key("SHOP#{shop_id}", "SALE#{sale_id}")


class Shop(Entity, table=table):
    shop_id: Id
    earned: Annotated[float, Counter("Sale", sums="price")] = 0.0
    exact: Annotated[Decimal, Counter("Sale", sums="exactly")] = Decimal(0)
    balance: Decimal = Decimal(0)
    key = Key("SHOP#{shop_id}", "SHOP")


class Ticket(Entity, table=table):
    ticket_id: Id
    number: Decimal
    key = Key("TICKET#{ticket_id}", "TICKET")
    one_of_each = Unique("number")


LONG = Decimal("12345678901234567890123456789012345678")
SHORTER = Decimal("12345678901234567890123456789012345677")
SHOP = Shop.key(shop_id="s")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as db:
        db.create(Shop(shop_id="s"))
        yield db


def test_ten_tenths_are_one_for_writes_verify_and_repair(db: Db) -> None:
    for number in range(10):
        db.create(Sale(shop_id="s", sale_id=str(number), price=0.1))
    assert db.get(SHOP).earned == 1.0
    report = verify(db)
    assert report.clean, report.drifts
    db.client.call(
        "UpdateItem",
        {
            "TableName": "exact",
            "Key": SHOP.wire(),
            "UpdateExpression": "SET earned = :e",
            "ExpressionAttributeValues": {":e": {"N": "7"}},
        },
    )
    repair(db, verify(db))
    assert db.get(SHOP).earned == 1.0
    assert verify(db).clean


def test_several_sales_of_one_transaction_are_added_exactly(db: Db) -> None:
    db.transact(*(create(Sale(shop_id="s", sale_id=str(n), price=0.1)) for n in range(3)))
    assert db.get(SHOP).earned == 0.3
    assert verify(db).clean


def test_a_changed_price_is_the_exact_difference(db: Db) -> None:
    sale = db.create(Sale(shop_id="s", sale_id="1", price=0.1))
    db.update(sale, price=0.3)
    assert db.get(SHOP).earned == 0.3
    assert verify(db).clean


def test_a_float_that_cannot_show_all_digits_of_its_sum_is_no_drift(db: Db) -> None:
    for number, price in enumerate((1e17, 0.25, 0.25)):
        db.create(Sale(shop_id="s", sale_id=str(number), price=price))
    assert verify(db).clean


def test_numbers_of_38_digits_are_counted_changed_and_taken_back_exactly(db: Db) -> None:
    sale = db.create(Sale(shop_id="s", sale_id="1", exactly=LONG))
    assert db.get(SHOP).exact == LONG
    assert verify(db).clean
    db.update(sale, exactly=SHORTER)
    assert db.get(SHOP).exact == SHORTER
    db.delete(sale)
    assert db.get(SHOP).exact == 0
    assert verify(db).clean


def test_two_additions_of_one_transaction_keep_all_digits(db: Db) -> None:
    db.transact(
        update(SHOP, balance=add(Decimal("1e29"))),
        update(SHOP, balance=add(Decimal(1))),
    )
    assert db.get(SHOP).balance == Decimal("100000000000000000000000000001")


def test_long_decimals_that_differ_in_the_last_digit_are_two_unique_values(db: Db) -> None:
    for number in (LONG, SHORTER):
        db.create(Ticket(ticket_id=str(number), number=number))
    with pytest.raises(UniqueTaken):
        db.create(Ticket(ticket_id="again", number=LONG))
    assert verify(db).clean


def test_a_long_sum_that_is_wrong_is_repaired_to_its_last_digit(db: Db) -> None:
    db.create(Sale(shop_id="s", sale_id="1", exactly=LONG))
    db.client.call(
        "UpdateItem",
        {
            "TableName": "exact",
            "Key": SHOP.wire(),
            "UpdateExpression": "SET exact = :e",
            "ExpressionAttributeValues": {":e": {"N": str(SHORTER)}},
        },
    )
    (drift,) = verify(db).drifts
    assert (drift.expected, drift.found) == (LONG, SHORTER)
    repair(db, verify(db))
    assert db.get(SHOP).exact == LONG
    assert verify(db).clean


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [(1, 2, int), (1, Decimal(2), Decimal), (0.1, 2, float), (Decimal(1), 0.2, float)],
)
def test_a_sum_is_of_the_kind_of_its_field(one: Any, other: Any, kind: type) -> None:
    assert type(total(one, other)) is kind
