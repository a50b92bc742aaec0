"""Trees of expressions, written out and parsed, are the same trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keyfold.expressions.ast import (
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
    Placeholder,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold.expressions.bind import Placeholders
from keyfold.values import AttributeValue
from keyfold.values.codec import encode
from tests.unit.expressions.rendering import Expressions

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
    return Placeholders(
        members.get("ExpressionAttributeNames"), members.get("ExpressionAttributeValues")
    )


@given(CONDITIONS)
def test_a_rendered_condition_reads_back_as_the_same_tree(condition: Condition) -> None:
    expressions = Expressions()
    text = expressions.condition(condition)
    placeholders = _placeholders(expressions)
    assert _with_values(placeholders.condition(text), placeholders.values) == condition
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
    plan = placeholders.update(text)
    assert tuple(_with_values(action, placeholders.values) for action in plan.actions) == (
        update.actions
    )


def _with_values(node: Any, values: Mapping[str, AttributeValue]) -> Any:
    """A bound tree with the values that its placeholders stand for."""
    match node:
        case Placeholder(text):
            return Value(values[text])
        case SetAction() | AddAction() | DeleteAction():
            return replace(node, value=_with_values(node.value, values))
        case And(terms) | Or(terms):
            return type(node)(tuple(_with_values(term, values) for term in terms))
        case Not(term):
            return Not(_with_values(term, values))
        case In(operand, options):
            return In(
                _with_values(operand, values), tuple(_with_values(o, values) for o in options)
            )
        case Arithmetic() | Compare():
            left, right = _with_values(node.left, values), _with_values(node.right, values)
            return replace(node, left=left, right=right)
        case Function(function, arguments):
            return Function(function, tuple(_with_values(each, values) for each in arguments))
        case _:
            return node


def test_key_conditions_read_back_as_the_same_terms() -> None:
    terms = [
        KeyTerm("pk", "=", ({"S": "a"},)),
        KeyTerm("sk", "BETWEEN", ({"N": "1"}, {"N": "2"})),
    ]
    expressions = Expressions()
    text = expressions.key_condition(terms)
    assert text == "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2"
    placeholders = _placeholders(expressions)
    read = placeholders.key_condition(text).terms(placeholders.values)
    assert list(read.values()) == terms
