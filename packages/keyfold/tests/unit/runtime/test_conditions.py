"""Conditions: recorded once, and the same on the engine and on values in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from keyfold import Db, Design, Entity, Id, Index, Key, On
from keyfold.conditions import begins_with, between, contains, exists, missing, not_, one_of
from keyfold.design.condition import evaluator
from keyfold.design.recorder import record
from keyfold.errors import ConditionFailed, DeclarationError

design = Design("conditions")
table = design.table("Conditions", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])


class State(Enum):
    OPEN = "open"
    CLOSED = "closed"


class Address(BaseModel):
    zip_code: str = "0150"
    street_name: str = Field(default="Main", serialization_alias="street")


class Parcel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    gross_weight: int = 3
    state: State = State.OPEN
    address: Address = Address()


class Order(Entity, table=table):
    order_id: Id
    sold: int = 2
    stock: int = 5
    note: str | None = None
    hint: str | None
    state: State = State.OPEN
    paid: bool = True
    tags: set[str] = {"new"}
    none: set[str] = set()
    stamps: set[bytes] = {b"\x00\xff"}
    lines: list[str] = ["first", "second"]
    counts: dict[str, int] = {"red": 1}
    parcel: Parcel = Parcel()
    key = Key("ORDER#{order_id}", "ORDER")


HOLD: dict[str, Callable[[Order], object]] = {
    "a field against another": lambda o: o.stock > o.sold,
    "a model inside": lambda o: o.parcel.gross_weight == 3,
    "a model inside a model": lambda o: o.parcel.address.zip_code == "0150",
    "a name of its own on disk": lambda o: o.parcel.address.street_name == "Main",
    "an enum inside a model": lambda o: o.parcel.state == State.OPEN,
    "a key of a map": lambda o: o.counts["red"] == 1,
    "an element of a list": lambda o: o.lines[1] == "second",
    "no value": lambda o: o.note == None,  # noqa: E711
    "a value": lambda o: o.hint != None,  # noqa: E711
    "an empty set": lambda o: o.none == set(),
    "an empty set is missing": lambda o: missing(o.none),
    "a member by its value": lambda o: o.state == "open",  # type: ignore[comparison-overlap]
    "one of some members": lambda o: one_of(o.state, State.OPEN, State.CLOSED),
    "bytes in a set": lambda o: contains(o.stamps, b"\x00\xff"),
    "text in a list": lambda o: contains(o.lines, "first"),
    "a flag": lambda o: o.paid & (o.sold == 2),
    "begins with another field": lambda o: begins_with(o.hint, o.hint) | (o.sold == 2),  # type: ignore[arg-type]
    "between": lambda o: between(o.stock, 1, 9),
}
FAIL: dict[str, Callable[[Order], object]] = {
    "a field against another": lambda o: o.stock < o.sold,
    "a missing field against another": lambda o: o.note == o.hint,
    "a model inside": lambda o: o.parcel.gross_weight > 3,
    "an empty set": lambda o: o.none != set(),
    "an empty set exists": lambda o: exists(o.none),
    "no flag": lambda o: not_(o.paid),
    "a flag turned round": lambda o: ~o.paid,
    "no key of a map": lambda o: exists(o.counts["blue"]),
    "no element of a list": lambda o: o.lines[7] == "first",
}


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        opened.create(Order(order_id="o", hint="n"))
        yield opened


def _in_memory(condition: Any) -> bool:
    spec = Order.__spec__
    return evaluator(record(condition, Order), spec)(Order(order_id="o", hint="n").__dict__)


@pytest.mark.parametrize("name", HOLD)
def test_a_condition_holds_in_memory_and_on_the_engine(db: Db, name: str) -> None:
    condition = HOLD[name]
    assert _in_memory(condition)
    if name != "begins with another field":  # DynamoDB wants two different operands
        assert db.update(Order.key(order_id="o"), sold=3, where=condition).sold == 3


@pytest.mark.parametrize("name", FAIL)
def test_a_condition_fails_in_memory_and_on_the_engine(db: Db, name: str) -> None:
    condition = FAIL[name]
    assert not _in_memory(condition)
    with pytest.raises(ConditionFailed):
        db.update(Order.key(order_id="o"), sold=3, where=condition)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda o: o.nope == 1, "names the field 'nope', which is not declared"),
        (lambda o: o.parcel.weight == 1, "parcel.weight, which is not declared. Declared: add"),
        (lambda o: o.note.startswith("x"), "looks at 'startswith' of note"),
        (lambda o: "x" in o.tags, r"Write contains\(field, element\)"),
        (lambda o: len(o.tags) > 1, "counts the elements of tags"),
        (lambda o: o.stock + 1 > 2, "computes with stock"),
        (lambda o: o.counts() == 1, "calls counts"),
        (lambda o: o.note is None, "exists.* and missing.* say whether a field has a value"),
        (lambda o: one_of(o.state, [State.OPEN]), "one by one"),
        (lambda o: one_of(o.state), "no values"),
        (lambda o: exists("note"), "'note' is not a field of the entity"),
        ("stock > 1", "is not a condition. Give a function of the item"),
    ],
)
def test_what_cannot_be_recorded_is_refused_in_words(db: Db, condition: Any, words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        db.update(Order.key(order_id="o"), sold=3, where=condition)


@pytest.mark.parametrize(
    "when",
    [
        lambda o: missing(o.note),
        lambda o: (o.note == "x") | (o.stock > 1),
        lambda o: o.note != "x",
        lambda o: o.note == None,  # noqa: E711
        lambda o: not_(exists(o.note)),
    ],
)
def test_an_index_over_a_field_that_its_condition_leaves_open_is_refused(when: Any) -> None:
    sparse = Design("sparse").table("Sparse", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])
    with pytest.raises(DeclarationError, match=r"K3 .*test_conditions.*note, which may be missing"):

        class Draft(Entity, table=sparse):
            order_id: Id
            note: str | None = None
            stock: int = 0
            key = Key("ORDER#{order_id}", "ORDER")
            by_note = On("GSI1", "NOTE#{note}", "{order_id}", when=when)


@pytest.mark.parametrize(
    "when",
    [
        lambda o: o.note != None,  # noqa: E711
        lambda o: (o.note == "x") & (o.stock > 1),
        lambda o: (o.note == "x") | begins_with(o.note, "y"),
        lambda o: not_(missing(o.note)),
    ],
)
def test_an_index_whose_condition_asks_for_its_field_is_sparse(when: Any) -> None:
    sparse = Design("sparse").table("Sparse", indexes=[Index("GSI1", "gsi1pk", "gsi1sk")])

    class Draft(Entity, table=sparse):
        order_id: Id
        note: str | None = None
        stock: int = 0
        key = Key("ORDER#{order_id}", "ORDER")
        by_note = On("GSI1", "NOTE#{note}", "{order_id}", when=when)

    assert not Draft.__spec__.placements["by_note"].applies({"note": None, "stock": 5})
