"""Types of fields that come back as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from keyfold import Db, Design, Entity, Id, Key
from keyfold.errors import ValueRefused

OrderId = NewType("OrderId", str)
Title = TypeAliasType("Title", Annotated[str, Field(max_length=9)])
design = Design("types")
table = design.table("Types")


class Inner(BaseModel):
    note: str | None
    size: str | None = "m"
    plain: str | None = None
    inner: Inner | None = None


class Order(Entity, table=table):
    order_id: OrderId
    title: Title = "t"
    note: str | None
    inner: Inner | None = None
    inners: list[Inner] = []
    flag: Literal[True] = True
    state: Literal["open", "shut", None] = None
    mixed: Literal["none", 1] = "none"
    steps: Sequence[str] = []
    key = Key("ORDER#{order_id}", "ORDER")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


@pytest.mark.parametrize(
    "values",
    [
        {"note": None},
        {"note": "n", "state": "open", "mixed": 1, "steps": ["a", "b"]},
        {"note": None, "inner": Inner(note=None, size=None)},
        {"note": None, "inners": [Inner(note="x", inner=Inner(note=None, size=None))]},
    ],
)
def test_a_value_comes_back_as_it_was_written(db: Db, values: dict[str, Any]) -> None:
    order = db.create(Order(order_id=OrderId("1"), **values))
    assert db.get(order.ref()) == order


def test_a_none_that_is_the_default_is_not_stored(db: Db) -> None:
    class Plain(Entity, table=design.table("Plain")):
        plain_id: Id
        inner: OnlyPlain
        key = Key("PLAIN#{plain_id}", "PLAIN")

    item = Plain.__spec__.encode(Plain(plain_id="1", inner=OnlyPlain()))
    assert item["inner"] == {"M": {}}


class OnlyPlain(BaseModel):
    plain: str | None = None


class Reading(Entity, table=table):
    reading_id: Id
    exact: Decimal = Decimal(0)
    rough: float = 0.0
    tags: set[str] = set()
    free: dict[str, Any] = {}
    key = Key("READING#{reading_id}", "READING")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("exact", Decimal("1." + "1" * 39)),
        ("rough", 1e-200),
        ("rough", float("nan")),
        ("tags", {""}),
        ("free", {"a": object()}),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_by_its_field(
    db: Db, field: str, value: Any
) -> None:
    stored = db.create(Reading(reading_id="1"))
    writes: list[Callable[[], Reading]] = [
        lambda: db.put(Reading(reading_id="1", **{field: value})),
        lambda: db.update(stored, **{field: value}),
        lambda: db.update(Reading.key(reading_id="1"), **{field: value}),
    ]
    for write in writes:
        with pytest.raises(ValueRefused, match=rf"Reading\.{field}: ") as refused:
            write()
        assert list(refused.value.fields) == [field]
    assert db.get(stored.ref()) == stored


def test_a_set_of_several_types_inside_a_document_is_stored(db: Db) -> None:
    stored = db.create(Reading(reading_id="2", free={"a": {10, 9, "b"}}))
    assert db.get(stored.ref()).free == {"a": [9, 10, "b"]}
