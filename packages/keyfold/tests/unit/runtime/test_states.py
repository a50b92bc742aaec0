"""State machines: steps are conditions of the same request, drawn and checked."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from keyfold import Db, Design, Entity, Id, Index, Key, On, States, Version, create, put, update
from keyfold.design.file import dumps, loads
from keyfold.errors import DeclarationError, PlanError, StepRefused, ValueRefused
from keyfold.migrations import snapshot
from keyfold.migrations.diff import diff
from keyfold.review.check import check
from keyfold.review.docs import files
from keyfold.review.draft.python import declaration


class State(StrEnum):
    NEW = "new"
    PAID = "paid"
    SENT = "sent"
    VOID = "void"


STEPS = {State.NEW: {State.PAID: "pay", State.VOID: "cancel"}, State.PAID: {State.SENT: "ship"}}

design = Design("orders")
table = design.table("orders", indexes=[Index("GSI1", "GSI1PK", "GSI1SK")])


class Order(Entity, table=table):
    order_id: Id
    state: Annotated[State, States(STEPS)] = State.NEW
    note: str = ""
    key = Key("ORDER#{order_id}", "ORDER")


class Parcel(Entity, table=table):
    parcel_id: Id
    town: str
    state: Annotated[
        Literal["packed", "gone", "back"],
        States({"packed": ["gone"], "gone": ["back", "gone"]}, start=["packed", "gone"]),
    ]
    version: Annotated[int, Version()] = 0
    key = Key("PARCEL#{town}", "{parcel_id}")
    by_state = On("GSI1", "STATE#{state}", "{parcel_id}")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        yield opened


def requests(db: Db, work: Any) -> int:
    with db.work("count") as counted:
        work()
    return sum(one.requests for one in counted.usage.values())


def test_a_step_is_a_condition_of_the_request_that_takes_it(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    assert requests(db, lambda: db.update(order.ref(), state=State.PAID)) == 1
    assert db.update(order.ref(), state=State.SENT, note="x").state == State.SENT


def test_a_step_that_is_not_declared_is_refused_by_what_the_item_is(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    db.update(order.ref(), state=State.VOID)
    with pytest.raises(
        StepRefused, match="state cannot change from void to paid; it is final"
    ) as no:
        db.update(order, state=State.PAID)
    assert (no.value.field, no.value.state) == ("state", "void")
    with pytest.raises(StepRefused, match="state cannot become new"):
        db.update(order, state=State.NEW)
    assert db.get(order.ref()).state == State.VOID


def test_the_same_step_twice_is_refused_once(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    db.update(order.ref(), state=State.PAID)
    with pytest.raises(StepRefused, match="from paid"):
        db.update(order.ref(), state=State.PAID)
    db.update(order.ref(), note="other fields are free")


def test_a_new_item_begins_at_a_start(db: Db) -> None:
    with pytest.raises(ValueRefused, match="state cannot start as paid; a new item is new"):
        db.create(Order(order_id="1", state=State.PAID))
    db.create(Parcel(parcel_id="1", town="Oslo", state="gone"))
    with pytest.raises(ValueRefused, match="packed or gone"):
        db.create(Parcel(parcel_id="2", town="Oslo", state="back"))
    with pytest.raises(ValueRefused):
        db.put(Order(order_id="1", state=State.PAID))


def test_a_put_over_an_item_takes_the_step(db: Db) -> None:
    db.create(Order(order_id="1"))
    db.put(Order(order_id="1", state=State.PAID, note="n"))
    with pytest.raises(StepRefused):
        db.put(Order(order_id="1", state=State.VOID))
    with pytest.raises(PlanError, match="has state transitions"):
        db.put_many([Order(order_id="2")])


def test_steps_hold_in_transactions(db: Db) -> None:
    order = db.create(Order(order_id="1"))
    with pytest.raises(StepRefused, match="from new"):
        db.transact(create(Order(order_id="2")), update(order.ref(), state=State.SENT))
    with pytest.raises(StepRefused, match="from new"):
        db.transact(create(Order(order_id="3")), update(Order.key(order_id="3"), state=State.SENT))
    db.transact(put(Order(order_id="3")), update(order.ref(), state=State.PAID))
    assert db.find(Order.key(order_id="2")) is None


def test_a_version_and_an_index_change_with_the_step(db: Db) -> None:
    parcel = db.create(Parcel(parcel_id="1", town="Oslo", state="packed"))
    gone = db.update(parcel, state="gone")
    assert db.read(Parcel.by_state.query(state="gone")).items == [gone]
    assert db.update(gone, state="gone").version == 3
    with pytest.raises(StepRefused):
        db.update(db.get(parcel.ref()), state="packed")


def test_an_item_moves_with_its_state_and_by_its_steps(db: Db) -> None:
    parcel = db.update(db.create(Parcel(parcel_id="1", town="Oslo", state="gone")), state="back")
    moved = db.move(parcel, town="Rome")
    assert (moved.town, moved.state) == ("Rome", "back")
    with pytest.raises(StepRefused):
        db.move(moved, town="Bern", state="gone")


def test_states_that_a_field_cannot_have_are_refused() -> None:
    with pytest.raises(DeclarationError, match="the states name lost"):

        class Wrong(Entity, table=Design("x").table("x")):
            wrong_id: Id
            state: Annotated[State, States({"new": ["lost"]})] = State.NEW
            key = Key("{wrong_id}", "X")

    with pytest.raises(DeclarationError, match="a new item has no initial state"):

        class Unstarted(Entity, table=Design("x").table("x")):
            wrong_id: Id
            state: Annotated[State, States({"new": ["paid"]})]
            key = Key("{wrong_id}", "X")


FILE = """
design: orders
entities:
  Order:
    key: {PK: "ORDER#<orderId>", SK: ORDER}
    attributes:
      orderId: id
      state:
        type: string
        values: [new, paid, sent, lost]
        states: {new: [paid], paid: {sent: ship}}
        start: [new]
