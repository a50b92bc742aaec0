from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keyfold_engine.engine import Engine, dialects
from keyfold_engine.engine.engine import Dialect
from keyfold_engine.errors import (
    ConditionFailed,
    RequestInvalid,
    TransactionCanceled,
    ValidationError,
)


def _refusal(dialect: Dialect, operation: str, request: Mapping[str, Any]) -> str:
    with Engine.open(dialect=dialect) as engine:
        _create(engine)
        with pytest.raises(ValidationError) as caught:
            engine.call(operation, request)
        return caught.value.message


def _create(engine: Engine) -> None:
    engine.call(
        "CreateTable",
        {
            "TableName": "tab",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )


EMPTY_SET = {"TableName": "tab", "Item": {"pk": {"S": "a"}, "x": {"SS": []}}}
SYNTAX = {"TableName": "tab", "Key": {"pk": {"S": "a"}}, "UpdateExpression": "FOO"}
KEYED = {"TableName": "tab", "Key": {"pk": {"S": "a"}}}
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
    operation: str, request_: Mapping[str, Any], message: str
) -> None:
    assert _refusal("classic", operation, request_) == message
    enveloped = f"1 validation error detected: {message}"
    assert _refusal("current", operation, request_) == enveloped


@pytest.mark.parametrize(("operation", "request_"), [("PutItem", WRONG_KEY), ("Scan", FILTER)])
def test_errors_about_stored_data_and_of_reads_are_the_same(
    operation: str, request_: Mapping[str, Any]
) -> None:
    classic = _refusal("classic", operation, request_)
    assert _refusal("current", operation, request_) == classic
    assert "validation error detected" not in classic


def test_an_envelope_leaves_out_the_placeholder() -> None:
    request: dict[str, Any] = {
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
    assert current.error_in_words("UpdateItem", error, KEYED).message == (
        "1 validation error detected: Value '' at 'x' failed"
    )


@pytest.mark.parametrize("dialect", ["classic", "current"])
def test_batches_transactions_and_definitions_list_all_that_is_wrong(dialect: Dialect) -> None:
    request: dict[str, Any] = {
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
    value: Mapping[str, Any], newer: str, older: str
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
    assert dialects.named("classic").error_in_words("BatchGetItem", old, {}).message == old.message
    assert dialects.named("current").error_in_words("BatchGetItem", old, {}).message == (
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member "
        "must have length greater than or equal to 1"
    )


def test_current_does_not_show_an_empty_table_name() -> None:
    rule = "failed to satisfy constraint: Member must have length greater than or equal to 1"
    request: dict[str, Any] = {"TableName": "", "Key": {}}
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
    operation: str, more: Mapping[str, Any], current: str, classic: str
) -> None:
    subject = "Item" if operation == "PutItem" else "Key"
    request: dict[str, Any] = {"TableName": "tab", subject: {"pk": {"S": "a"}}, **more}
    assert _refusal("current", operation, request) == f"1 validation error detected: {current}"
    assert _refusal("classic", operation, request) == classic


def test_current_envelopes_what_is_wrong_about_select_in_a_query() -> None:
    reason = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
    request: dict[str, Any] = {
        "TableName": "tab",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}},
        "Select": "ALL_PROJECTED_ATTRIBUTES",
    }
    assert _refusal("current", "Query", request) == f"1 validation error detected: {reason}"
    assert _refusal("classic", "Query", request) == reason
    scan: Mapping[str, Any] = {"TableName": "tab", "Select": "ALL_PROJECTED_ATTRIBUTES"}
    assert _refusal("current", "Scan", scan) == reason


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown dialect 'klingon'; use current or classic"):
        dialects.named("klingon")


TOO_SHORT = "failed to satisfy constraint: Member must have length greater than or equal to 1"
ENUM = "failed to satisfy constraint: Member must satisfy enum value set:"
CAPACITY = f"Value 'X' at 'returnConsumedCapacity' {ENUM} [INDEXES, TOTAL, NONE]"
RETURNS = f"Value 'X' at 'returnValues' {ENUM} [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
NO_KEY = "Value null at 'key' failed to satisfy constraint: Member must not be null"


def test_the_older_layer_lists_a_wrong_table_name_with_all_else() -> None:
    request: dict[str, Any] = {"TableName": "", "Item": {}, "ReturnValues": "X"}
    assert _refusal("classic", "PutItem", request) == (
        f"2 validation errors detected: {RETURNS}; Value '' at 'tableName' {TOO_SHORT}"
    )
    assert _refusal("current", "PutItem", request) == (
        f"1 validation error detected: Value at 'TableName' {TOO_SHORT}"
    )


