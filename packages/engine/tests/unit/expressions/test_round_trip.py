"""Trees of expressions, written out and parsed, are the same trees."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.expressions.rendering import Expressions

from keyfold_engine.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Compare,
    Condition,
    DeleteAction,
    Function,
    In,
    KeyTerm,
    Not,
    Or,
    Path,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.values.codec import encode

PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
PATHS = st.builds(
    lambda root, rest: Path((root, *rest)), PARTS, st.lists(PARTS | st.integers(0, 99), max_size=3)
)
VALUES = (st.integers(-99, 99) | st.text("ab", max_size=3)).map(lambda v: Value(encode(v)))
LISTS = st.lists(st.integers(0, 9), max_size=3).map(lambda v: Value(encode(v)))
NUMBERS = st.integers(-99, 99).map(lambda v: Value(encode(v)))

LEAVES: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Compare, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), PATHS, VALUES),
    st.builds(lambda path, value: Compare("=", Function("size", (path,)), value), PATHS, VALUES),
    st.builds(
        lambda path, low, high: Between(
            path, Value(encode(min(low, high))), Value(encode(max(low, high)))
        ),
        PATHS,
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    st.builds(In, PATHS, st.lists(VALUES, min_size=1, max_size=3).map(tuple)),
    st.builds(lambda path: Function("attribute_exists", (path,)), PATHS),
    st.builds(lambda path, value: Function("contains", (path, value)), PATHS, VALUES),
)
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda terms: And(tuple(terms)), st.lists(inner, min_size=2, max_size=3))
        | st.builds(lambda terms: Or(tuple(terms)), st.lists(inner, min_size=2, max_size=3))
        | st.builds(Not, inner)
    ),
    max_leaves=8,
)


def _placeholders(expressions: Expressions) -> Placeholders:
    members: dict[str, Any] = expressions.placeholders()
    return Placeholders.with_literals(
        members.get("ExpressionAttributeNames"), members.get("ExpressionAttributeValues")
    )


@given(CONDITIONS)
def test_a_rendered_condition_reads_back_as_the_same_tree(condition: Condition) -> None:
    expressions = Expressions()
    text = expressions.condition(condition)
    placeholders = _placeholders(expressions)
    assert placeholders.condition(text) == condition
    placeholders.check_used()


@given(st.lists(PARTS, min_size=5, max_size=5, unique=True), NUMBERS, LISTS)
def test_a_rendered_update_reads_back_as_the_same_actions(
    names: list[str], number: Value, elements: Value
) -> None:
    a, b, c, d, e = (Path((name,)) for name in names)
    members = Value({"SS": ["x"]})
    update = UpdateActions(
        (
            SetAction(a, Arithmetic("+", a, number)),
            SetAction(
                b, Function("list_append", (Function("if_not_exists", (b, elements)), elements))
            ),
            RemoveAction(c),
            AddAction(d, members),
            DeleteAction(e, members),
        )
    )
    expressions = Expressions()
    text = expressions.update(update)
    placeholders = _placeholders(expressions)
    assert placeholders.update(text).actions == update.actions


def test_key_conditions_read_back_as_the_same_terms() -> None:
    terms = [
        KeyTerm("pk", "=", ({"S": "a"},)),
        KeyTerm("sk", "BETWEEN", ({"N": "1"}, {"N": "2"})),
    ]
    expressions = Expressions()
    text = expressions.key_condition(terms)
    assert text == "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2"
    placeholders = _placeholders(expressions)
    read = placeholders.key_condition(text).terms({})
    assert list(read.values()) == terms
