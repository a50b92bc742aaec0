"""Backups and point-in-time recovery."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from keyfold.errors import BackupNotFound

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
    deadline = time.monotonic() + 10
    while call("DescribeTable", described)["Table"]["TableStatus"] != "ACTIVE":
        assert time.monotonic() < deadline, "the restored table was not ready in ten seconds"
        time.sleep(0.01)
    assert call("Scan", described)["Items"] == [item]
    call("DeleteBackup", arn)
    with pytest.raises(BackupNotFound):
        call("DescribeBackup", arn)


def test_recovery_is_switched_on_and_told(call: Call, table: str) -> None:
    specification = {"PointInTimeRecoveryEnabled": True}
    call(
        "UpdateContinuousBackups",
        {"TableName": table, "PointInTimeRecoverySpecification": specification},
    )
    found = call("DescribeContinuousBackups", {"TableName": table})
    recovery = found["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
