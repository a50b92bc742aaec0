"""What one UpdateTable may change together, and what it tells afterwards (October 2026)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
INVALID = "One or more parameter values were invalid: "
PROTECTION = {"DeletionProtectionEnabled": True}
CLASS = {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
ENCRYPTION = {"SSESpecification": {"Enabled": True}}
WARM = {"WarmThroughput": {"ReadUnitsPerSecond": 20_000}}
MOST = {"OnDemandThroughput": {"MaxReadRequestUnits": 10}}
STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
UNITS = {"ProvisionedThroughput": {"ReadCapacityUnits": 9, "WriteCapacityUnits": 9}}
ONLY = "must be the only operation in the request"


def _refusal(call: Call, operation: str, request: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        call(operation, request)
    return caught.value.message


def _definition(name: str, **more: Any) -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        **more,
    }


def _provisioned(name: str) -> dict[str, Any]:
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    return _definition(name, BillingMode="PROVISIONED", ProvisionedThroughput=units)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({**PROTECTION, **CLASS}, f"{INVALID}TableClass modification {ONLY}"),
        ({**ENCRYPTION, **PROTECTION}, f"{INVALID}Server-Side Encryption modification {ONLY}"),
        ({**WARM, **CLASS}, f"{INVALID}TableClass modification {ONLY}"),
        ({**WARM, **STREAM}, f"{INVALID}WarmThroughput {ONLY}"),
        (
            {**MOST, **STREAM},
            f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable "
            "request",
        ),
        (
            {**STREAM, **UNITS},
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            {**STREAM, "GlobalSecondaryIndexUpdates": []},
            f"{INVALID}List of GlobalSecondaryIndexUpdates is empty",
        ),
    ],
)
def test_changes_that_do_not_go_together_change_nothing(
    call: Call, name: str, changes: dict[str, Any], message: str
) -> None:
    call("CreateTable", _definition(name))
    before = call("DescribeTable", {"TableName": name})
    assert _refusal(call, "UpdateTable", {"TableName": name, **changes}) == message
    assert call("DescribeTable", {"TableName": name}) == before


def test_changes_that_go_together(call: Call, name: str) -> None:
    call("CreateTable", _provisioned(name))
    answer = call("UpdateTable", {"TableName": name, "BillingMode": "PAY_PER_REQUEST", **STREAM})
    assert answer["TableDescription"]["StreamSpecification"]["StreamEnabled"]
    call("UpdateTable", {"TableName": name, "BillingMode": "PAY_PER_REQUEST", **MOST})


def test_an_update_of_nothing_lists_what_could_be_updated(call: Call, table: str) -> None:
    assert _refusal(call, "UpdateTable", {"TableName": table}).endswith(
        "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
    )


def test_throughput_of_an_index_is_not_for_tables_on_demand(call: Call, table: str) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    update = {"Update": {"IndexName": "some", "ProvisionedThroughput": units}}
    request = {"TableName": table, "GlobalSecondaryIndexUpdates": [update]}
    assert _refusal(call, "UpdateTable", request) == (
        f"{INVALID}ProvisionedThroughput should not be specified for index: some when BillingMode "
        "is PAY_PER_REQUEST"
    )


def test_a_table_tells_when_its_throughput_was_changed(call: Call, name: str) -> None:
    call("CreateTable", _provisioned(name))

    def told() -> dict[str, Any]:
        described = call("DescribeTable", {"TableName": name})["Table"]["ProvisionedThroughput"]
        return dict(described)

    assert told() == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 5,
    }
    for read, decreases in ((9, 0), (3, 1), (2, 2)):
        units = {"ReadCapacityUnits": read, "WriteCapacityUnits": 5}
        call("UpdateTable", {"TableName": name, "ProvisionedThroughput": units})
        assert "LastIncreaseDateTime" in told()
        assert ("LastDecreaseDateTime" in told()) is (decreases > 0)
        assert told()["NumberOfDecreasesToday"] == decreases


def test_a_table_that_went_back_tells_when_it_was_on_demand(call: Call, name: str) -> None:
    call("CreateTable", _definition(name))
    before = call("DescribeTable", {"TableName": name})["Table"]["BillingModeSummary"]
    call("UpdateTable", {"TableName": name, "BillingMode": "PROVISIONED", **UNITS})
    after = call("DescribeTable", {"TableName": name})["Table"]["BillingModeSummary"]
    assert after == {**before, "BillingMode": "PROVISIONED"}


def test_a_table_can_only_become_warmer(call: Call, name: str) -> None:
    cold = {"WarmThroughput": {"ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 5}}
    assert _refusal(call, "CreateTable", _definition(name, **cold)).startswith(
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial "
        "throughput for OnDemand"
    )
    call("CreateTable", _definition(name))
    call("UpdateTable", {"TableName": name, **WARM})
    warm = call("DescribeTable", {"TableName": name})["Table"]["WarmThroughput"]
    assert (warm["ReadUnitsPerSecond"], warm["WriteUnitsPerSecond"]) == (20_000, 4_000)
    assert _refusal(call, "UpdateTable", {"TableName": name, **cold}) == (
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
        "WarmThroughput, decreasing WarmThroughput is not supported"
    )


def test_the_class_of_a_table(call: Call, name: str) -> None:
    wrong = (
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
    )
    assert _refusal(call, "CreateTable", _definition(name, TableClass="GOLD")) == wrong
    call("CreateTable", _definition(name))
    call("UpdateTable", {"TableName": name, **CLASS})
    summary = call("DescribeTable", {"TableName": name})["Table"]["TableClassSummary"]
    assert summary["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert "LastUpdateDateTime" in summary


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ({"SSEType": "AES256"}, f"{INVALID}SSEType AES256 is not supported"),
        (
            {"KMSMasterKeyId": "alias/mine"},
            f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified",
        ),
    ],
)
def test_encryption_that_dynamodb_does_not_have(
    call: Call, name: str, specification: dict[str, Any], message: str
) -> None:
    wish = {"SSESpecification": {"Enabled": True, **specification}}
    assert _refusal(call, "CreateTable", _definition(name, **wish)) == message


def test_encryption_is_being_updated_and_then_enabled(call: Call, name: str) -> None:
    call("CreateTable", _definition(name))
    answer = call("UpdateTable", {"TableName": name, **ENCRYPTION})["TableDescription"]
    assert answer["SSEDescription"]["Status"] == "UPDATING"
    told = call("DescribeTable", {"TableName": name})["Table"]["SSEDescription"]
    assert (told["Status"], told["SSEType"]) == ("ENABLED", "KMS")
    off = call("UpdateTable", {"TableName": name, "SSESpecification": {"Enabled": False}})
    assert off["TableDescription"]["SSEDescription"] == {"Status": "UPDATING"}
    assert "SSEDescription" not in call("DescribeTable", {"TableName": name})["Table"]


def test_an_index_projects_twenty_attributes_by_name(call: Call, name: str) -> None:
    names = [f"a{at}" for at in range(21)]
    index = {
        "IndexName": "wide",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": names},
    }
    assert _refusal(
        call, "CreateTable", _definition(name, GlobalSecondaryIndexes=[index])
    ).endswith("Member must have length less than or equal to 20")


def test_a_table_of_another_region_is_not_described(call: Call, table: str) -> None:
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    elsewhere = arn.replace("us-east-1", "eu-west-1")
    assert _refusal(call, "DescribeTable", {"TableName": elsewhere}) == (
        f"1 validation error detected: Invalid AWS region in '{elsewhere}'"
    )


def test_recovery_that_is_disabled_has_no_period(call: Call, table: str) -> None:
    wish = {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 7}
    request = {"TableName": table, "PointInTimeRecoverySpecification": wish}
    assert _refusal(call, "UpdateContinuousBackups", request) == (
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time "
        "recovery."
    )
