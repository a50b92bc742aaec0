"""Changes inside an item: nested paths, map entries, list places, sizes, copies, upserts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, model_validator

from keyfold import (
    AtMost,
    Counter,
    Created,
    Db,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Timestamp,
    Unique,
    Version,
    add,
    create,
    set_if_absent,
    update,
    upsert,
)
from keyfold.conditions import at, size
from keyfold.design.file import dumps, loads
from keyfold.errors import (
    ConditionFailed,
    DeclarationError,
    KeyfoldError,
    PlanError,
    UniqueTaken,
    ValueRefused,
)

design = Design("inside")
table = design.table("inside", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Address(BaseModel):
    street: str
    city: Annotated[str, Field(min_length=2)]
    visits: int = 0


class Span(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Line(BaseModel):
    sku: str
    count: int = 1


class Order(Entity, table=table):
    order_id: Id
    address: Address | None = None
    prices: dict[str, int] = {}
    notes: list[str] = []
    lines: list[Line] = []
    span: Span = Span(low=1, high=3)
    few: Annotated[list[str], AtMost(2)] = []
    real: int = 5
    shown: int = 0
    tags: set[str] = set()
    key = Key("ORDER#{order_id}", "ORDER")


class Shop(Entity, table=table):
    shop_id: Id
    address: Address
    version: Annotated[int, Version()] = 0
    created_at: Annotated[Timestamp | None, Created()] = None
    email: str = "none"
    visits: int = 0
    notes: list[str] = []
    orders: Annotated[int, Counter("Sale")] = 0
    key = Key("SHOP#{shop_id}", "SHOP")
    by_city = On("GSI1", "CITY#{address.city}", "{shop_id}")
    one_email = Unique("email")


class Sale(Entity, table=table):
    shop_id: Id
    sale_id: Id
    key = Key("SALE#{shop_id}", "{sale_id}")


class Tally(Entity, table=table):
    tally_id: Id
    count: Annotated[int, Field(ge=0)] = 0
    label: str = "none"
    key = Key("TALLY#{tally_id}", "TALLY")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


OSLO = Address(street="A 1", city="Oslo")


def sent(db: Db, work: Any) -> int:
    with db.work("count") as counted:
        work()
    return sum(one.requests for one in counted.usage.values())


def test_a_place_inside_a_model_changes_in_one_request_and_the_rest_stays(db: Db) -> None:
    order = db.create(Order(order_id="1", address=OSLO))
    assert order.address is not None
    count = sent(
        db,
        lambda: db.update(
            order.ref(),
            at.set(lambda o: o.address.city, "Rome"),  # type: ignore[union-attr]
            at.add(lambda o: o.address.visits, 2),  # type: ignore[union-attr]
        ),
    )
    assert count == 1
    assert db.get(order.ref()).address == Address(street="A 1", city="Rome", visits=2)


def test_map_entries_and_list_places(db: Db) -> None:
    order = db.create(
        Order(order_id="1", prices={"a": 1, "b": 2}, notes=["x", "y", "z"], lines=[Line(sku="s")])
    )
    changed = db.update(
        order,
        at.set(lambda o: o.prices["c"], 3),
        at.add(lambda o: o.prices["a"], 10),
        at.remove(lambda o: o.prices["b"]),
        at.set_if_absent(lambda o: o.prices["d"], 4),
        at.remove(lambda o: o.notes[0]),
        at.set(lambda o: o.notes[2], "Z"),
        at.add(lambda o: o.lines[0].count, 1),
    )
    assert changed.prices == {"a": 11, "c": 3, "d": 4}
    assert changed.notes == ["y", "Z"]
    assert changed.lines == [Line(sku="s", count=2)]
    again = db.update(changed, at.set_if_absent(lambda o: o.prices["d"], 9))
    assert again.prices["d"] == 4


def test_what_is_said_of_the_new_item_is_what_is_stored(db: Db) -> None:
    """Within a transaction nothing is returned: the item is reckoned."""
    order = db.create(Order(order_id="1", prices={"a": 1}, notes=["x", "y"], address=OSLO))
    changed, _ = db.transact(
        update(
            order,
            at.add(lambda o: o.prices["a"], 4),
            at.remove(lambda o: o.notes[1]),
            at.set(lambda o: o.notes[0], "w"),
            at.set(lambda o: o.address.city, "Rome"),  # type: ignore[union-attr]
        ),
        create(Order(order_id="2")),
    )
    assert changed == db.get(order.ref())


def test_a_place_inside_nothing_is_refused_in_words(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    with pytest.raises((ConditionFailed, ValueRefused), match="address"):
        db.update(order.ref(), at.set(lambda o: o.address.city, "Rome"))  # type: ignore[union-attr]


def test_values_are_checked_by_the_type_of_their_place(db: Db) -> None:
    wrong: Any = "many"
    order = db.create(Order(order_id="1", address=OSLO))
    with pytest.raises(ValueRefused, match=r"Order\.address\.city='x' is refused"):
        db.update(order, at.set(lambda o: o.address.city, "x"))  # type: ignore[union-attr]
    with pytest.raises(ValueRefused, match="prices"):
        db.update(order, at.set(lambda o: o.prices["a"], wrong))
    with pytest.raises(DeclarationError, match=r"compares prices\.a with 'many'"):
        db.update(order, real=1, where=lambda o: o.prices["a"] == wrong)
    with pytest.raises(DeclarationError, match="town"):
        db.update(order, at.set(lambda o: o.address.town, "x"))  # type: ignore[union-attr]
    with pytest.raises(PlanError, match="primary key"):
        db.update(order, at.set(lambda o: o.order_id, "2"))
    with pytest.raises(PlanError, match="by name and by at"):
        db.update(order, at.set(lambda o: o.prices["a"], 1), prices={})
    with pytest.raises(PlanError, match="changes by name"):
        db.update(order, "title")  # type: ignore[arg-type]


def test_models_with_validators_are_read_and_guarded(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    with pytest.raises(ValueRefused, match="low is above high"):
        db.update(order.ref(), at.set(lambda o: o.span.low, 7))
    assert db.update(order.ref(), at.set(lambda o: o.span.low, 2)).span == Span(low=2, high=3)
    with pytest.raises(ValueRefused, match="AtMost"):
        db.update(db.update(order.ref(), few=["a", "b"]), at.set(lambda o: o.few[2], "c"))


def test_a_value_comes_from_another_field_at_the_moment_of_the_write(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    db.update(order.ref(), real=8)
    assert db.update(order, at.copy(lambda o: o.shown, lambda o: o.real)).shown == 8

    def copy() -> None:
        db.update(order.ref(), at.copy(lambda o: o.prices["a"], lambda o: o.real, plus=2))

    assert sent(db, copy) == 1
    assert db.get(order.ref()).prices == {"a": 10}
    with pytest.raises(PlanError, match="not of the type"):
        db.update(order, at.copy(lambda o: o.shown, lambda o: o.notes))


def test_a_value_comes_from_a_place_of_a_list_or_from_nothing(db: Db) -> None:
    shop = db.create(Shop(shop_id="s", address=OSLO))
    moved = db.update(shop, at.copy(lambda s: s.visits, lambda s: s.address.visits, plus=3))
    assert moved.visits == 3
    noted = db.update(moved, notes=["first@x", "second@x"])
    known = db.update(noted, at.copy(lambda s: s.email, lambda s: s.notes[1]))
    assert known.email == db.get(shop.ref()).email == "second@x"
    with pytest.raises(KeyfoldError):
        db.update(known, at.copy(lambda s: s.email, lambda s: s.notes[2]))
    order = db.create(Order(order_id="1", notes=["a", "b"], lines=[Line(sku="x", count=4)]))
    db.update(order, at.copy(lambda o: o.real, lambda o: o.lines[0].count))
    second = db.update(order.ref(), at.copy(lambda o: o.few, lambda o: o.notes))
    assert (second.real, second.few) == (4, ["a", "b"])
    with pytest.raises(KeyfoldError):
        db.update(order.ref(), at.copy(lambda o: o.real, lambda o: o.lines[1].count))
    assert db.get(order.ref()).real == 4


def test_an_index_follows_a_place_inside(db: Db) -> None:
    shop = db.create(Shop(shop_id="s", address=OSLO))
    moved = db.update(shop, at.set(lambda s: s.address.city, "Rome"))
    assert moved.version == 2
    assert db.read(Shop.by_city.query(address_city="Rome")).items == [moved]
    assert db.read(Shop.by_city.query(address_city="Oslo")).items == []


def test_sizes_are_conditions_and_filters(db: Db) -> None:
    order = db.create(Order(order_id="1", tags={"a", "b"}, notes=["x"]))
    assert db.update(order, real=1, where=lambda o: size(o.tags) == 2).real == 1
    with pytest.raises(ConditionFailed, match=r"size\(tags\) > 2"):
        db.update(order, real=2, where=lambda o: size(o.tags) > 2)
    query = Order.key.query(order_id="1").where(lambda o: size(o.notes) < size(o.tags))
    assert len(db.read(query)) == 1

    made = Design("sized")

    class Box(Entity, table=made.table("boxes", indexes=[Index("GSI1", "GSI1PK")])):
        box_id: Id
        things: list[str] = []
        key = Key("BOX#{box_id}", "BOX")
        full = On("GSI1", "FULL", when=lambda box: size(box.things) >= 2)

    with made.open(":memory:") as boxes:
        box = boxes.create(Box(box_id="1", things=["a"]))
        assert boxes.read(Box.full.query()).items == []
        boxes.update(box, things=["a", "b"])
        assert len(boxes.read(Box.full.query())) == 1
    again = loads(dumps(made.schema))
    assert (
        again.by_entity["Box"].placements[0].when == made.schema.by_entity["Box"].placements[0].when
    )


def test_an_upsert_writes_the_fields_of_the_key_where_items_have_no_type() -> None:
    plain = Design("plain")

    class Visit(Entity, table=plain.table("Visits", type_attribute=None)):
        page: str
        day: str
        count: int = 0
        key = Key("PAGE#{page}", "DAY#{day}")

    with plain.open(":memory:") as db:
        db.upsert(Visit.key(page="home", day="monday"), count=add(1))
        (item,) = db.client.call("Scan", {"TableName": "Visits"})["Items"]
    assert (item["page"], item["day"]) == ({"S": "home"}, {"S": "monday"})


def test_an_upsert_changes_what_is_there_or_makes_it(db: Db) -> None:
    ref = Tally.key(tally_id="1")
    assert db.upsert(ref, count=add(2)).count == 2
    assert sent(db, lambda: db.upsert(ref, count=add(3), label=set_if_absent("x"))) == 1
    assert db.get(ref) == Tally(tally_id="1", count=5, label="none")
    with pytest.raises(ValueRefused):
        db.upsert(Tally.key(tally_id="2"), count=add(-1))
    db.transact(upsert(ref, count=add(1)), upsert(Tally.key(tally_id="3"), count=add(1)))
    assert [one and one.count for one in db.get_many([ref, Tally.key(tally_id="3")])] == [6, 1]


def test_an_upsert_keeps_indexes_uniques_stamps_and_versions(db: Db) -> None:
    ref = Shop.key(shop_id="s")
    shop = db.upsert(ref, address=OSLO, email="a@x", visits=add(1))
    assert (shop.version, shop.visits) == (1, 1)
    assert shop.created_at is not None
    assert db.read(Shop.by_city.query(address_city="Oslo")).items == [shop]
    assert db.upsert(ref, visits=add(1)).version == 2
    with pytest.raises(UniqueTaken):
        db.upsert(Shop.key(shop_id="t"), address=OSLO, email="a@x")
    with pytest.raises(PlanError, match="address has no default"):
        db.upsert(Shop.key(shop_id="t"), visits=add(1))


async def test_upsert_and_paths_on_an_async_handle() -> None:
    async with await design.open_async(":memory:") as handle:
        await handle.upsert(Tally.key(tally_id="1"), count=add(2))
        order = await handle.create(Order(order_id="1", prices={"a": 1}))
        changed = await handle.update(order, at.add(lambda o: o.prices["a"], 1))
        assert changed.prices == {"a": 2}
