from __future__ import annotations

from typing import Any

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
    problems = ["Value '' at 'x' failed", "Value '' at 'y' failed"]
    error = current.broken_constraints("UpdateItem", problems)
    assert current.worded("UpdateItem", error).message == (
        "1 validation error detected: Value '' at 'x' failed"
    )


@pytest.mark.parametrize("dialect", ["classic", "current"])
def test_batches_transactions_and_definitions_list_all_that_is_wrong(dialect: str) -> None:
    request: dict[str, object] = {
        "TransactItems": [{"Put": {"TableName": "tab", "Item": {"pk": {"S": "a"}}}}],
        "ReturnConsumedCapacity": "BOGUS",
        "ReturnItemCollectionMetrics": "BOGUS2",
    }
    told = _refusal(dialect, "TransactWriteItems", request)
    assert told.startswith(
        "2 validation errors detected: Value 'BOGUS' at 'returnConsumedCapacity' failed"
    )


DUPLICATES = {"SS": ["b", "a", "b"]}, {"BS": ["/w==", "AA==", "AA=="]}, {"NS": ["2", "1", "2"]}
INVALID = "One or more parameter values were invalid: "
NEWER = (
    f'{INVALID}Input collection ["a", "b", "b"] contains duplicates.',
    f'{INVALID}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
    f"{INVALID}Input collection contains duplicates.",
)
OLDER = (
    f"{INVALID}Input collection [b, a, b] contains duplicates.",
    f"{INVALID}Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    "Input collection contains duplicates",
)


@pytest.mark.parametrize(
    ("value", "newer", "older"),
    [
        *zip(DUPLICATES, NEWER, OLDER, strict=True),
        (
            {"N": ""},
            "The parameter cannot be converted to a numeric value: ",
            "The parameter cannot be converted to a numeric value",
        ),
    ],
)
def test_operations_speak_of_wrong_values_in_newer_or_older_words(
    value: dict[str, object], newer: str, older: str
) -> None:
    item = {"pk": {"S": "a"}, "s": value}
    filtered = {"FilterExpression": "s = :s", "ExpressionAttributeValues": {":s": value}}
    query = {
        "TableName": "tab",
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": "s = :s",
        "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": value},
    }
    key = {"TableName": "tab", "Key": {"pk": value}}
    enveloped = f"1 validation error detected: {newer}"
    wrapped = f"ExpressionAttributeValues contains invalid value: {older} for key :s"
    batch = {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}}
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("PutItem", {"TableName": "tab", "Item": item}, enveloped, older),
        ("DeleteItem", key, enveloped, older),
        ("GetItem", key, newer, older),
        ("Query", query, newer, wrapped),
        ("Scan", {"TableName": "tab", **filtered}, wrapped, wrapped),
        ("BatchWriteItem", batch, older, older),
    ]
    for operation, request, current, classic in cases:
        assert _refusal("current", operation, request) == current
        assert _refusal("classic", operation, request) == classic


def test_replaced_messages() -> None:
    old = RequestInvalid("The requestItems parameter is required for BatchGetItem")
    assert dialects.named("classic").worded("BatchGetItem", old).message == old.message
    assert dialects.named("current").worded("BatchGetItem", old).message == (
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member "
        "must have length greater than or equal to 1"
    )


def test_current_does_not_show_an_empty_table_name() -> None:
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 1"
    request: dict[str, object] = {"TableName": "", "Key": {}}
    assert _refusal("classic", "GetItem", request) == (
        f"1 validation error detected: Value '' at 'tableName' {rule}"
    )
    assert _refusal("current", "GetItem", request) == (
        f"1 validation error detected: Value at 'TableName' {rule}"
    )
    for dialect in ("classic", "current"):
        assert _refusal(dialect, "GetItem", {"Key": {}}) == (
            "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: "
            "Member must not be null"
        )
        assert _refusal(dialect, "GetItem", {"TableName": "a!", "Key": {}}) == (
            "1 validation error detected: Value 'a!' at 'tableName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
        )


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
@pytest.mark.parametrize(
    ("more", "current", "classic"),
    [
        (
            {"ExpressionAttributeValues": {":v": {"S": "x"}}},
            "ExpressionAttributeValues can only be specified when using expressions",
            "ExpressionAttributeValues can only be specified when using expressions: "
            "ConditionExpression is null",
        ),
        (
            {"ReturnValues": "ALL_NEW"},
            "ReturnValues can only be ALL_OLD or NONE",
            "ReturnValues can only be ALL_OLD or NONE",
        ),
    ],
)
def test_what_a_write_may_not_have(
    operation: str, more: dict[str, object], current: str, classic: str
) -> None:
    subject = "Item" if operation == "PutItem" else "Key"
    request: dict[str, object] = {"TableName": "tab", subject: {"pk": {"S": "a"}}, **more}
    assert _refusal("current", operation, request) == f"1 validation error detected: {current}"
    assert _refusal("classic", operation, request) == classic


def test_current_envelopes_what_is_wrong_about_select_in_a_query() -> None:
    reason = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    request: dict[str, object] = {
        "TableName": "tab",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        "Select": "ALL_PROJECTED_ATTRIBUTES",
    }
    assert _refusal("current", "Query", request) == f"1 validation error detected: {reason}"
    assert _refusal("classic", "Query", request) == reason
    scan: dict[str, object] = {"TableName": "tab", "Select": "ALL_PROJECTED_ATTRIBUTES"}
    assert _refusal("current", "Scan", scan) == reason


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="there are: classic, current"):
        dialects.named("klingon")
