from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import legacy, parameters
from keyfold_engine.expressions.ast import (
    AddAction,
    DeleteAction,
    KeyTerm,
    Path,
    RemoveAction,
    SetAction,
    Value,
)
from keyfold_engine.expressions.evaluate import matches

INVALID = "One or more parameter values were invalid: "
ITEM: dict[str, Any] = {"s": {"S": "hello"}, "n": {"N": "5"}, "ss": {"SS": ["a", "b"]}}


def _refusal(read: Any, request: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        read(request)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "operator", "values", "expected"),
    [
        ("s", "EQ", [{"S": "hello"}], True),
        ("s", "NE", [{"S": "x"}], True),
        ("n", "GT", [{"N": "4"}], True),
        ("n", "LE", [{"N": "4"}], False),
        ("n", "BETWEEN", [{"N": "1"}, {"N": "9"}], True),
        ("n", "IN", [{"N": "1"}, {"N": "5.0"}], True),
        ("s", "BEGINS_WITH", [{"S": "he"}], True),
        ("ss", "CONTAINS", [{"S": "a"}], True),
        ("ss", "NOT_CONTAINS", [{"S": "z"}], True),
        ("ss", "NOT_CONTAINS", [{"N": "1"}], True),
        ("x", "NOT_CONTAINS", [{"S": "z"}], False),
        ("x", "NE", [{"S": "z"}], True),
        ("s", "NOT_NULL", [], True),
        ("x", "NULL", [], True),
        ("x", "EQ", [{"S": "a"}], False),
    ],
)
def test_filters_mean_what_their_expressions_mean(
    name: str, operator: str, values: list[Any], expected: bool
) -> None:
    entry = {name: {"ComparisonOperator": operator, "AttributeValueList": values}}
    for parameter in ("QueryFilter", "ScanFilter"):
        condition = legacy.filter({parameter: entry})
        assert condition is not None
        assert matches(condition, ITEM) is expected
    expectation = legacy.expected_condition({"Expected": entry})
    assert expectation is not None
    assert matches(expectation, ITEM) is expected


def test_conditional_operator_joins_terms() -> None:
    entries = {"s": {"Value": {"S": "hello"}}, "n": {"Value": {"N": "6"}}}
    both = legacy.expected_condition({"Expected": entries})
    either = legacy.expected_condition({"Expected": entries, "ConditionalOperator": "OR"})
    assert both is not None
    assert either is not None
    assert not matches(both, ITEM)
    assert matches(either, ITEM)


def test_existence_is_expected() -> None:
    absent = legacy.expected_condition({"Expected": {"s": {"Exists": False}}})
    assert absent is not None
    assert not matches(absent, ITEM)
    assert matches(absent, {})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, f"{INVALID}Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, f"{INVALID}Value must be provided when Exists is true for Attribute: a"),
        (
            {"Exists": False, "Value": {"S": "x"}},
            f"{INVALID}Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"Value": {"S": "x"}, "AttributeValueList": []},
            f"{INVALID}Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"AttributeValueList": [{"S": "x"}]},
            f"{INVALID}AttributeValueList can only be used with a ComparisonOperator for "
            "Attribute: a",
        ),
        (
            {"Exists": True, "ComparisonOperator": "NULL"},
            f"{INVALID}Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"ComparisonOperator": "EQ"},
            f"{INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for "
            "Attribute: a",
        ),
        (
            {"ComparisonOperator": "NULL", "Value": {"S": "x"}},
            f"{INVALID}Invalid number of argument(s) for the NULL ComparisonOperator",
        ),
        (
            {"ComparisonOperator": "IN", "AttributeValueList": [{"S": "x"}, {"N": "1"}]},
            f"{INVALID}AttributeValues inside AttributeValueList must be of same type",
        ),
        (
            {"ComparisonOperator": "LT", "AttributeValueList": [{"BOOL": True}]},
            f"{INVALID}ComparisonOperator LT is not valid for BOOL AttributeValue type",
        ),
        (
            {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "2"}, {"N": "1"}]},
            "The BETWEEN condition was provided a range where the lower bound is greater than "
            "the upper bound",
        ),
    ],
)
def test_wrong_expectations(entry: dict[str, Any], message: str) -> None:
    assert _refusal(legacy.expected_condition, {"Expected": {"a": entry}}) == message


