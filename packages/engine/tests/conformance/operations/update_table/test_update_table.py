"""UpdateTable."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _described(call: Call, table: str) -> dict[str, Any]:
    found: dict[str, Any] = call("DescribeTable", {"TableName": table})["Table"]
    return found


def _index_names(call: Call, table: str) -> set[str]:
    return {one["IndexName"] for one in _described(call, table)["GlobalSecondaryIndexes"]}


def _until(reached: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if reached():
            return
        time.sleep(0.01)
    raise AssertionError("the table did not get there in ten seconds")


def test_billing_goes_to_provisioned_and_is_told(call: Call, table: str) -> None:
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 3}
    request = {"TableName": table, "BillingMode": "PROVISIONED"}
    call("UpdateTable", {**request, "ProvisionedThroughput": throughput})
    found = _described(call, table)["ProvisionedThroughput"]
    assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (5, 3)


def test_provisioned_billing_needs_its_throughput(call: Call, table: str) -> None:
    with pytest.raises(ValidationError):
        call("UpdateTable", {"TableName": table, "BillingMode": "PROVISIONED"})


def test_the_table_class_changes(call: Call, table: str) -> None:
    call("UpdateTable", {"TableName": table, "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    summary = _described(call, table)["TableClassSummary"]
    assert summary["TableClass"] == "STANDARD_INFREQUENT_ACCESS"


def test_an_index_is_added_with_the_items_that_are_there_and_taken_away(
    call: Call, table: str, put: Any
) -> None:
    put("a", 1, group="g")
    index = {
        "IndexName": "by_group",
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    call(
        "UpdateTable",
        {
            "TableName": table,
            "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
    )
    _until(lambda: _described(call, table)["TableStatus"] == "ACTIVE")
    assert call("Scan", {"TableName": table, "IndexName": "by_group"})["Count"] == 1
    removal = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_group"}}]}
    call("UpdateTable", {"TableName": table, **removal})
    _until(lambda: "by_group" not in _index_names(call, table))
    with pytest.raises(ValidationError):
        call("Scan", {"TableName": table, "IndexName": "by_group"})


def test_an_index_passes_over_items_whose_keys_it_cannot_hold(
    call: Call, table: str, put: Any
) -> None:
    for number, size in enumerate((0, 1024, 1025, 2048, 2049)):
        put("a", number, word="w" * size)
    for name, keys, found in (
        ("by_word", ("word",), [1, 2, 3]),
        ("by_word_in_partition", ("pk", "word"), [1]),
    ):
        kinds = zip(keys, ("HASH", "RANGE"), strict=False)
        index = {
            "IndexName": name,
            "KeySchema": [{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
        _create(call, table, index, *keys)
        _until(lambda: _described(call, table)["TableStatus"] == "ACTIVE")
        items = call("Scan", {"TableName": table, "IndexName": name})["Items"]
        assert sorted(int(item["sk"]["N"]) for item in items) == found
    key = {"pk": {"S": "a"}, "sk": {"N": "4"}}
    call("UpdateItem", {"TableName": table, "Key": key, "UpdateExpression": "REMOVE x"})
    assert call("Scan", {"TableName": table, "IndexName": "by_word"})["Count"] == 3


def _create(call: Call, table: str, index: dict[str, Any], *keys: str, kind: str = "S") -> None:
    defined = [{"AttributeName": key, "AttributeType": kind} for key in keys]
    request = {"TableName": table, "GlobalSecondaryIndexUpdates": [{"Create": index}]}
    call("UpdateTable", {**request, **({"AttributeDefinitions": defined} if defined else {})})


def test_the_keys_of_a_new_index_are_defined_with_it_and_keep_their_types(
    call: Call, table: str
) -> None:
    index = {
        "IndexName": "by_g",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    with pytest.raises(ValidationError, match="not defined in AttributeDefinitions"):
        _create(call, table, index)
    with pytest.raises(ValidationError) as caught:
        _create(call, table, index, "g", kind="N")
    assert caught.value.message == (
        "One or more parameter values were invalid: Attributes cannot be redefined. Please check "
        "that your attribute has the same type as previously defined. "
        "Existing schema: Schema:[SchemaElement: key{g:S:HASH}] "
        "New schema: Schema:[SchemaElement: key{g:N:HASH}]"
    )
    _create(call, table, index, "g", "unused")
    defined = [each["AttributeName"] for each in _described(call, table)["AttributeDefinitions"]]
    assert defined == ["pk", "sk", "l", "g", "h"]


def test_on_demand_limits_are_set_one_by_one_and_taken_away(call: Call, table: str) -> None:
    def update(**changes: Any) -> dict[str, Any] | None:
        call("UpdateTable", {"TableName": table, **changes})
        limits: dict[str, Any] | None = _described(call, table).get("OnDemandThroughput")
        return limits

    both = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 5}
    assert update(OnDemandThroughput=both) == both
    changed = update(OnDemandThroughput={"MaxReadRequestUnits": 20})
    assert changed == {"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 5}
    left = update(OnDemandThroughput={"MaxReadRequestUnits": -1})
    assert left == {"MaxWriteRequestUnits": 5}
    with pytest.raises(ValidationError, match="outside of valid range"):
        update(OnDemandThroughput={"MaxReadRequestUnits": 0})
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    assert update(BillingMode="PROVISIONED", ProvisionedThroughput=units) is None
    with pytest.raises(ValidationError, match="when the table BillingMode is PROVISIONED"):
        update(OnDemandThroughput=both)
