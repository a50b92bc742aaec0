from __future__ import annotations

import pytest

from keyfold.engine import Engine, dialects
from keyfold.errors import RequestInvalid, ValidationError


def _refusal(dialect: str, operation: str, request: dict[str, object]) -> str:
    with Engine.open(dialect=dialect) as engine:  # type: ignore[arg-type]
        engine.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        with pytest.raises(ValidationError) as caught:
            engine.call(operation, request)
        return caught.value.message


EMPTY_SET = {"TableName": "tab", "Item": {"pk": {"S": "a"}, "x": {"SS": []}}}
SYNTAX = {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "FOO"}
WRONG_KEY = {"TableName": "tab", "Item": {"pk": {"N": "1"}}}
FILTER = {"TableName": "tab", "FilterExpression": "("}


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        (
            "PutItem",
            EMPTY_SET,
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
        (
            "UpdateItem",
            SYNTAX,
            'Invalid UpdateExpression: Syntax error; token: "FOO", near: "FOO"',
        ),
    ],
)
def test_current_puts_errors_of_writes_into_an_envelope(
    operation: str, request_: dict[str, object], message: str
) -> None:
    assert _refusal("classic", operation, request_) == message
    enveloped = f"1 validation error detected: {message}"
    assert _refusal("current", operation, request_) == enveloped


@pytest.mark.parametrize(("operation", "request_"), [("PutItem", WRONG_KEY), ("Scan", FILTER)])
def test_errors_about_stored_data_and_of_reads_are_the_same(
    operation: str, request_: dict[str, object]
) -> None:
    classic = _refusal("classic", operation, request_)
    assert _refusal("current", operation, request_) == classic
    assert "validation error detected" not in classic


def test_an_envelope_leaves_out_the_placeholder() -> None:
    request: dict[str, object] = {
        "TableName": "tab",
        "Key": {"pk": {"S": "a"}},
        "UpdateExpression": "SET a = :v",
        "ExpressionAttributeValues": {":v": {"NULL": False}},
    }
    reason = (
        "One or more parameter values were invalid: Null attribute value types must have the value "
        "of true"
    )
    assert _refusal("classic", "UpdateItem", request) == (
        f"ExpressionAttributeValues contains invalid value: {reason} for key :v"
    )
    assert _refusal("current", "UpdateItem", request) == f"1 validation error detected: {reason}"


def test_an_envelope_is_put_on_once() -> None:
    current = dialects.named("current")
    error = current.broken_constraints(["Value '' at 'x' failed", "Value '' at 'y' failed"])
    assert current.worded("PutItem", error).message == (
        "1 validation error detected: Value '' at 'x' failed"
    )


def test_replaced_messages() -> None:
    old = RequestInvalid("The requestItems parameter is required for BatchGetItem")
    assert dialects.named("classic").worded("BatchGetItem", old).message == old.message
    assert dialects.named("current").worded("BatchGetItem", old).message == (
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member "
        "must have length greater than or equal to 1"
    )


def test_current_tells_less_about_table_names() -> None:
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 1"
    request: dict[str, object] = {"TableName": "", "Key": {}}
    assert _refusal("classic", "GetItem", request) == (
        f"1 validation error detected: Value '' at 'tableName' {rule}"
    )
    assert _refusal("current", "GetItem", request) == (
        f"1 validation error detected: Value at 'TableName' {rule}"
    )
    assert _refusal("current", "GetItem", {"Key": {}}) == (
        "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member "
        "must not be null"
    )


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="there are: classic, current"):
        dialects.named("klingon")
