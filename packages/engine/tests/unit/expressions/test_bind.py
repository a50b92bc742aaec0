from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions.ast import And, Compare, KeyTerm, Path, Value
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.expressions.parameters import ExpressionParameters, read


def _refusal(action: Any, *arguments: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        action(*arguments)
    return caught.value.message


def _values(**values: Any) -> Placeholders:
    return Placeholders.with_literals(None, {f":{name}": value for name, value in values.items()})


def test_placeholders_become_names_and_normal_values() -> None:
    placeholders = Placeholders.with_literals({"#n": "my name"}, {":v": {"N": "1.50"}})
    assert placeholders.condition("#n.x = :v AND #n.y = :v") == And(
        (
            Compare("=", Path(("my name", "x")), Value({"N": "1.5"})),
            Compare("=", Path(("my name", "y")), Value({"N": "1.5"})),
        )
    )
    placeholders.check_used()


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        ({}, None, "ExpressionAttributeNames must not be empty"),
        (None, {}, "ExpressionAttributeValues must not be empty"),
        (
            {"n": "x"},
            None,
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "n"',
        ),
        (
            {"#a-b": "x"},
            None,
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"',
        ),
        (
            None,
            {"v": {"S": "x"}},
            'ExpressionAttributeValues contains invalid key: Syntax error; key: "v"',
        ),
        (
            None,
            {":v": {"SS": []}},
            "ExpressionAttributeValues contains invalid value: One or more parameter values were "
            "invalid: An string set  may not be empty for key :v",
        ),
        (
            None,
            {":v": {}},
            "ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes for key :v",
        ),
        (
            {"#n": ""},
            None,
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #n",
        ),
    ],
)
def test_wrong_placeholder_maps_are_refused(names: Any, values: Any, message: str) -> None:
    assert _refusal(Placeholders.with_literals, names, values) == message


def test_undefined_placeholders_are_named() -> None:
    assert _refusal(_values(v={"S": "x"}).condition, "#a = :v") == (
        "Invalid ConditionExpression: An expression attribute name used in the document path is "
        "not defined; attribute name: #a"
    )
    assert _refusal(Placeholders().update, "SET a = :v") == (
        "Invalid UpdateExpression: An expression attribute value used in expression is not "
        "defined; attribute value: :v"
    )


def test_unused_placeholders_are_named() -> None:
    values = {":v": {"S": "x"}, ":w": {"S": "y"}}
    placeholders = Placeholders.with_literals({"#n": "a", "#m": "b"}, values)
    placeholders.condition("#n = :v")
    assert _refusal(placeholders.check_used) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#m}"
    )
    placeholders.projection("#m")
    assert _refusal(placeholders.check_used) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"
    )


def test_several_unused_placeholders_come_in_the_order_of_a_java_hash_set() -> None:
    placeholders = _values(**{name: {"S": "x"} for name in ("b", "c", "a", "aa")})
    assert _refusal(placeholders.check_used).endswith("keys: {:a, :b, :c, :aa}")


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        (
            "a = a",
            {},
            "The first operand must be distinct from the remaining operands for this operator or "
            "function; operator: =, first operand: [a]",
        ),
        (
            "a[1].b IN (:v, a[1].b)",
            {"v": {"S": "x"}},
            "The first operand must be distinct from the remaining operands for this operator or "
            "function; operator: IN, first operand: [a, [1], b]",
        ),
        (
            "a < :v",
            {"v": {"BOOL": True}},
            "Incorrect operand type for operator or function; operator or function: <, operand "
            "type: BOOL",
        ),
        (
            "begins_with(a, :v)",
            {"v": {"N": "1"}},
            "Incorrect operand type for operator or function; operator or function: begins_with, "
            "operand type: N",
        ),
        (
            "size(:v) = a",
            {"v": {"N": "1"}},
            "Incorrect operand type for operator or function; operator or function: size, "
            "operand type: N",
        ),
        (
            "attribute_exists(:v)",
            {"v": {"S": "a"}},
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "attribute_type(a, :v)",
            {"v": {"S": "X"}},
            "Invalid attribute type name found; type: X, valid types: "
            "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
        ),
        (
            "attribute_type(a, :v)",
            {"v": {"N": "1"}},
            "Incorrect operand type for operator or function; operator or function: "
            "attribute_type, operand type: N",
        ),
        (
            "a BETWEEN :v AND :w",
            {"v": {"N": "2"}, "w": {"N": "1"}},
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: "
            "{N:1}",
        ),
        (
            "a BETWEEN :v AND :w",
            {"v": {"N": "2"}, "w": {"S": "x"}},
            "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
            "operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {S:x}",
        ),
        (
            "a" + ".a" * 32 + " = :v",
            {"v": {"S": "x"}},
            "The document path has too many nesting levels; nesting levels: 33",
        ),
    ],
)
def test_operands_that_cannot_work_are_refused(
    text: str, values: dict[str, Any], reason: str
) -> None:
    placeholders = _values(**values) if values else Placeholders()
    assert _refusal(placeholders.condition, text) == f"Invalid ConditionExpression: {reason}"


