"""Work grows with the size of what is asked, not with its square: comparisons are counted."""

from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.expressions.ast import (
    And,
    DeleteAction,
    Function,
    In,
    Or,
    Path,
    UpdateActions,
    Value,
)
from keyfold_engine.expressions.evaluate import compile_condition
from keyfold_engine.expressions.update import UpdatePlan


class Text(str):
    """Text that counts how often it is compared."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Text.compared += 1
        return str.__eq__(self, other)


@pytest.fixture(autouse=True)
def uncounted() -> None:
    Text.compared = 0


def texts(count: int) -> list[Any]:
    return [Text(f"member {number}") for number in range(count)]


def test_taking_members_from_a_set_is_linear() -> None:
    plan = UpdatePlan(UpdateActions((DeleteAction(Path(("s",)), Value({"SS": texts(3000)})),), ""))
    kept = plan.apply({"s": {"SS": [*texts(3000), "other"]}}, {})
    assert kept == {"s": {"SS": ["other"]}}
    assert Text.compared < 3 * 3000


def test_in_looks_its_values_up() -> None:
    options = tuple(Value({"S": text}) for text in texts(3000))
    test = compile_condition(In(Path(("a",)), options))
    Text.compared = 0
    assert [test({"a": {"S": Text(f"member {n}")}}) for n in (0, 2999, 3000)] == [True, True, False]
    assert not test({"a": {"N": "1"}})
    assert not test({})
    assert Text.compared < 10


def test_in_still_compares_what_has_no_order() -> None:
    test = compile_condition(
        In(Path(("a",)), (Value({"SS": ["x", "y"]}), Value({"S": "x"}), Path(("b",))))
    )
    assert test({"a": {"SS": ["y", "x"]}})
    assert test({"a": {"N": "1"}, "b": {"N": "1"}})
    assert not test({"a": {"SS": ["y"]}})


def test_many_terms_search_a_list_once() -> None:
    terms = tuple(
        Function("contains", (Path(("l",)), Value({"S": f"absent {n}"}))) for n in range(200)
    )
    content = [{"S": text} for text in texts(2000)]
    assert not compile_condition(Or(terms))({"l": {"L": content}})
    assert Text.compared < 3 * 2000
    found = tuple(
        Function("contains", (Path(("l",)), Value(value)))
        for value in ({"S": "member 5"}, {"N": "7"}, {"L": [{"S": "x"}]}, {"BOOL": False})
    )
    mixed = [*content, {"N": "7"}, {"L": [{"S": "x"}]}, {"BOOL": False}]
    assert compile_condition(And(found))({"l": {"L": mixed}})
    assert not compile_condition(And(found))({"l": {"L": [*content, {"N": "7"}, {"BOOL": False}]}})
