"""SearchVectors, and writes of the vectors that it finds.

Words, scores and byte counts as captured from Amazon in August to October 2026 (the public
conformance suite, dynoxide, ExtendDB)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import (
    ConditionFailed,
    EmptyKey,
    SerializationError,
    TableNotFound,
    TransactionCanceled,
    ValidationError,
)

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

# botocore sends no null, and a body with spaces.
_AS_WRITTEN = pytest.mark.parametrize("way", ["engine", "http"], indirect=True)
_INVALID = "One or more parameter values were invalid. "
_COMPARATOR = (
    "Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression"
)


def numbers(*values: object) -> list[dict[str, str]]:
    return [{"N": str(value)} for value in values]


@pytest.fixture
def plain(call: Call, name: str) -> str:
    """A table with an index of each function on `emb` (2 dimensions), all attributes shown."""
    return _created(call, name, ("COSINE", "DOT_PRODUCT", "EUCLIDEAN"))


def _created(call: Call, name: str, functions: tuple[str, ...], **changes: Any) -> str:
    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                *changes.pop("defined", ()),
            ],
            "VectorIndexes": [
                {
                    "IndexName": function.lower(),
                    "VectorAttribute": {"AttributeName": "emb"},
                    "Dimensions": 2,
                    "DistanceFunction": function,
                    "Projection": {"ProjectionType": "ALL"},
                    **changes,
                }
                for function in functions
            ],
        },
    )
    return name


@pytest.fixture
def tenants(call: Call, name: str) -> str:
    """A table whose index has a HASH and a filter."""
    return _created(
        call,
        name,
        ("COSINE",),
        SearchSchema=[
            {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"},
            {"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"},
        ],
        defined=[
            {"AttributeName": "tenant", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "N"},
        ],
    )


def _put(call: Call, table: str, key: str, vector: Any, **attributes: Any) -> dict[str, Any]:
    item = {"pk": {"S": key}, **attributes}
    if vector is not None:
        item["emb"] = {"L": numbers(*vector)} if isinstance(vector, tuple) else vector
    request = {"TableName": table, "Item": item, "ReturnConsumedCapacity": "INDEXES"}
    return call("PutItem", request)


def _search(call: Call, table: str, *query: float, **changes: Any) -> list[tuple[str, float]]:
    request = {"IndexName": "cosine", "SearchVector": numbers(*query), "TopK": 10, **changes}
    found = call("SearchVectors", {"TableName": table, **request})["SearchResults"]
    return [(each["Item"]["pk"]["S"], each["Score"]) for each in found]


def _of(tenant: str, kind: int | None = None) -> dict[str, Any]:
    values: dict[str, Any] = {":t": {"S": tenant}}
    text = "tenant = :t"
    if kind is not None:
        values[":k"] = {"N": str(kind)}
        text += " AND kind = :k"
    return {"SearchConditionExpression": text, "ExpressionAttributeValues": values}


def test_the_nearest_come_first_with_the_scores_of_each_function(call: Call, plain: str) -> None:
    _put(call, plain, "same", (1, 0))
    _put(call, plain, "far", (10, 0))
    _put(call, plain, "opposite", (-1, 0))
    assert _search(call, plain, 1, 0) == [("same", 0.0), ("far", 0.0), ("opposite", 2.0)]
    euclidean = _search(call, plain, 1, 0, IndexName="euclidean")
    assert euclidean == [("same", 0.0), ("opposite", 2.0), ("far", 9.0)]
    dot = _search(call, plain, 1, 0, IndexName="dot_product")
    assert dot == [("far", 10.0), ("same", 1.0), ("opposite", -1.0)]


def test_a_zero_vector_scores_one_under_cosine(call: Call, plain: str) -> None:
    _put(call, plain, "zero", (0, 0))
    assert _search(call, plain, 1, 0) == [("zero", 1.0)]
    assert _search(call, plain, 0, 0) == [("zero", 1.0)]


def test_scores_are_held_to_the_range_of_32_bits(call: Call, plain: str) -> None:
    _put(call, plain, "a", ("3E38", "-3E38"))
    far = _search(call, plain, -3e38, 3e38, IndexName="euclidean")
    assert far == [("a", 3.4028234663852886e38)]
    assert _search(call, plain, 3e38, 3e38, IndexName="dot_product") == [("a", 0.0)]


def test_top_k_limits_the_answer(call: Call, plain: str) -> None:
    for number in range(5):
        _put(call, plain, f"i{number}", (1, number))
    assert [key for key, _ in _search(call, plain, 1, 0, TopK=2)] == ["i0", "i1"]


def test_the_vector_is_left_out_unless_it_is_named_and_comes_as_32_bits(
    call: Call, plain: str
) -> None:
    _put(call, plain, "a", ("0.1", "-0"), extra={"S": "x"})
    search = {"TableName": plain, "IndexName": "cosine", "SearchVector": numbers(1, 0), "TopK": 1}
    [found] = call("SearchVectors", search)["SearchResults"]
    assert found["Item"] == {"pk": {"S": "a"}, "extra": {"S": "x"}}
    _put(call, plain, "a", ("16777217", "1E-40"), extra={"S": "x"})
    [found] = call("SearchVectors", {**search, "ProjectionExpression": "pk, emb"})["SearchResults"]
    assert found["Item"] == {
        "pk": {"S": "a"},
        "emb": {"L": numbers("16777216", "0." + "0" * 39 + "1")},
    }
    stored = call("GetItem", {"TableName": plain, "Key": {"pk": {"S": "a"}}})["Item"]
    assert stored["emb"]["L"][0] == {"N": "16777217"}


def test_keys_only_shows_keys_and_the_schema(call: Call, name: str) -> None:
    _created(
        call,
        name,
        ("COSINE",),
        SearchSchema=[{"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"}],
        defined=[{"AttributeName": "kind", "AttributeType": "N"}],
        Projection={"ProjectionType": "KEYS_ONLY"},
    )
    _put(call, name, "a", (1, 0), kind={"N": "1"}, colour={"S": "x"})
    search = {"TableName": name, "IndexName": "cosine", "SearchVector": numbers(1, 0), "TopK": 1}
    [found] = call("SearchVectors", search)["SearchResults"]
    assert found["Item"] == {"pk": {"S": "a"}, "kind": {"N": "1"}}
    projected = {**search, "ProjectionExpression": "pk, colour"}
    [found] = call("SearchVectors", projected)["SearchResults"]
    assert found["Item"] == {"pk": {"S": "a"}}


def test_a_search_stays_within_its_hash_value_and_filter(call: Call, tenants: str) -> None:
    _put(call, tenants, "a", (1, 0), tenant={"S": "t1"}, kind={"N": "1"})
    _put(call, tenants, "b", (1, 1), tenant={"S": "t1"}, kind={"N": "2"})
    _put(call, tenants, "c", (1, 0), tenant={"S": "t2"}, kind={"N": "1"})
    _put(call, tenants, "no kind", (1, 2), tenant={"S": "t1"})
    found = _search(call, tenants, 1, 0, **_of("t1"))
    assert [key for key, _ in found] == ["a", "b", "no kind"]
    assert [key for key, _ in _search(call, tenants, 1, 0, **_of("t1", 2))] == ["b"]
    assert _search(call, tenants, 1, 0, **_of("t3")) == []


def test_an_item_without_its_hash_leaves_the_index_silently(call: Call, tenants: str) -> None:
    _put(call, tenants, "a", (1, 0), tenant={"S": "t1"})
    _put(call, tenants, "never", (1, 0))
    assert [key for key, _ in _search(call, tenants, 1, 0, **_of("t1"))] == ["a"]
    call(
        "UpdateItem",
        {
            "TableName": tenants,
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "REMOVE tenant",
        },
    )
    assert _search(call, tenants, 1, 0, **_of("t1")) == []


def test_searches_follow_every_kind_of_write(call: Call, plain: str) -> None:
    def found() -> list[str]:
        return [key for key, _ in _search(call, plain, 1, 0)]

    key = {"pk": {"S": "a"}}
    batch = {"PutRequest": {"Item": {**key, "emb": {"L": numbers(1, 0)}}}}
    call("BatchWriteItem", {"RequestItems": {plain: [batch]}})
    put = {"TableName": plain, "Item": {"pk": {"S": "b"}, "emb": {"L": numbers(1, 1)}}}
    call("TransactWriteItems", {"TransactItems": [{"Put": put}]})
    statement = f"INSERT INTO \"{plain}\" VALUE {{'pk': 'c', 'emb': [1, 2]}}"
    call("ExecuteStatement", {"Statement": statement})
    assert found() == ["a", "b", "c"]
    call(
        "UpdateItem",
        {
            "TableName": plain,
            "Key": key,
            "UpdateExpression": "SET emb[1] = :v",
            "ExpressionAttributeValues": {":v": {"N": "9"}},
        },
    )
    assert found() == ["b", "c", "a"]
    call("DeleteItem", {"TableName": plain, "Key": {"pk": {"S": "b"}}})
    assert found() == ["c", "a"]
    with pytest.raises(ConditionFailed):
        call(
            "DeleteItem",
            {
                "TableName": plain,
                "Key": key,
                "ConditionExpression": "attribute_not_exists(pk)",
            },
        )
    assert found() == ["c", "a"]


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (
            {"S": "x"},
            f"{_INVALID}Invalid type for parameter emb, Expected: 32-bit floating point number "
            "list IndexName: cosine",
        ),
        (
            {"L": numbers(1)},
            f"{_INVALID}Invalid size for parameter emb, Expected: 2, Actual: 1 IndexName: cosine",
        ),
        (
            {"L": [{"N": "1"}, {"S": "x"}]},
            f"{_INVALID}Invalid type for parameter emb[1], "
            "Expected: 32-bit floating point number, Actual: S. IndexName: cosine",
        ),
        (
            {"L": numbers("1E39", 0)},
            f"{_INVALID}Invalid value for parameter emb[0], Value: 1E+39 is outside valid range "
            "[-3.4028235E38, 3.4028235E38]. IndexName: cosine",
        ),
    ],
)
def test_every_write_refuses_a_value_that_is_not_a_vector(
    call: Call, plain: str, vector: dict[str, Any], message: str
) -> None:
    key = {"pk": {"S": "a"}}
    with pytest.raises(ValidationError) as refused:
        call("PutItem", {"TableName": plain, "Item": {**key, "emb": vector}})
    assert refused.value.message == message
    with pytest.raises(ValidationError) as refused:
        call(
            "UpdateItem",
            {
                "TableName": plain,
                "Key": key,
                "UpdateExpression": "SET emb = :v",
                "ExpressionAttributeValues": {":v": vector},
            },
        )
    assert refused.value.message == message
    put = {"Put": {"TableName": plain, "Item": {**key, "emb": vector}}}
    with pytest.raises((ValidationError, TransactionCanceled)):
        call("TransactWriteItems", {"TransactItems": [put]})
    assert "Item" not in call("GetItem", {"TableName": plain, "Key": key})


def test_the_schema_of_an_index_holds_for_writes(call: Call, tenants: str) -> None:
    with pytest.raises(ValidationError) as refused:
        _put(call, tenants, "a", (1, 0), tenant={"N": "1"})
    assert refused.value.message == (
        "One or more parameter values were invalid. Attribute 'tenant' type mismatch. Expected: S, "
        "Actual: N. IndexName: cosine"
    )
    with pytest.raises(ValidationError) as refused:
        _put(call, tenants, "a", (1, 0), tenant={"S": ""})
    assert refused.value.message == (
        "One or more parameter values are not valid. A value specified for a secondary index key "
        "is not supported. The AttributeValue for a key attribute cannot contain an empty string "
        "value. IndexName: cosine, IndexKey: tenant"
    )
    with pytest.raises(ValidationError) as refused:
        _put(call, tenants, "a", (1, 0), tenant={"S": "t" * 2049})
    assert refused.value.message == (
        "One or more parameter values were invalid: Aggregate size for HASH key attributes exceeds "
        "the maximum of 2048 bytes"
    )


def test_an_update_is_not_refused_for_what_it_does_not_touch(call: Call, name: str) -> None:
    created = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }
    call("CreateTable", created)
    _put(call, name, "a", {"S": "no vector"})
    index = {
        "IndexName": "cosine",
        "VectorAttribute": {"AttributeName": "emb"},
        "Dimensions": 2,
        "DistanceFunction": "COSINE",
        "Projection": {"ProjectionType": "ALL"},
    }
    call("UpdateTable", {"TableName": name, "VectorIndexUpdates": [{"Create": index}]})
    call(
        "UpdateItem",
        {
            "TableName": name,
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "SET colour = :v",
            "ExpressionAttributeValues": {":v": {"S": "x"}},
        },
    )
    assert _search(call, name, 1, 0) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"TopK": 0},
            "1 validation error detected: Value at 'TopK' failed to satisfy constraint: Member "
            "must have value greater than or equal to 1",
        ),
        (
            {"TopK": 101},
            "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 "
            "inclusive",
        ),
        ({"IndexName": "other"}, "The table does not have the specified index: other"),
        (
            {"IndexName": "ab"},
            "1 validation error detected: Value at 'IndexName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3",
        ),
        (
            {"SearchVector": []},
            "1 validation error detected: Value at 'SearchVector' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
        ),
        (
            {"SearchVector": [{"L": numbers(1, 0)}]},
            "Search vector contains invalid values. All values in the search vector must be a "
            "32-bit floating-point number attribute",
        ),
        (
            {"SearchVector": numbers(1, 2, 3)},
            "Input search vector dimension 3 does not match vector index dimension 2",
        ),
        (
            {"SearchConditionExpression": None, "ExpressionAttributeValues": None},
            "SearchConditionExpression must be provided when SearchSchema has a HASH key",
        ),
        ({"SearchConditionExpression": "tenant < :t"}, _COMPARATOR),
        ({"SearchConditionExpression": "tenant IN (:t)"}, _COMPARATOR),
        ({"SearchConditionExpression": "NOT tenant = :t"}, _COMPARATOR),
        (
            {"SearchConditionExpression": "tenant = :t AND pk = :t"},
            "SearchConditionExpression must not contain any attributes that is not in "
            "SearchSchema. Invalid attribute: pk",
        ),
        (
            {"SearchConditionExpression": "tenant.a = :t"},
            "Invalid SearchConditionExpression: SearchConditionExpression cannot have conditions "
            "on nested attributes",
        ),
        (
            {"SearchConditionExpression": "tenant = :t AND tenant = :t"},
            "Invalid SearchConditionExpression: SearchConditionExpression must only contain one "
            "condition per attribute",
        ),
        (
            {"ExpressionAttributeValues": {":t": {"N": "1"}}},
            "Type of 'tenant' attribute in SearchConditionExpression (N) does not match type in "
            "search schema (S)",
        ),
        (
            {"ExpressionAttributeValues": {":t": {"S": ""}}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: tenant",
        ),
    ],
)
def test_a_wrong_search_is_refused(
    call: Call, tenants: str, changes: dict[str, Any], message: str
) -> None:
    search = {
        "TableName": tenants,
        "IndexName": "cosine",
        "SearchVector": numbers(1, 0),
        "TopK": 1,
        **_of("t1"),
    }
    changed = {name: value for name, value in {**search, **changes}.items() if value is not None}
    with pytest.raises((ValidationError, EmptyKey)) as refused:
        call("SearchVectors", changed)
    assert refused.value.message == message


def test_a_search_of_a_table_that_is_not_there(call: Call, name: str) -> None:
    with pytest.raises(TableNotFound):
        _search(call, name, 1, 0)


@_AS_WRITTEN
@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ("TableName", "a string"),
        ("IndexName", "a string"),
        ("SearchVector", "a sequence"),
        ("TopK", "i32"),
    ],
)
def test_an_explicit_null_is_unreadable(call: Call, plain: str, member: str, expected: str) -> None:
    search = {"TableName": plain, "IndexName": "cosine", "SearchVector": numbers(1, 0), "TopK": 1}
    with pytest.raises(SerializationError) as refused:
        call("SearchVectors", {**search, member: None})
    assert refused.value.message.startswith(
        f"invalid type: null, expected {expected} at line 1 column "
    )


@_AS_WRITTEN
def test_the_reader_tells_where_it_stopped(call: Call, plain: str) -> None:
    search = {"TopK": 3.5, "TableName": plain, "IndexName": "cosine", "SearchVector": numbers(1)}
    with pytest.raises(SerializationError) as refused:
        call("SearchVectors", search)
    assert refused.value.message == (
        "invalid type: floating point `3.5`, expected i32 at line 1 column 11"
    )
    with pytest.raises(ValidationError) as missing:
        call("SearchVectors", {"IndexName": "ab", "SearchVector": numbers(1, 0), "TopK": 1})
    assert missing.value.message.startswith("missing field `TableName` at line 1 column ")


def test_a_write_is_charged_for_what_changes_in_each_index(call: Call, name: str) -> None:
    """Byte counts as measured on Amazon: 1024 and 2048 dimensions, a string, a move."""
    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "tenant", "AttributeType": "S"},
            ],
            "VectorIndexes": [
                {
                    "IndexName": "near",
                    "VectorAttribute": {"AttributeName": "emb"},
                    "Dimensions": 1024,
                    "DistanceFunction": "COSINE",
                    "Projection": {"ProjectionType": "ALL"},
                    "SearchSchema": [
                        {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"}
                    ],
                }
            ],
        },
    )
    vector = tuple([1] * 1024)

    def charged(tenant: str, **more: Any) -> Any:
        told = _put(call, name, "b1", vector, tenant={"S": tenant}, **more)["ConsumedCapacity"]
        indexes = told.get("VectorIndexes", {})
        return indexes.get("near", {}).get("VectorWriteRequestBytes")

    assert charged("t1") == 4111.0
    assert charged("t1") is None
    assert charged("t1", blob={"S": "x" * 2000}) == 6115.0
    assert charged("t1") == 6115.0
    assert charged("t2") == 8222.0


def test_small_entries_cost_a_kilobyte_and_only_indexes_tell_of_it(call: Call, plain: str) -> None:
    told = _put(call, plain, "a", (1, 0))["ConsumedCapacity"]
    assert told["CapacityUnits"] == 1.0
    assert told["VectorIndexes"]["cosine"] == {"VectorWriteRequestBytes": 1024.0}
    item = {"pk": {"S": "b"}, "emb": {"L": numbers(1, 0)}}
    request = {"TableName": plain, "Item": item, "ReturnConsumedCapacity": "TOTAL"}
    assert call("PutItem", request)["ConsumedCapacity"] == {
        "TableName": plain,
        "CapacityUnits": 1.0,
    }
    assert "VectorIndexes" not in _put(call, plain, "c", None)["ConsumedCapacity"]


def test_a_vector_is_billed_four_bytes_a_dimension_by_writes_and_as_a_list_by_reads(
    call: Call, plain: str
) -> None:
    long = "1." + "2" * 37
    filler = 1024 - len("pka") - len("emb") - 2 * 4 - len("f")
    told = _put(call, plain, "a", (long, long), f={"S": "x" * filler})["ConsumedCapacity"]
    assert told["Table"] == {"CapacityUnits": 1.0}
    told = _put(call, plain, "a", (long, long), f={"S": "x" * (filler + 1)})["ConsumedCapacity"]
    assert told["Table"] == {"CapacityUnits": 2.0}
    assert call("DescribeTable", {"TableName": plain})["Table"]["TableSizeBytes"] == 1025


def test_a_search_tells_the_bytes_it_looked_at_and_nothing_else(call: Call, plain: str) -> None:
    for number in range(3):
        _put(call, plain, f"i{number}", (1, number), filler={"S": "x" * 1000})
    search = {"TableName": plain, "IndexName": "cosine", "SearchVector": numbers(1, 0), "TopK": 1}
    told = {}
    for detail in ("TOTAL", "INDEXES"):
        answer = call("SearchVectors", {**search, "ReturnConsumedCapacity": detail})
        told[detail] = answer["ConsumedCapacity"]
    assert told["TOTAL"] == told["INDEXES"]
    assert set(told["TOTAL"]) == {"VectorSearchRequestBytes"}
    assert told["TOTAL"]["VectorSearchRequestBytes"] > 3000
    none = call("SearchVectors", {**search, "ReturnConsumedCapacity": "NONE"})
    assert "ConsumedCapacity" not in none
