"""Backups, restores and point-in-time recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    BackupNotFound,
    InvalidRestoreTime,
    NamedTableNotFound,
    RecoveryUnavailable,
    TableAlreadyExists,
)

CreateTable = Callable[..., None]
ENABLED = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}


def _put(engine: Engine, key: str, group: str = "g") -> None:
    engine.call(
        "PutItem", {"TableName": "Source", "Item": {"pk": {"S": key}, "group": {"S": group}}}
    )


def _items(engine: Engine, table: str, **more: Any) -> dict[str, str]:
    found = engine.call("Scan", {"TableName": table, **more})["Items"]
    return {item["pk"]["S"]: item["group"]["S"] for item in found}


def _back_up(engine: Engine, name: str = "nightly") -> str:
    answer = engine.call("CreateBackup", {"TableName": "Source", "BackupName": name})
    arn: str = answer["BackupDetails"]["BackupArn"]
    return arn


def test_a_restored_table_has_the_items_and_indexes_of_the_backup(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Source", indexes={"by_group": ("group:S",)})
    _put(engine, "a")
    arn = _back_up(engine)
    _put(engine, "later")
    answer = engine.call(
        "RestoreTableFromBackup", {"TargetTableName": "Restored", "BackupArn": arn}
    )
    assert answer["TableDescription"]["RestoreSummary"]["SourceBackupArn"] == arn
    assert _items(engine, "Restored") == {"a": "g"}
    assert _items(engine, "Restored", IndexName="by_group") == {"a": "g"}
    assert set(_items(engine, "Source")) == {"a", "later"}


def test_a_backup_outlives_its_table(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Source")
    _put(engine, "a")
    arn = _back_up(engine)
    engine.call("DeleteTable", {"TableName": "Source"})
    engine.call("RestoreTableFromBackup", {"TargetTableName": "Source", "BackupArn": arn})
    assert _items(engine, "Source") == {"a": "g"}


def test_a_restore_may_leave_indexes_out(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Source", indexes={"by_group": ("group:S",)})
    arn = _back_up(engine)
    engine.call(
        "RestoreTableFromBackup",
        {"TargetTableName": "Restored", "BackupArn": arn, "GlobalSecondaryIndexOverride": []},
    )
    table = engine.call("DescribeTable", {"TableName": "Restored"})["Table"]
    assert "GlobalSecondaryIndexes" not in table
    assert [a["AttributeName"] for a in table["AttributeDefinitions"]] == ["pk"]


def test_backups_are_listed_described_and_deleted(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Source")
    first = _back_up(engine)
    clock.advance(60)
    second = _back_up(engine)
    page = engine.call("ListBackups", {"TableName": "Source", "Limit": 1})
    assert [each["BackupArn"] for each in page["BackupSummaries"]] == [first]
    rest = engine.call("ListBackups", {"ExclusiveStartBackupArn": page["LastEvaluatedBackupArn"]})
    assert [each["BackupArn"] for each in rest["BackupSummaries"]] == [second]
    engine.call("DeleteBackup", {"BackupArn": first})
    with pytest.raises(BackupNotFound):
        engine.call("DescribeBackup", {"BackupArn": first})
    found = engine.call("DescribeBackup", {"BackupArn": second})["BackupDescription"]
    assert found["SourceTableDetails"]["TableName"] == "Source"


def test_a_restore_over_a_table_is_refused(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Source")
    arn = _back_up(engine)
    with pytest.raises(TableAlreadyExists):
        engine.call("RestoreTableFromBackup", {"TargetTableName": "Source", "BackupArn": arn})


def test_a_backup_of_no_table_is_refused(engine: Engine) -> None:
    with pytest.raises(NamedTableNotFound, match="Table not found: Source"):
        _back_up(engine)


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["g", "h", None])),
        min_size=1,
        max_size=15,
    ),
    st.integers(0, 14),
)
def test_a_table_is_recovered_as_it_was_at_any_moment(
    changes: list[tuple[str, str | None]], moment: int
) -> None:
    clock = ManualClock()
    with Engine.open(clock=clock) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Source",
                "BillingMode": "PAY_PER_REQUEST",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            },
        )
        _put(engine, "a", "before")
        engine.call("UpdateContinuousBackups", {"TableName": "Source", **ENABLED})
        state = {"a": "before"}
        states = [(clock.now(), dict(state))]
        for key, group in changes:
            clock.advance(1)
            if group is None:
                state.pop(key, None)
                engine.call("DeleteItem", {"TableName": "Source", "Key": {"pk": {"S": key}}})
            else:
                state[key] = group
                _put(engine, key, group)
            states.append((clock.now(), dict(state)))
        at, expected = states[moment % len(states)]
        engine.call(
            "RestoreTableToPointInTime",
            {"SourceTableName": "Source", "TargetTableName": "Past", "RestoreDateTime": at},
        )
        assert _items(engine, "Past") == expected
        assert _items(engine, "Source") == state


def test_recovery_needs_to_be_enabled_and_reaches_back_to_that(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Source")
    restore = {"SourceTableName": "Source", "TargetTableName": "Past"}
    with pytest.raises(RecoveryUnavailable):
        engine.call("RestoreTableToPointInTime", {**restore, "UseLatestRestorableTime": True})
    enabled_at = clock.now()
    engine.call("UpdateContinuousBackups", {"TableName": "Source", **ENABLED})
    clock.advance(10)
    with pytest.raises(InvalidRestoreTime):
        engine.call("RestoreTableToPointInTime", {**restore, "RestoreDateTime": enabled_at - 1})
    with pytest.raises(InvalidRestoreTime):
        engine.call("RestoreTableToPointInTime", {**restore, "RestoreDateTime": clock.now() + 1})
    answer = engine.call("DescribeContinuousBackups", {"TableName": "Source"})
    recovery = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["EarliestRestorableDateTime"] == enabled_at


def test_changes_too_old_to_recover_are_forgotten(
    engine: Engine, clock: ManualClock, create_table: CreateTable
) -> None:
    create_table(engine, "Source")
    engine.call("UpdateContinuousBackups", {"TableName": "Source", **ENABLED})
    _put(engine, "a")
    clock.advance(40 * 86_400)
    _put(engine, "b")
    engine.sweep()
    engine.call(
        "RestoreTableToPointInTime",
        {
            "SourceTableName": "Source",
            "TargetTableName": "Past",
            "RestoreDateTime": clock.now() - 86_400,
        },
    )
    assert _items(engine, "Past") == {"a": "g"}


def test_a_table_restored_from_an_unfinished_index_is_ready(
    engine: Engine, create_table: CreateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(engine, "Source")
    _put(engine, "a")
    backfills = engine._database.backfills
    monkeypatch.setattr(type(backfills), "start", lambda *_: None)
    engine.call(
        "UpdateTable",
        {
            "TableName": "Source",
            "AttributeDefinitions": [{"AttributeName": "group", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": "by_group",
                        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                }
            ],
        },
    )
    request = {"TargetTableName": "Restored", "BackupArn": _back_up(engine)}
    engine.call("RestoreTableFromBackup", request)
    table = engine.call("DescribeTable", {"TableName": "Restored"})["Table"]
    statuses = [index["IndexStatus"] for index in table["GlobalSecondaryIndexes"]]
    assert (table["TableStatus"], statuses) == ("ACTIVE", ["ACTIVE"])
    assert _items(engine, "Restored", IndexName="by_group") == {"a": "g"}