@pytest.mark.parametrize("dialect", ["classic", "current"])
def test_an_update_without_its_key_is_answered_by_the_older_layer(dialect: Dialect) -> None:
    request: dict[str, Any] = {"TableName": ""}
    table = f"Value '' at 'tableName' {TOO_SHORT}"
    assert _refusal(dialect, "UpdateItem", request) == (
        f"2 validation errors detected: {table}; {NO_KEY}"
    )
    request = {"TableName": "", "ReturnValues": "X", "ReturnConsumedCapacity": "X"}
    assert _refusal(dialect, "UpdateItem", request) == (
        f"4 validation errors detected: {CAPACITY}; {table}; {RETURNS}; {NO_KEY}"
    )
    request = {"TableName": "tab", "ConditionalOperator": "XOR"}
    assert _refusal(dialect, "UpdateItem", request) == (
        f"2 validation errors detected: Value 'XOR' at 'conditionalOperator' {ENUM} [OR, AND]; "
        f"{NO_KEY}"
    )


def test_update_item_tells_of_its_return_values_first() -> None:
    request: dict[str, Any] = {**KEYED, "ReturnValues": "X", "ReturnConsumedCapacity": "X"}
    assert _refusal("current", "UpdateItem", request) == (
        "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value "
        "set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
    )
    assert _refusal("classic", "UpdateItem", request) == (
        f"2 validation errors detected: {CAPACITY}; {RETURNS}"
    )


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "leaf"}
    for level in range(levels):
        value = {"L": [value]} if level % 2 else {"M": {"n": value}}
    return value


DEEP = (
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit"
)


def test_requests_too_deep_for_the_newer_layer_are_answered_by_the_older_one() -> None:
    for levels, message in ((32, f"1 validation error detected: {DEEP}"), (63, DEEP)):
        item = {"pk": {"S": "a"}, "d": _nested(levels)}
        assert _refusal("current", "PutItem", {"TableName": "tab", "Item": item}) == message
    for levels, message in (
        (40, "1 validation error detected: ReturnValues can only be ALL_OLD or NONE"),
        (100, "ReturnValues can only be ALL_OLD or NONE"),
    ):
        request = {
            **KEYED,
            "ReturnValues": "UPDATED_NEW",
            "ConditionExpression": "d = :d",
            "ExpressionAttributeValues": {":d": _nested(levels)},
        }
        assert _refusal("current", "DeleteItem", request) == message
    operator = {
        "TableName": "tab",
        "Item": {"pk": {"S": "a"}},
        "ConditionalOperator": "XOR",
    }
    for levels, message in (
        (
            40,
            "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum "
            "value set: [ALL, OR]",
        ),
        (
            100,
            f"1 validation error detected: Value 'XOR' at 'conditionalOperator' {ENUM} [OR, AND]",
        ),
    ):
        request = {**operator, "Expected": {"d": {"Value": _nested(levels)}}}
        assert _refusal("current", "PutItem", request) == message


def test_the_older_layer_takes_values_a_level_deeper_than_items() -> None:
    compared = {"ConditionExpression": "d = :d", "ExpressionAttributeValues": {":d": _nested(32)}}
    with Engine.open(dialect="classic") as engine:
        _create(engine)
        with pytest.raises(ConditionFailed):
            engine.call("UpdateItem", {**KEYED, "UpdateExpression": "REMOVE x", **compared})
    assert _refusal(
        "current", "UpdateItem", {**KEYED, "UpdateExpression": "REMOVE x", **compared}
    ) == (f"1 validation error detected: {DEEP}")
    check = {"TransactItems": [{"ConditionCheck": {**KEYED, **compared}}]}
    written = {"UpdateExpression": "SET d = :d", "ExpressionAttributeValues": {":d": _nested(32)}}
    update = {"TransactItems": [{"Update": {**KEYED, **written}}]}
    with Engine.open() as engine:
        _create(engine)
        with pytest.raises(TransactionCanceled) as cancelled:
            engine.call("TransactWriteItems", check)
        assert cancelled.value.reasons[0].code == "ConditionalCheckFailed"
        with pytest.raises(TransactionCanceled) as cancelled:
            engine.call("TransactWriteItems", update)
        [reason] = cancelled.value.reasons
        assert (reason.code, reason.message) == (
            "ValidationError",
            "Nesting Levels have exceeded supported limits",
        )


def test_older_operations_read_numbers_as_javas_bigdecimal_does() -> None:
    overflow = (
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    )
    underflow = (
        "Number underflow. Attempting to store a number with magnitude smaller than supported range"
    )
    item = {"pk": {"S": "a"}, "n": {"N": "1e2147483647"}}
    put = {"TableName": "tab", "Item": item}
    assert _refusal("current", "PutItem", put) == f"1 validation error detected: {overflow}"
    batch = {"RequestItems": {"tab": [{"PutRequest": {"Item": item}}]}}
    assert _refusal("current", "BatchWriteItem", batch) == underflow
    assert _refusal("current", "TransactWriteItems", {"TransactItems": [{"Put": put}]}) == underflow
    statement = {
        "Statement": 'SELECT * FROM "tab" WHERE pk = ?',
        "Parameters": [{"N": "1e99999999999"}],
    }
    not_numeric = "The parameter cannot be converted to a numeric value: 1e99999999999"
    assert _refusal("current", "ExecuteStatement", statement) == not_numeric
    with Engine.open() as engine:
        _create(engine)
        [answer] = engine.call("BatchExecuteStatement", {"Statements": [statement]})["Responses"]
        assert answer["Error"] == {"Code": "ValidationError", "Message": not_numeric}
