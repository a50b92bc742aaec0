"""The operations of global tables of 2017, which Amazon refuses since 2026.

Words as measured on Amazon, 8 and 9 October 2026 (the public catalogue `ack-api-quirks`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import GlobalTableNotFound, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_OLD = (
    "One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not "
    "supported. We recommend using DynamoDB global tables version 2019.11.21, instead of version "
    "2017.11.29 (Legacy)."
)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("CreateGlobalTable", {"ReplicationGroup": [{"RegionName": "eu-west-1"}]}),
        ("UpdateGlobalTable", {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}),
    ],
)
def test_none_is_made(call: Call, table: str, operation: str, request_: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        call(operation, {"GlobalTableName": table, **request_})
    assert refused.value.message == _OLD


def test_none_is_there(call: Call, table: str) -> None:
    with pytest.raises(GlobalTableNotFound) as refused:
        call("DescribeGlobalTable", {"GlobalTableName": table})
    told = f"Global table with name: '{table}' does not exist."
    assert refused.value.message == f"Global table not found: {told}"
    deletion = {"ReplicaUpdates": [{"Delete": {"RegionName": "eu-west-1"}}]}
    for operation, more in (
        ("UpdateGlobalTable", deletion),
        ("DescribeGlobalTableSettings", {}),
        ("UpdateGlobalTableSettings", {"GlobalTableBillingMode": "PAY_PER_REQUEST"}),
    ):
        with pytest.raises(GlobalTableNotFound) as refused:
            call(operation, {"GlobalTableName": table, **more})
        assert refused.value.message == told


def test_an_update_of_nothing_is_refused(call: Call, table: str) -> None:
    with pytest.raises(ValidationError) as refused:
        call("UpdateGlobalTable", {"GlobalTableName": table, "ReplicaUpdates": []})
    assert refused.value.message == "One or more parameter values were invalid"


def test_the_list_is_empty(call: Call) -> None:
    assert call("ListGlobalTables", {"Limit": 5}) == {"GlobalTables": []}


def test_shapes_come_first(call: Call) -> None:
    with pytest.raises(ValidationError, match="'globalTableName' failed to satisfy constraint"):
        call("DescribeGlobalTable", {"GlobalTableName": "ab"})
