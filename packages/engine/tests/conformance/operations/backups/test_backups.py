"""Backups and point-in-time recovery."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import BackupNotFound, RecoveryUnavailable

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def test_a_backup_is_made_listed_restored_and_deleted(
    call: Call, table: str, name: str, put: Any
) -> None:
    item = put("a", 1)
    made = call("CreateBackup", {"TableName": table, "BackupName": "nightly"})["BackupDetails"]
    arn = {"BackupArn": made["BackupArn"]}
    listed = call("ListBackups", {"TableName": table})["BackupSummaries"]
    assert [one["BackupArn"] for one in listed] == [made["BackupArn"]]
    call("RestoreTableFromBackup", {"TargetTableName": f"{name}Restored", **arn})
    described = {"TableName": f"{name}Restored"}
    _wait_until_active(call, f"{name}Restored")
    assert call("Scan", described)["Items"] == [item]
    call("DeleteBackup", arn)
    with pytest.raises(BackupNotFound):
        call("DescribeBackup", arn)


def test_recovery_is_switched_on_and_told(call: Call, table: str) -> None:
    _switch_recovery_on(call, table)
    found = call("DescribeContinuousBackups", {"TableName": table})
    recovery = found["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"


def test_a_table_is_restored_as_it_is_now(call: Call, table: str, name: str, put: Any) -> None:
    request = {
        "SourceTableName": table,
        "TargetTableName": f"{name}Restored",
        "UseLatestRestorableTime": True,
    }
    item = put("a", 1)
    with pytest.raises(RecoveryUnavailable):
        call("RestoreTableToPointInTime", request)
    _switch_recovery_on(call, table)
    call("RestoreTableToPointInTime", request)
    _wait_until_active(call, f"{name}Restored")
    assert call("Scan", {"TableName": f"{name}Restored"})["Items"] == [item]


def test_an_export_is_described_listed_and_imported(
    call: Call, table: str, name: str, put: Any
) -> None:
    item = put("a", 1)
    _switch_recovery_on(call, table)
    arn = call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    exported = call("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": name})
    export = exported["ExportDescription"]
    assert export["ItemCount"] == 1
    assert call("DescribeExport", {"ExportArn": export["ExportArn"]}) == exported
    (listed,) = call("ListExports", {"TableArn": arn})["ExportSummaries"]
    assert listed["ExportArn"] == export["ExportArn"]
    imported = call("ImportTable", _import(name, f"{name}Imported"))
    description = imported["ImportTableDescription"]
    assert (description["ImportStatus"], description["ImportedItemCount"]) == ("COMPLETED", 1)
    assert call("DescribeImport", {"ImportArn": description["ImportArn"]}) == imported
    listed = call("ListImports", {"TableArn": description["TableArn"]})["ImportSummaryList"]
    assert [one["ImportArn"] for one in listed] == [description["ImportArn"]]
    assert call("Scan", {"TableName": f"{name}Imported"})["Items"] == [item]


def test_an_import_of_a_bucket_that_is_not_there_fails_and_names_it(call: Call, name: str) -> None:
    failed = call("ImportTable", _import(f"{name}-missing", name))["ImportTableDescription"]
    assert failed["ImportStatus"] == "FAILED"
    assert failed["FailureMessage"].startswith(f"s3://{name}-missing holds no export")


def _import(bucket: str, table: str) -> dict[str, Any]:
    return {
        "S3BucketSource": {"S3Bucket": bucket},
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "GZIP",
        "TableCreationParameters": {
            "TableName": table,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "N"},
            ],
        },
    }


def _switch_recovery_on(call: Call, table: str) -> None:
    specification = {"PointInTimeRecoveryEnabled": True}
    call(
        "UpdateContinuousBackups",
        {"TableName": table, "PointInTimeRecoverySpecification": specification},
    )


def _wait_until_active(call: Call, table: str) -> None:
    deadline = time.monotonic() + 10
    while call("DescribeTable", {"TableName": table})["Table"]["TableStatus"] != "ACTIVE":
        assert time.monotonic() < deadline, f"{table} was not ready in ten seconds"
        time.sleep(0.01)
