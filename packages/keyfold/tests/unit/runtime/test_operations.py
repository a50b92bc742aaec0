"""Typed operations of an update: what each does, and on which fields it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from keyfold import Db, Design, Entity, Id, Key, add, append, remove, set_if_absent
from keyfold.errors import PlanError

design = Design("changes")
table = design.table("changes")


class Thing(Entity, table=table):
    thing_id: Id
    name: str = "x"
    whole: int = 0
    exact: Decimal = Decimal(0)
    tags: set[str] = set()
    numbers: set[int] = set()
    log: list[str] = []
    first: str | None = None
    key = Key("THING#{thing_id}", "THING")


@pytest.fixture
def db() -> Iterator[Db]:
    with design.open(":memory:") as handle:
        handle.create(Thing(thing_id="t"))
        yield handle


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ([{"whole": add(2)}, {"whole": add(-5)}], {"whole": -3}),
        (
            [{"exact": add(Decimal("0.1"))}, {"exact": add(Decimal("0.2"))}],
            {"exact": Decimal("0.3")},
        ),
        ([{"tags": add({"a", "b"})}, {"tags": remove({"a", "z"})}], {"tags": {"b"}}),
        ([{"tags": add({"a"})}, {"tags": remove(["a"])}], {"tags": set()}),
        ([{"numbers": add({1, 2})}, {"numbers": remove({2})}], {"numbers": {1}}),
        ([{"log": append(["a"])}, {"log": append(["b", "c"])}], {"log": ["a", "b", "c"]}),
        ([{"first": set_if_absent("one")}, {"first": set_if_absent("two")}], {"first": "one"}),
        ([{"tags": {"a"}}, {"tags": set()}], {"tags": set()}),
    ],
)
def test_an_operation_does_what_it_says(
    db: Db, changes: list[dict[str, Any]], after: dict[str, Any]
) -> None:
    ref = Thing.key(thing_id="t")
    for change in changes:
        given = db.update(ref, **change)
    stored = db.get(ref)
    assert given == stored
    assert {name: getattr(stored, name) for name in after} == after


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": add(1)}, "Thing.name is of kind string, which cannot add"),
        ({"whole": add("much")}, "Thing.whole='much' is refused"),
        ({"whole": remove({1})}, "Thing.whole is of kind integer, which cannot remove"),
        ({"whole": append([1])}, "Thing.whole is of kind integer, which cannot append"),
        ({"tags": append(["a"])}, "Thing.tags is of kind string_set, which cannot append"),
        ({"numbers": add({"x"})}, "Thing.numbers={'x'} is refused"),
        ({"log": append([3])}, r"Thing.log=\[3\] is refused"),
        ({"first": set_if_absent(3)}, "Thing.first=3 is refused"),
    ],
)
def test_an_operation_that_cannot_be_is_refused_by_entity_and_field(
    db: Db, change: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(PlanError, match=complaint):
        db.update(Thing.key(thing_id="t"), **change)
    assert db.get(Thing.key(thing_id="t")) == Thing(thing_id="t")