def test_conditional_operator_needs_two_conditions() -> None:
    assert _refusal(legacy.expected_condition, {"ConditionalOperator": "OR"}) == (
        "ConditionalOperator cannot be used without Filter or Expected"
    )
    one = {"Expected": {"a": {"Exists": False}}, "ConditionalOperator": "OR"}
    assert _refusal(legacy.expected_condition, one) == (
        "ConditionalOperator can only be used when Filter or Expected has two or more elements"
    )


def test_attribute_updates_become_actions() -> None:
    members = {"SS": ["x"]}
    update = legacy.attribute_updates(
        {
            "AttributeUpdates": {
                "a": {"Value": {"N": "1.0"}},
                "b": {"Action": "DELETE"},
                "c": {"Action": "DELETE", "Value": members},
                "d": {"Action": "ADD", "Value": {"N": "2"}},
            }
        }
    )
    assert update is not None
    assert update.actions == (
        SetAction(Path(("a",)), Value({"N": "1"})),
        RemoveAction(Path(("b",))),
        DeleteAction(Path(("c",)), Value(members)),
        AddAction(Path(("d",)), Value({"N": "2"})),
    )
    assert update.type_mismatch == "Type mismatch for attribute to update"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, f"{INVALID}Only DELETE action is allowed when no attribute value is specified"),
        (
            {"Action": "DELETE", "Value": {"S": "x"}},
            f"{INVALID}DELETE action with value is not supported for the type S",
        ),
        (
            {"Action": "ADD", "Value": {"S": "x"}},
            f"{INVALID}ADD action is not supported for the type S",
        ),
    ],
)
def test_wrong_attribute_updates(entry: dict[str, Any], message: str) -> None:
    assert _refusal(legacy.attribute_updates, {"AttributeUpdates": {"a": entry}}) == message


def test_key_conditions_become_terms() -> None:
    terms = legacy.key_conditions(
        {
            "KeyConditions": {
                "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
                "sk": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"S": "b"}]},
            }
        }
    )
    assert terms == {
        "pk": KeyTerm("pk", "=", ({"S": "a"},)),
        "sk": KeyTerm("sk", "begins_with", ({"S": "b"},)),
    }


def test_wrong_key_conditions() -> None:
    equal = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}
    assert _refusal(legacy.key_conditions, {"KeyConditions": {}}) == (
        "Conditions can be of length 1 or 2 only"
    )
    nine = {"KeyConditions": dict.fromkeys("abcdefghi", equal)}
    assert _refusal(legacy.key_conditions, nine) == "Conditions can be of length 1 or 2 only"


def test_attributes_to_get() -> None:
    assert legacy.attributes_to_get({"AttributesToGet": ["a.b", "c"]}) == (
        Path(("a.b",)),
        Path(("c",)),
    )
    assert _refusal(legacy.attributes_to_get, {"AttributesToGet": ["a", "a"]}) == (
        f"{INVALID}Duplicate value in attribute name: a"
    )


def test_expressions_and_legacy_parameters_do_not_mix() -> None:
    def mixed(request: dict[str, Any]) -> None:
        parameters.refuse_mixture(request, ("ConditionExpression",), ("Expected",))

    assert _refusal(mixed, {"ConditionExpression": "a = :v", "Expected": {}}) == (
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
    )
    assert _refusal(mixed, {"ExpressionAttributeNames": {}}) == (
        "ExpressionAttributeNames can only be specified when using expressions"
    )
    assert _refusal(mixed, {"ExpressionAttributeValues": {}}) == (
        "ExpressionAttributeValues can only be specified when using expressions: "
        "ConditionExpression is null"
    )


def test_legacy_key_conditions_go_with_a_filter_expression() -> None:
    parameters.refuse_mixture(
        {"KeyConditions": {}, "FilterExpression": "a = :v"},
        ("FilterExpression", "KeyConditionExpression"),
        ("KeyConditions", "QueryFilter"),
    )


def test_reading_a_request_binds_everything_in_it() -> None:
    read = parameters.read(
        {
            "KeyConditionExpression": "#k = :k",
            "FilterExpression": "a > :n",
            "ProjectionExpression": "a, #k",
            "ExpressionAttributeNames": {"#k": "pk"},
            "ExpressionAttributeValues": {":k": {"S": "x"}, ":n": {"N": "1"}},
        }
    )
    assert read.key_terms == {"pk": KeyTerm("pk", "=", ({"S": "x"},))}
    assert read.projection == (Path(("a",)), Path(("pk",)))
    assert read.filter is not None
    assert read.condition is None
    assert read.update is None
