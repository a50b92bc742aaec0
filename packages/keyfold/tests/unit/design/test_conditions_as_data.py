"""Conditions as data: stable, evaluated alike in memory and by the engine, excluded when shown."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.design.condition_oracle import (
    Both,
    Either,
    FieldComparison,
    FieldPath,
    FieldTest,
    Negated,
    declared,
    holds,
)

from keyfold import Design, Entity, Id, Index, Key, On, Timestamp
from keyfold.conditions import contains, exists, missing, not_, one_of
from keyfold.design import file
from keyfold.design.condition import (
    Condition,
    condition_text,
    evaluator,
    parse_condition,
    stored_condition,
)
from keyfold.design.declaration import declared_at
from keyfold.design.exclusion import excludes
from keyfold.design.recorder import declare, record
from keyfold.design.schema import AttributeSchema, EntitySchema
from keyfold.errors import ConditionFailed, DeclarationError
from keyfold.runtime.expression import Expressions
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_engine.expressions.evaluate import matches
from keyfold_engine.expressions.parser import literal_condition

design = Design("conditions")
table = design.table("Conditions", indexes=[Index("GSI1", "gpk", "gsk")])


class State(StrEnum):
    OPEN = "open"
    SHUT = "shut"


class Case(Entity, table=table):
    case_id: Id
    state: State | None = None
    number: int | None = None
    price: Decimal | None = None
    at: Timestamp | None = None
    tags: set[str] = set()
    urgent: bool = False
    due_in_days: int = 0
    text: str = ""
    key = Key("CASE#{case_id}", "CASE")
    open_ones = On("GSI1", "OPEN", "{case_id}", when=lambda c: c.state == State.OPEN)
    shut_ones = On("GSI1", "SHUT", "{case_id}", when=lambda c: c.state == State.SHUT)


SPEC = Case.__spec__
DAY = datetime(2026, 1, 1, tzinfo=UTC)
VALUES: dict[str, list[Any]] = {
    "state": [State.OPEN, State.SHUT],
    "number": [0, 1, 2],
    "price": [Decimal("0.5"), Decimal(1)],
    "at": [DAY, DAY.replace(day=2)],
    "urgent": [True, False],
}


@st.composite
def simple(draw: st.DrawFn) -> Any:
    name = draw(st.sampled_from([*VALUES, "tags"]))
    path = FieldPath((name,))
    if name == "tags":
        return FieldTest("contains", path, (draw(st.sampled_from(["a", "b"])),))
    kind = draw(st.sampled_from(["compare", "compare", "exists", "missing", "one_of", "between"]))
    values = VALUES[name]
    if kind in ("exists", "missing"):
        return FieldTest(kind, path)
    if kind == "one_of":
        chosen = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True))
        return FieldTest("one_of", path, tuple(chosen))
    if kind == "between" and name != "urgent":
        low, high = sorted([draw(st.sampled_from(values)), draw(st.sampled_from(values))])
        return FieldTest("between", path, (low, high))
    ordered = ["=", "<>"] if name == "urgent" else ["=", "<>", "<", "<=", ">", ">="]
    return FieldComparison(path, draw(st.sampled_from(ordered)), draw(st.sampled_from(values)))


def recorded(condition: Any) -> Condition:
    return record(lambda case: declared(condition, case), Case)


CONDITIONS = st.recursive(
    simple(),
    lambda inner: st.one_of(
        st.builds(Both, inner, inner), st.builds(Either, inner, inner), st.builds(Negated, inner)
    ),
    max_leaves=4,
)
CASES = st.builds(
    lambda **values: Case(**values),
    case_id=st.just("c"),
    state=st.sampled_from([None, *State]),
    number=st.sampled_from([None, 0, 1, 2]),
    price=st.sampled_from([None, Decimal("0.5"), Decimal("1.0")]),
    at=st.sampled_from([None, DAY, DAY.replace(day=2)]),
    tags=st.sampled_from([set(), {"a"}, {"a", "b"}]),
    urgent=st.booleans(),
)
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(CONDITIONS)
def test_a_condition_survives_its_text_json_and_yaml(condition: Any) -> None:
    found = recorded(condition)
    text = condition_text(found)
    assert literal_condition(text) == found
    assert orjson.loads(orjson.dumps(text)) == text
    assert yaml.safe_load(yaml.safe_dump(text)) == text


CLIENT = EmbeddedClient(Engine.open(":memory:"))
OPENED = design.open(CLIENT)


@QUICK
@given(CONDITIONS, CASES)
def test_memory_engine_and_data_agree(condition: Any, case: Case) -> None:
    expressions = Expressions()
    found = recorded(condition)
    rendered = expressions.condition(found, SPEC)
    CLIENT.call("PutItem", {"TableName": "Conditions", "Item": SPEC.encode(case)})
    request = {"TableName": "Conditions", "Key": case.ref().wire()}
    item = CLIENT.call("GetItem", request)["Item"]
    expected = holds(condition, case.__dict__)
    assert evaluator(found, SPEC)(case.__dict__) == expected
    assert matches(stored_condition(found, SPEC), item) == expected
    asked = {**request, "ConditionExpression": rendered, **expressions.placeholders()}
    try:
        CLIENT.call("DeleteItem", asked)
    except ConditionFailed:
        assert not expected
    else:
        assert expected


EVERY = [
    Case(case_id="c", state=s, number=n, price=p, at=a, tags=t, urgent=u)
    for s in (None, *State)
    for n in (None, -1, 0, 1, 3)
    for p in (None, Decimal("0.5"), Decimal("0.7"), Decimal(1))
    for a in (None, DAY, DAY.replace(hour=1), DAY.replace(day=2))
    for t in (set(), {"a"}, {"a", "b"})
    for u in (True, False)
]


@QUICK
@given(CONDITIONS, CONDITIONS)
def test_what_is_said_to_exclude_each_other_does(one: Any, other: Any) -> None:
    if excludes(recorded(one), recorded(other), SPEC):
        assert not any(holds(one, c.__dict__) and holds(other, c.__dict__) for c in EVERY)


def _tree(condition: Any) -> Any:
    return record(condition, Case)


def test_the_usual_pairs_are_shown_to_exclude_each_other() -> None:
    pairs: list[tuple[Any, Any]] = [
        (lambda c: c.state == State.OPEN, lambda c: c.state == State.SHUT),
        (lambda c: c.urgent, lambda c: not_(c.urgent)),
        (lambda c: exists(c.at), lambda c: missing(c.at)),
        (lambda c: c.number > 1, lambda c: c.number <= 1),
        (lambda c: one_of(c.number, 1, 2), lambda c: c.number > 2),
    ]
    for one, other in pairs:
        assert excludes(_tree(one), _tree(other), SPEC)
    overlapping: list[tuple[Any, Any]] = [
        (lambda c: c.number >= 1, lambda c: c.number <= 1),
        (lambda c: c.state != State.OPEN, lambda c: c.urgent),
    ]
    for one, other in overlapping:
        assert not excludes(_tree(one), _tree(other), SPEC)


def test_conditions_on_declared_numbers_exclude_each_other_by_these() -> None:
    level = AttributeSchema("level", "level", "number", values=("1", "2"))
    item = EntitySchema("Item", "Conditions", None, (level,))
    first, later = parse_condition("level = 1"), parse_condition("level > 1 AND level < 3")
    assert first is not None
    assert later is not None
    assert excludes(first, later, item)
    for also in ("level >= 1", "level <> 2", "NOT level > 1", "level BETWEEN 0 AND 1"):
        other = parse_condition(also)
        assert other is not None
        assert not excludes(first, other, item)


def test_the_text_is_the_same_in_every_process() -> None:
    code = (
        "from tests.unit.design.test_conditions_as_data import *;"
        "print(condition_text(record(lambda c: c.tags == {'a', 'b', 'd', 'e'}, Case)))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {'tags = `{"SS":["a","b","d","e"]}`\n'}


def test_a_text_reads_as_people_write_conditions() -> None:
    late: Any = lambda c: (  # noqa: E731
        one_of(c.state, State.SHUT, State.OPEN) & contains(c.tags, "a") & (c.at > DAY)
    )
    condition = _tree(late)
    assert condition_text(condition) == (
        'state IN ("open", "shut") AND contains(tags, "a") AND at > "2026-01-01T00:00:00.000000Z"'
    )


@pytest.mark.parametrize(
    "condition",
    [
        lambda c: c.number == "text",
        lambda c: c.number == object(),
        lambda c: c.text == f"{c.number}",
        lambda c: c.text in {"a", "b"},
        lambda c: c.at == "2026",
        lambda c: c.state == "other",
        lambda c: contains(c.tags, 3),
        lambda c: c.number < None,
    ],
    ids=[
        "a value of another type",
        "a value that no attribute holds",
        "a field in a text",
        "a field looked up in a set",
        "a text for a time",
        "no member of the enum",
        "no element of the set",
        "an order of no value",
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused_with_its_place(condition: Any) -> None:
    refused = pytest.raises(DeclarationError, match=r"here\.py:1.*a condition")
    with refused, declared_at("here.py:1"):
        declare(condition, Case)


def test_a_condition_that_is_another_one_each_time_is_refused() -> None:
    moment: Any = lambda c: c.at < datetime.now(UTC)  # noqa: E731
    with pytest.raises(DeclarationError, match="recorded once, at import"):
        declare(moment, Case)


def test_an_item_is_in_an_index_by_the_placement_whose_condition_holds() -> None:
    for state, partition in ((State.OPEN, "OPEN"), (State.SHUT, "SHUT"), (None, None)):
        item = SPEC.encode(Case(case_id="x", state=state))
        assert item.get("gpk") == (None if partition is None else {"S": partition})
    case = OPENED.create(Case(case_id="moves", state=State.OPEN))
    OPENED.update(case.ref(), state=State.SHUT)
    found = OPENED.read(Case.shut_ones.query()).items
    assert "moves" in [one.case_id for one in found]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, None),
        (lambda r: r.open, None),
        (lambda r: r.number > 1, lambda r: r.number < 3),
    ],
)
def test_two_placements_that_may_both_apply_are_refused(first: Any, second: Any) -> None:
    plain = Design("twice")
    home = plain.table("Twice", indexes=[Index("GSI1", "gpk", "gsk")])
    with pytest.raises(DeclarationError, match=r"one and other are both on GSI1"):

        class Room(Entity, table=home):
            room: Id
            open: bool = False
            number: int = 0
            key = Key("ROOM#{room}", "ROOM")
            one = On("GSI1", "ONE", "{room}", when=first or ())
            other = On("GSI1", "OTHER", "{room}", when=second or ())


FILE = """
design: d
tables: {T: {key: [PK, SK], indexes: {GSI1: {key: [gpk, gsk]}}}}
entities:
  Event:
    key: {PK: "EVENT#{eventId}", SK: EVENT}
    attributes: {eventId: id, status: string, dueAt: optional string, size: number}
    indexes:
      GSI1: {gpk: LISTED, gsk: "{eventId}", when: WHEN}
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("dueAt", "attribute_exists(dueAt)"),
        ("[dueAt, status]", "attribute_exists(dueAt) AND attribute_exists(status)"),
        ("'status = \"PUBLISHED\" and size > 3'", 'status = "PUBLISHED" AND size > 3'),
    ],
)
def test_a_design_file_states_conditions(text: str, shown: str) -> None:
    schema = file.loads(FILE.replace("WHEN", text))
    (placement,) = schema.by_entity["Event"].placements
    assert placement.when is not None
    assert condition_text(placement.when) == shown
    assert file.loads(file.dumps(schema)) == schema


def test_a_condition_that_is_none_is_refused_in_a_design_file_with_its_line() -> None:
    with pytest.raises(file.DesignFileError, match=r"x\.yaml:9.*is not a condition"):
        file.loads(FILE.replace("WHEN", "'status == 3'"), file="x.yaml")
