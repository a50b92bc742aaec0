from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.engine import dialects, shapes
from keyfold_engine.errors import (
    OperationError,
    RequestInvalid,
    SerializationError,
    UnknownOperation,
)
from keyfold_engine.operations import OPERATIONS

CLASSIC, CURRENT = dialects.named("classic"), dialects.named("current")
KEY = {"pk": {"S": "a"}}


def _refusal(operation: str, request: Any, dialect: dialects.Dialect = CLASSIC) -> str:
    with pytest.raises(RequestInvalid) as caught:
        shapes.check(operation, request, dialect)
    return caught.value.message


def _one(value: str, place: str, rule: str) -> str:
    told = f" {value}" if value else ""
    return (
        f"1 validation error detected: Value{told} at '{place}' failed to satisfy constraint: "
        f"Member must {rule}"
    )


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        ("PutItem", {"Item": {}}, _one("null", "tableName", "not be null")),
        ("GetItem", {"TableName": "abc"}, _one("null", "key", "not be null")),
        (
            "PutItem",
            {"TableName": "", "Item": {}},
            _one("''", "tableName", "have length greater than or equal to 1"),
        ),
        (
            "PutItem",
            {"TableName": "a" * 256, "Item": {}},
            _one(f"'{'a' * 256}'", "tableName", "have length less than or equal to 255"),
        ),
        (
            "UpdateItem",
            {"TableName": "x!", "Key": {}},
            _one("'x!'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        ),
        (
            "CreateTable",
            {},
            "The parameter 'TableName' is required but was not present in the request",
        ),
        (
            "CreateTable",
            {"TableName": "ab"},
            _one("'ab'", "tableName", "have length greater than or equal to 3"),
        ),
        (
            "CreateTable",
            {
                "TableName": "abc",
                "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "X"}],
                "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
            },
            _one(
                "'X'",
                "attributeDefinitions.1.member.attributeType",
                "satisfy enum value set: [B, N, S]",
            ),
        ),
        (
            "CreateTable",
            {
                "TableName": "abc",
                "AttributeDefinitions": [],
                "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}] * 3,
            },
            _one(
                "'[" + ", ".join(["KeySchemaElement(attributeName=a, keyType=HASH)"] * 3) + "]'",
                "keySchema",
                "have length less than or equal to 2",
            ),
        ),
        (
            "Scan",
            {"TableName": "abc", "Limit": 0},
            _one("'0'", "limit", "have value greater than or equal to 1"),
        ),
        (
            "Query",
            {"TableName": "abc", "Limit": 0},
            _one("", "Limit", "have value greater than or equal to 1"),
        ),
        (
            "TransactGetItems",
            {"TransactItems": []},
            _one("'[]'", "transactItems", "have length greater than or equal to 1"),
        ),
        (
            "BatchGetItem",
            {"RequestItems": {}},
            "The requestItems parameter is required for BatchGetItem",
        ),
        ("BatchWriteItem", {}, "The requestItems parameter is required for BatchWriteItem"),
        (
            "BatchGetItem",
            {"RequestItems": {"tab": {"Keys": [KEY] * 101}}},
            _one("", "RequestItems.tab.member.Keys", "have length less than or equal to 100"),
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"Item": KEY}}]},
            _one("null", "transactItems.1.member.put.tableName", "not be null"),
        ),
    ],
)
def test_broken_constraints_in_dynamodbs_words(
    operation: str, request_: dict[str, Any], message: str
) -> None:
    assert _refusal(operation, request_) == message


def test_a_batch_too_large_is_shown_whole() -> None:
    puts = [{"PutRequest": {"Item": {"pk": {"S": str(at)}}}} for at in range(26)]
    message = _refusal("BatchWriteItem", {"RequestItems": {"tab": puts}})
    assert message.startswith(
        "1 validation error detected: Value '{tab=[WriteRequest(putRequest=PutRequest("
        "item={pk=AttributeValue(s=0)}), deleteRequest=null), "
    )
    assert message.endswith(
        "]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, Member must have length greater than "
        "or equal to 1]"
    )


