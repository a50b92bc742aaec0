"""Restores: what a request overrides of the source's definition, and what it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.operations.conftest import definition

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
Restore = Callable[..., dict[str, Any]]

UNITS = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 2}
MOST = {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 9}


@pytest.fixture
def restore(call: Call, table: str, name: str) -> Restore:
    """Restore a backup of the table with these overrides; returns the new table's description."""

    def restored(**overrides: Any) -> dict[str, Any]:
        backup = call("CreateBackup", {"TableName": table, "BackupName": "nightly"})
        target = f"{name}Restored"
        request = {
            "BackupArn": backup["BackupDetails"]["BackupArn"],
            "TargetTableName": target,
            **overrides,
        }
        call("RestoreTableFromBackup", request)
        described: dict[str, Any] = call("DescribeTable", {"TableName": target})["Table"]
        return described

    return restored


def indexes(*names: str, **more: Any) -> list[dict[str, Any]]:
    known = definition("any")["GlobalSecondaryIndexes"]
    return [{**index, **more} for index in known if index["IndexName"] in names]


def test_limits_of_an_on_demand_table_are_overridden(call: Call, table: str, restore: Any) -> None:
    call("UpdateTable", {"TableName": table, "OnDemandThroughput": {"MaxReadRequestUnits": 5}})
    assert restore(OnDemandThroughputOverride=MOST)["OnDemandThroughput"] == MOST


def test_limits_are_kept_where_nothing_overrides_them(call: Call, table: str, restore: Any) -> None:
    call("UpdateTable", {"TableName": table, "OnDemandThroughput": MOST})
    assert restore()["OnDemandThroughput"] == MOST


def test_encryption_is_overridden(restore: Restore) -> None:
    key = "arn:aws:kms:us-east-1:123456789012:key/one"
    wanted = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
    found = restore(SSESpecificationOverride=wanted)["SSEDescription"]
    assert found == {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}


def test_encryption_is_switched_off(call: Call, table: str, restore: Restore) -> None:
    call("UpdateTable", {"TableName": table, "SSESpecification": {"Enabled": True}})
    assert "SSEDescription" not in restore(SSESpecificationOverride={"Enabled": False})


def test_a_table_becomes_provisioned_with_its_indexes(call: Call, table: str, restore: Any) -> None:
    call("UpdateTable", {"TableName": table, "OnDemandThroughput": MOST})
    found = restore(
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=UNITS,
        GlobalSecondaryIndexOverride=indexes("some", ProvisionedThroughput=UNITS),
    )
    assert "OnDemandThroughput" not in found
    [index] = found["GlobalSecondaryIndexes"]
    for one in (found, index):
        assert {unit: one["ProvisionedThroughput"][unit] for unit in UNITS} == UNITS


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"BillingModeOverride": "PROVISIONED"},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified",
        ),
        (
            {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": UNITS},
            "ProvisionedThroughput must be specified for index: everything",
        ),
        (
            {"ProvisionedThroughputOverride": UNITS},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified",
        ),
        (
            {
                "BillingModeOverride": "PROVISIONED",
                "ProvisionedThroughputOverride": UNITS,
                "OnDemandThroughputOverride": MOST,
            },
            "MaxReadRequestUnits for OnDemandThroughput cannot be specified",
        ),
        (
            {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}},
            "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside",
        ),
        (
            {"SSESpecificationOverride": {"Enabled": True, "SSEType": "AES256"}},
            "SSEType AES256 is not supported",
        ),
        (
            {"GlobalSecondaryIndexOverride": indexes("some", ProvisionedThroughput=UNITS)},
            "ProvisionedThroughput should not be specified for index: some",
        ),
        (
            {"GlobalSecondaryIndexOverride": indexes("some", IndexName="other")},
            "Index other does not match a secondary index that existed in the source table",
        ),
        (
            {"GlobalSecondaryIndexOverride": indexes("some", Projection={"ProjectionType": "ALL"})},
            "Index some does not match a secondary index that existed in the source table",
        ),
    ],
)
def test_an_override_that_cannot_be_is_refused(
    call: Call, name: str, restore: Restore, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        restore(**overrides)
    assert f"{name}Restored" not in call("ListTables", {})["TableNames"]
