"""The auto scaling of replicas. Words as measured on Amazon, October 2026 (`ack-api-quirks`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.operations.conftest import reached

from keyfold_engine.clients.protocol import Client
from keyfold_engine.engine import Engine
from keyfold_engine.errors import TableNotFound, ValidationError
from keyfold_engine.features.replicas import Regions

_OFF = {"AutoScalingDisabled": True, "ScalingPolicies": []}
_TABLE: dict[str, Any] = {
    "TableName": "Orders",
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
_POLICY = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 70.0}}
_WISH: dict[str, Any] = {
    "MinimumUnits": 10,
    "MaximumUnits": 100,
    "ScalingPolicyUpdate": _POLICY,
}


@pytest.fixture
def backend(way: str) -> Iterator[Client]:
    with (
        Regions(scales_writes=True) as regions,
        reached(regions.engine("us-east-1"), way) as client,
    ):
        client.call("CreateTable", _TABLE)
        create = {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
        client.call("UpdateTable", {"TableName": "Orders", **create})
        yield client


def _update(backend: Client, **members: Any) -> dict[str, Any]:
    answer = backend.call("UpdateTableReplicaAutoScaling", {"TableName": "Orders", **members})
    described: dict[str, Any] = answer["TableAutoScalingDescription"]
    return described


def test_a_table_without_replicas_has_none() -> None:
    with Engine.open() as engine:
        engine.call("CreateTable", _TABLE)
        for operation in ("DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling"):
            with pytest.raises(TableNotFound) as refused:
                engine.call(operation, {"TableName": "Orders"})
            assert refused.value.message == "Global table with name: 'Orders' does not exist."


def test_settings_are_off_until_they_are_set(backend: Client) -> None:
    told = backend.call("DescribeTableReplicaAutoScaling", {"TableName": "Orders"})
    replicas = told["TableAutoScalingDescription"]["Replicas"]
    assert [each["RegionName"] for each in replicas] == ["us-east-1", "eu-west-1"]
    assert replicas[0]["ReplicaProvisionedWriteCapacityAutoScalingSettings"] == _OFF


def test_writes_scale_everywhere_and_reads_by_region(backend: Client) -> None:
    reads = {
        "RegionName": "eu-west-1",
        "ReplicaProvisionedReadCapacityAutoScalingUpdate": _WISH,
    }
    told = _update(backend, ProvisionedWriteCapacityAutoScalingUpdate=_WISH, ReplicaUpdates=[reads])
    home, away = told["Replicas"]
    writes = home["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert writes == away["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
    assert writes["ScalingPolicies"][0]["PolicyName"] == (
        "DynamoDBWriteCapacityUtilization:table/Orders"
    )
    assert home["ReplicaProvisionedReadCapacityAutoScalingSettings"] == _OFF
    assert away["ReplicaProvisionedReadCapacityAutoScalingSettings"]["MinimumUnits"] == 10
    table = backend.call("DescribeTable", {"TableName": "Orders"})["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 10
    off = _update(backend, ProvisionedWriteCapacityAutoScalingUpdate={"AutoScalingDisabled": True})
    assert off["Replicas"][0]["ReplicaProvisionedWriteCapacityAutoScalingSettings"] == _OFF


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (
            {"MinimumUnits": 1},
            "Parameters 'MaximumUnits', 'ScalingPolicyUpdate', 'MinimumUnits' are required unless "
            "auto scaling is being disabled.",
        ),
        (
            {**_WISH, "AutoScalingDisabled": True},
            "must be left blank when disabling auto scaling.",
        ),
        (
            {**_WISH, "MaximumUnits": 5},
            "Maximum capacity cannot be less than minimum capacity",
        ),
        (
            {
                **_WISH,
                "ScalingPolicyUpdate": {
                    "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 90.1}
                },
            },
            "target value must be between '10.0' and '90.0', but was '90.1'.",
        ),
    ],
)
def test_a_wrong_setting_is_refused(backend: Client, wish: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        _update(backend, ProvisionedWriteCapacityAutoScalingUpdate=wish)
    assert message in refused.value.message


def test_regions_and_indexes_are_checked(backend: Client) -> None:
    with pytest.raises(ValidationError, match="at least one update parameter must be specified"):
        _update(backend, ReplicaUpdates=[{"RegionName": "eu-west-1"}])
    with pytest.raises(ValidationError, match="were specified more than once"):
        _update(backend, ReplicaUpdates=[{"RegionName": "eu-west-1"}, {"RegionName": "eu-west-1"}])
    with pytest.raises(TableNotFound, match="do not exist"):
        _update(backend, GlobalSecondaryIndexUpdates=[{"IndexName": "nowhere"}])


def test_an_on_demand_group_has_nothing_to_scale() -> None:
    with Regions() as regions:
        engine = regions.engine("us-east-1")
        billing = {"BillingMode": "PAY_PER_REQUEST"}
        table = {k: v for k, v in _TABLE.items() if k != "ProvisionedThroughput"}
        engine.call("CreateTable", {**table, **billing})
        create = {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}
        engine.call("UpdateTable", {"TableName": "Orders", **create})
        with pytest.raises(ValidationError, match="BillingMode is PayPerRequest"):
            _update(engine, ProvisionedWriteCapacityAutoScalingUpdate=_WISH)