def test_in_takes_at_most_100_operands() -> None:
    placeholders = _values(v={"S": "x"})
    placeholders.condition(f"a IN ({', '.join([':v'] * 100)})")
    assert _refusal(placeholders.condition, f"a IN ({', '.join([':v'] * 101)})") == (
        "Invalid ConditionExpression: The IN operator is provided with too many operands; number "
        "of operands: 101"
    )


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        (
            "SET a.b = :v REMOVE a",
            {"v": {"S": "x"}},
            "Two document paths overlap with each other; must remove or rewrite one of these "
            "paths; path one: [a, b], path two: [a]",
        ),
        (
            "SET a.b = :v, a[0] = :v",
            {"v": {"S": "x"}},
            "Two document paths conflict with each other; must remove or rewrite one of these "
            "paths; path one: [a, b], path two: [a, [0]]",
        ),
        (
            "ADD a :v",
            {"v": {"S": "x"}},
            "Incorrect operand type for operator or function; operator: ADD, operand type: "
            "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
        (
            "DELETE a :v",
            {"v": {"N": "1"}},
            "Incorrect operand type for operator or function; operator: DELETE, operand type: "
            "NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
        ),
        (
            "SET a = b + :v",
            {"v": {"S": "x"}},
            "Incorrect operand type for operator or function; operator or function: +, operand "
            "type: S",
        ),
        (
            "SET a = list_append(b, :v)",
            {"v": {"S": "x"}},
            "Incorrect operand type for operator or function; operator or function: list_append, "
            "operand type: S",
        ),
        (
            "SET a = if_not_exists(:v, b)",
            {"v": {"S": "x"}},
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = list_append(b)",
            {},
            "Incorrect number of operands for operator or function; operator or function: "
            "list_append, number of operands: 1",
        ),
    ],
)
def test_updates_that_cannot_work_are_refused(
    text: str, values: dict[str, Any], reason: str
) -> None:
    placeholders = _values(**values) if values else Placeholders()
    assert _refusal(placeholders.update, text) == f"Invalid UpdateExpression: {reason}"


def test_overlapping_projections_are_refused_by_resolved_name() -> None:
    placeholders = Placeholders({"#a": "a"})
    assert _refusal(placeholders.projection, "a.b, #a") == (
        "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
        "rewrite one of these paths; path one: [a, b], path two: [a]"
    )


def _read(text: str, names: dict[str, str], **values: dict[str, str]) -> ExpressionParameters:
    given = {f":{name}": value for name, value in values.items()}
    parameters = {"ExpressionAttributeNames": names} if names else {}
    return read({"UpdateExpression": text, "ExpressionAttributeValues": given, **parameters})


def test_an_update_is_planned_once_and_used_with_other_values() -> None:
    first = _read("SET #n = :v", {"#n": "name"}, v={"S": "a"})
    again = _read("SET #n = :v", {"#n": "name"}, v={"S": "b"})
    assert again.update is not None
    assert again.update is first.update
    assert again.update.apply({}, again.values) == {"name": {"S": "b"}}


def test_values_of_another_type_are_checked_again() -> None:
    _read("ADD a :v", {}, v={"N": "1"})
    with pytest.raises(ValidationError, match="operator: ADD, operand type: STRING"):
        _read("ADD a :v", {}, v={"S": "1"})


def test_another_name_for_a_placeholder_is_another_update() -> None:
    for name in ("a", "b"):
        request = _read("SET #n = :v", {"#n": name}, v={"S": "x"})
        assert request.update is not None
        assert request.update.apply({}, request.values) == {name: {"S": "x"}}


def test_a_condition_is_planned_once_and_completed_with_other_values() -> None:
    def condition(value: str) -> ExpressionParameters:
        values = {":v": {"S": value}}
        return read({"ConditionExpression": "a = :v", "ExpressionAttributeValues": values})

    first, second = condition("x"), condition("y")
    assert first.condition is second.condition
    tests = first.test(), second.test()
    assert [test is not None and test({"a": {"S": "y"}}) for test in tests] == [False, True]


def test_a_key_condition_is_kept_and_completed_with_other_values() -> None:
    terms = [
        read(
            {
                "KeyConditionExpression": "#k = :v",
                "ExpressionAttributeNames": {"#k": "pk"},
                "ExpressionAttributeValues": {":v": {"S": value}},
            }
        ).key_terms
        for value in ("x", "y")
    ]
    assert terms == [{"pk": KeyTerm("pk", "=", ({"S": value},))} for value in ("x", "y")]


def test_the_bounds_of_a_key_condition_are_looked_at_every_time() -> None:
    text = "pk = :p AND sk BETWEEN :a AND :b"
    fits = {":p": {"S": "p"}, ":a": {"N": "1"}, ":b": {"N": "2"}}
    read({"KeyConditionExpression": text, "ExpressionAttributeValues": fits})
    crossed = {**fits, ":b": {"N": "0"}}
    with pytest.raises(ValidationError, match="upper bound to be greater"):
        read({"KeyConditionExpression": text, "ExpressionAttributeValues": crossed})


def test_unused_placeholders_are_refused_each_time() -> None:
    request = {"ProjectionExpression": "a", "ExpressionAttributeNames": {"#n": "b"}}
    for _ in range(2):
        with pytest.raises(RequestInvalid, match="unused in expressions"):
            read(request)
