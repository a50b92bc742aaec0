from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions import keys
from keyfold_engine.expressions.ast import KeyTerm
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.values.codec import encode

TYPES = {"pk": "S", "sk": "N"}


def _terms(text: str, **values: Any) -> dict[str, KeyTerm]:
    placeholders = Placeholders.with_literals(
        None, {f":{name}": encode(value) for name, value in values.items()}
    )
    return placeholders.key_condition(text).terms({})


def _select(text: str, **values: Any) -> keys.KeySelection:
    return keys.select(_terms(text, **values), ("pk",), ("sk",), TYPES)


def test_a_partition_alone() -> None:
    assert _select("pk = :p", p="a") == keys.KeySelection(({"S": "a"},), (), None)


def test_a_sort_key_given_exactly() -> None:
    chosen = _select("(sk = :s) AND (:p = pk)", p="a", s=1)
    assert chosen == keys.KeySelection(({"S": "a"},), ({"N": "1"},), None)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("sk < :s", "<"),
        (":s < sk", ">"),
        (":s >= sk", "<="),
        ("sk BETWEEN :s AND :s", "BETWEEN"),
    ],
)
def test_ranges_of_the_sort_key(text: str, operator: str) -> None:
    chosen = _select(f"pk = :p AND {text}", p="a", s=1)
    assert chosen.range is not None
    assert chosen.range.operator == operator


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sk = :s", "Query condition missed key schema element: pk"),
        ("x = :s", "Query condition missed key schema element: pk"),
        ("pk = :p AND x = :s", "Query condition missed key schema element: sk"),
        ("pk > :p", "Query key condition not supported"),
        ("pk = :p OR sk = :s", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :p", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk IN (:p)", "Invalid operator used in KeyConditionExpression: IN"),
        ("pk <> :p", "Invalid operator used in KeyConditionExpression: <>"),
        ("contains(pk, :p)", "Invalid operator used in KeyConditionExpression: contains"),
        ("size(pk) = :p", "KeyConditionExpressions cannot contain nested operations"),
        ("pk.a = :p", "KeyConditionExpressions cannot have conditions on nested attributes"),
        (
            "pk = :p AND pk = :p",
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = sk",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one "
            "condition",
        ),
        (
            ":s = :p",
            "Invalid condition in KeyConditionExpression: No key attribute specified",
        ),
        (
            ":p BETWEEN pk AND :s",
            "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key "
            "attribute as its first operand",
        ),
        (
            "pk = :s",
            "One or more parameter values were invalid: Condition parameter type does not match "
            "schema type",
        ),
    ],
)
def test_key_conditions_that_cannot_work(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _select(text, p="a", s=1)
    assert caught.value.message == message


def test_an_empty_key_value_is_refused() -> None:
    with pytest.raises(ValidationError, match="cannot contain an empty string value"):
        _select("pk = :p", p="")


def test_several_key_attributes_are_taken_from_the_left() -> None:
    types = dict.fromkeys(("a", "b", "c", "d"), "S")
    terms = _terms("a = :v AND b = :v AND c = :v AND begins_with(d, :v)", v="x")
    chosen = keys.select(terms, ("a", "b"), ("c", "d"), types)
    assert chosen.partition == ({"S": "x"}, {"S": "x"})
    assert chosen.sort_equal == ({"S": "x"},)
    assert chosen.range == KeyTerm("d", "begins_with", ({"S": "x"},))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a = :v AND b = :v AND d = :v",
            "RANGE key attributes c must have equality conditions specified in the query because a "
            "condition is present on key attribute d",
        ),
        (
            "a = :v AND b = :v AND c > :v AND d = :v",
            "RANGE key attributes c must have equality conditions specified in the query because a "
            "condition is present on key attribute d",
        ),
        (
            "a = :v AND c = :v",
            "HASH key attributes b must have equality conditions specified in the query",
        ),
        (
            "a = :v AND b > :v",
            "HASH key attributes b must have equality conditions specified in the query",
        ),
        (
            "a = :v AND b = :v AND c = :v AND d = :v AND e = :v",
            "Conditions can be of length 1 or 2 only",
        ),
    ],
)
def test_several_key_attributes_need_equality_up_to_the_last(text: str, message: str) -> None:
    types = dict.fromkeys(("a", "b", "c", "d"), "S")
    with pytest.raises(ValidationError) as caught:
        keys.select(_terms(text, v="x"), ("a", "b"), ("c", "d"), types)
    assert caught.value.message == message


def test_there_are_no_more_conditions_than_key_attributes() -> None:
    terms = _terms("pk = :v AND sk = :v AND x = :v", v="x")
    with pytest.raises(RequestInvalid) as caught:
        keys.select(terms, ("pk",), ("sk",), {"pk": "S", "sk": "S"})
    assert caught.value.message == "Conditions can be of length 1 or 2 only"
    assert caught.value.newer == (
        "The number of query conditions (3) exceeds the number of key attributes defined in the "
        "schema (2)"
    )
    with pytest.raises(ValidationError, match="Query key condition not supported"):
        keys.select(_terms("x = :v AND y = :v", v="x"), ("pk",), (), {"pk": "S"})


@pytest.mark.parametrize("operator", ["<>", "NULL", "CONTAINS"])
def test_only_operators_of_an_index_select_keys(operator: str) -> None:
    types = {"pk": "S"}
    with pytest.raises(ValidationError, match="not an indexable operation"):
        keys.select({"pk": KeyTerm("pk", operator, ())}, ("pk",), (), types)
    with pytest.raises(ValidationError, match="missed key schema element: pk"):
        keys.select({"x": KeyTerm("x", operator, ())}, ("pk",), (), types)