operations:
  payOrder: {does: ["update Order (state = paid) guarded"]}
"""


def test_the_document_draws_the_states_and_names_what_makes_a_step() -> None:
    made = files(design.schema, Path("d.md"))
    text = made[Path("d.md")]
    assert "| `new` | `paid` | pay |" in text
    assert any("states-order-state" in str(path) for path in made)
    from_file = files(loads(FILE), Path("d.md"))[Path("d.md")]
    assert "| `new` | `paid` | payOrder |" in from_file
    assert "| `paid` | `sent` | ship |" in from_file


def test_unreachable_states_and_dead_ends_are_found() -> None:
    found = {f.code: f.message for f in check(loads(FILE)).findings}
    assert found["W12"] == "a new item is new, and no step leads to lost"
    stuck = FILE.replace("[new]\n", "[new]\n        final: [sent]\n").replace(
        "paid: {sent: ship}", "paid: [sent, lost]"
    )
    found = {f.code: f.message for f in check(loads(stuck)).findings}
    assert found["W13"] == "from lost no step leads to an end"
    assert not {"W12", "W13"} & {f.code for f in check(design.schema).findings}


def test_design_files_snapshots_and_drafts_keep_the_steps() -> None:
    schema = design.schema
    again = loads(dumps(schema))
    assert again.by_entity["Order"].attributes == schema.by_entity["Order"].attributes
    before = snapshot.load(snapshot.dump(schema))
    assert diff(before, schema) == []
    other = loads(dumps(schema).replace("sent: ship", "sent: ship, void: refund"))
    [change] = diff(before, other)
    assert change.kind == "states changed"
    assert change.words == "the transitions of state of Order change: paid to void is new"
    assert (
        'States({"new": {"paid"}, "paid": {"sent": "ship"}}, start={"new"})'
        in (declaration(loads(FILE.replace(", lost", "")))[0])
    )