def test_all_problems_are_listed_but_by_update_item_in_the_current_dialect() -> None:
    request = {"TableName": "abc", "Key": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "Y"}
    first = (
        "Value 'Y' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy "
        "enum value set: [INDEXES, TOTAL, NONE]"
    )
    second = (
        "Value 'X' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value "
        "set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
    )
    both = f"2 validation errors detected: {first}; {second}"
    for operation in ("DeleteItem", "UpdateItem"):
        assert _refusal(operation, request) == both
    assert _refusal("DeleteItem", request, CURRENT) == both
    request = {"TableName": "abc", "Key": KEY, "ReturnConsumedCapacity": "Y"}
    wrong = {**request, "ReturnItemCollectionMetrics": "Z"}
    assert _refusal("UpdateItem", wrong, CURRENT) == f"1 validation error detected: {first}"


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        ("GetItem", [], "Unexpected value type in payload"),
        ("GetItem", {"TableName": 5}, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", {"TableName": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
        ("GetItem", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
        ("GetItem", {"TableName": []}, "Unrecognized collection type class java.lang.String"),
        ("GetItem", {"TableName": {}}, "Start of structure or map found where not expected"),
        ("GetItem", {"ConsistentRead": "maybe"}, "Unexpected token received from parser"),
        ("GetItem", {"ConsistentRead": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ("Scan", {"Limit": "1"}, "STRING_VALUE cannot be converted to Integer"),
        ("Scan", {"Limit": False}, "FALSE_VALUE cannot be converted to Integer"),
        ("GetItem", {"Key": "x"}, "Unexpected field type"),
        (
            "GetItem",
            {"Key": []},
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>",
        ),
        ("GetItem", {"Key": {"a": "x"}}, "Unexpected value type in payload"),
        (
            "GetItem",
            {"Key": {"a": []}},
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        ("GetItem", {"Key": {"a": {"S": 1}}}, "NUMBER_VALUE cannot be converted to String"),
        ("GetItem", {"Key": {"a": {"L": "x"}}}, "Unexpected field type"),
        ("GetItem", {"Key": {"a": {"M": "x"}}}, "Unexpected field type"),
        ("GetItem", {"Key": {"a": {"L": ["x"]}}}, "Unexpected value type in payload"),
        (
            "GetItem",
            {"Key": {"a": {"B": "abc"}}},
            "Base64 encoded length is expected a multiple of 4 bytes but found: 3",
        ),
        (
            "GetItem",
            {"Key": {"a": {"B": 1}}},
            "only base-64-encoded strings are convertible to bytes",
        ),
        (
            "GetItem",
            {"Key": {"a": {"BS": ["!!!!"]}}},
            "Invalid last non-pad Base64 character dectected",
        ),
        ("GetItem", {"AttributesToGet": "x"}, "Unexpected field type"),
        (
            "GetItem",
            {"AttributesToGet": {}},
            "Start of structure or map found where not expected",
        ),
        ("CreateTable", {"ProvisionedThroughput": 1}, "Unexpected field type"),
        ("CreateTable", {"KeySchema": [1]}, "Unexpected value type in payload"),
    ],
)
def test_wrong_types_in_the_frameworks_words(operation: str, request_: Any, message: str) -> None:
    with pytest.raises(SerializationError) as caught:
        shapes.check(operation, request_, CLASSIC)
    assert caught.value.message == message


def test_types_are_checked_before_constraints() -> None:
    with pytest.raises(SerializationError):
        shapes.check("GetItem", {"TableName": "", "ConsistentRead": 5}, CLASSIC)


def test_nulls_and_unknown_members_are_left_out() -> None:
    given = {
        "TableName": "abc",
        "Key": {"a": {"S": "x", "N": None, "Q": 1}, "b": None},
        "ProjectionExpression": None,
        "Unheard": "of",
    }
    assert shapes.check("GetItem", given, CLASSIC) == {
        "TableName": "abc",
        "Key": {"a": {"S": "x"}, "b": {}},
    }


def test_words_for_truth_and_fractions_are_read_as_the_framework_reads_them() -> None:
    request = {"TableName": "abc", "ConsistentRead": "Yes", "Limit": 3.7}
    assert shapes.check("Scan", request, CLASSIC) == {
        "TableName": "abc",
        "ConsistentRead": True,
        "Limit": 3,
    }


def test_a_table_may_be_named_by_its_arn() -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/orders"
    assert shapes.check("GetItem", {"TableName": arn, "Key": KEY}, CLASSIC)["TableName"] == arn


def test_every_operation_has_a_shape() -> None:
    assert shapes.every().keys() == OPERATIONS.keys()


def test_an_operation_nobody_knows() -> None:
    with pytest.raises(UnknownOperation):
        shapes.check("Frobnicate", {}, CLASSIC)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("S", "N", "B", "L", "M", "SS", "x")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.data())
def test_any_request_is_accepted_or_refused_in_either_dialect(data: st.DataObject) -> None:
    operation = data.draw(st.sampled_from(sorted(shapes.every())))
    members = st.sampled_from([*shapes.every()[operation].members, "Other"])
    request = data.draw(st.dictionaries(members, JSON, max_size=4) | JSON)
    for dialect in (CLASSIC, CURRENT):
        try:
            typed = shapes.check(operation, request, dialect)
        except OperationError as error:
            told = error
        else:
            assert shapes.check(operation, typed, dialect) == typed
            continue
        assert told.message


@pytest.mark.parametrize("text", ["AB==", "AAB=", "//=="])
@pytest.mark.parametrize("wrapped", [lambda t: {"B": t}, lambda t: {"BS": [t]}])
def test_base64_may_not_have_stray_bits_behind_its_last_byte(text: str, wrapped: Any) -> None:
    request = {"TableName": "abc", "Item": {"x": wrapped(text)}}
    with pytest.raises(SerializationError) as caught:
        shapes.check("PutItem", request, CURRENT)
    assert caught.value.message == "Invalid last non-pad Base64 character dectected"


@given(st.binary(max_size=20))
def test_base64_of_any_bytes_is_right(content: bytes) -> None:
    request = {"TableName": "abc", "Item": {"x": {"B": b64encode(content).decode()}}}
    assert shapes.check("PutItem", request, CURRENT) == request
