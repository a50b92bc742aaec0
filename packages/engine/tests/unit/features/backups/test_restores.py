"""Restores go in steps: beside other writers, and on after a crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import BackupNotFound, NamedTableInUse, TableInUse, TableNotFound
from keyfold_engine.features.backups import restores

CreateTable = Callable[..., None]
STEP = 3


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restores, "_READS_PER_STEP", 1)
    monkeypatch.setattr(restores, "_ITEMS_PER_READ", STEP)


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Have something happen before every step of a restore."""
    advance = restores.advance

    def interpose(happen: Callable[[int], None]) -> None:
        steps = iter(range(1000))

        def finish(database: Any, name: str) -> None:
            more = True
            while more:
                happen(next(steps))
                more = database.write(lambda session: advance(database, name, session))
            restores.check_restored(database, name)

        monkeypatch.setattr(restores, "finish", finish)

    return interpose


def _put(engine: Engine, key: str, value: str = "old", table: str = "Source") -> None:
    item = {"pk": {"S": key}, "group": {"S": value}}
    engine.call("PutItem", {"TableName": table, "Item": item})


def _delete(engine: Engine, key: str) -> None:
    engine.call("DeleteItem", {"TableName": "Source", "Key": {"pk": {"S": key}}})


def _items(engine: Engine, table: str, **more: Any) -> dict[str, str]:
    found = engine.call("Scan", {"TableName": table, **more})["Items"]
    return {item["pk"]["S"]: item["group"]["S"] for item in found}


def _source(engine: Engine, create_table: CreateTable, items: int = 20) -> dict[str, str]:
    create_table(engine, "Source", indexes={"by_group": ("group:S",)})
    engine.call(
        "UpdateContinuousBackups",
        {
            "TableName": "Source",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        },
    )
    for number in range(items):
        _put(engine, f"k{number}")
    return _items(engine, "Source")


def _back_up(engine: Engine) -> str:
    answer = engine.call("CreateBackup", {"TableName": "Source", "BackupName": "saved"})
    arn: str = answer["BackupDetails"]["BackupArn"]
    return arn


def _restore(engine: Engine, arn: str) -> None:
    engine.call("RestoreTableFromBackup", {"TargetTableName": "Restored", "BackupArn": arn})


def test_a_table_restored_to_a_moment_is_not_touched_by_writes_between_the_steps(
    engine: Engine,
    clock: ManualClock,
    create_table: CreateTable,
    between: Callable[[Callable[[int], None]], None],
) -> None:
    before = _source(engine, create_table)
    clock.advance(10)
    moment = clock.now()
    clock.advance(10)
    _delete(engine, "k3")
    _put(engine, "k4", "changed")
    _put(engine, "made and gone")
    _put(engine, "made and gone", "changed")
    _delete(engine, "made and gone")

    def write(step: int) -> None:
        _put(engine, f"k{step}", f"changed at {step}")
        _put(engine, f"new {step}")
        _delete(engine, f"k{19 - step}")
        _put(engine, "k3", "back")

    between(write)
    request = {"SourceTableName": "Source", "TargetTableName": "Restored"}
    engine.call("RestoreTableToPointInTime", {**request, "RestoreDateTime": moment})
    assert _items(engine, "Restored") == before
    assert _items(engine, "Restored", IndexName="by_group") == before


def test_a_table_cannot_be_used_before_it_is_restored(
    engine: Engine,
    create_table: CreateTable,
    between: Callable[[Callable[[int], None]], None],
) -> None:
    before = _source(engine, create_table)
    seen: list[str] = []

    def look(_step: int) -> None:
        table = engine.call("DescribeTable", {"TableName": "Restored"})["Table"]
        seen.append(table["TableStatus"])
        assert table["RestoreSummary"]["RestoreInProgress"] is True
        with pytest.raises(TableNotFound):
            _items(engine, "Restored")
        with pytest.raises(TableNotFound):
            _put(engine, "early", table="Restored")
        with pytest.raises(TableInUse, match="being created"):
            engine.call("DeleteTable", {"TableName": "Restored"})
        with pytest.raises(NamedTableInUse, match="being created"):
            engine.call("CreateBackup", {"TableName": "Restored", "BackupName": "early"})

    between(look)
    _restore(engine, _back_up(engine))
    assert set(seen) == {"CREATING"}
    assert len(seen) > len(before) / STEP
    table = engine.call("DescribeTable", {"TableName": "Restored"})["Table"]
    assert (table["TableStatus"], table["RestoreSummary"]["RestoreInProgress"]) == ("ACTIVE", False)
    assert _items(engine, "Restored") == before


@pytest.mark.parametrize("killed_at", [0, 1, 4])
def test_a_restore_that_was_cut_off_goes_on_when_the_file_is_opened(
    tmp_path: Path,
    clock: ManualClock,
    create_table: CreateTable,
    between: Callable[[Callable[[int], None]], None],
    killed_at: int,
) -> None:
    path = tmp_path / "cut.db"

    def kill(step: int) -> None:
        if step == killed_at:
            raise RuntimeError("killed")

    between(kill)
    with Engine.open(path, clock=clock, durability="memory") as engine:
        before = _source(engine, create_table)
        arn = _back_up(engine)
        with pytest.raises(RuntimeError, match="killed"):
            _restore(engine, arn)
    with Engine.open(path, clock=clock, durability="memory") as engine:
        engine._database.backfills.wait()
        assert _items(engine, "Restored") == before
        assert _items(engine, "Restored", IndexName="by_group") == before


def test_a_restore_whose_backup_is_deleted_leaves_no_table(
    engine: Engine,
    create_table: CreateTable,
    between: Callable[[Callable[[int], None]], None],
) -> None:
    _source(engine, create_table)
    arn = _back_up(engine)

    def lose(step: int) -> None:
        if step == 2:
            engine.call("DeleteBackup", {"BackupArn": arn})

    between(lose)
    with pytest.raises(TableNotFound, match="has been deleted"):
        _restore(engine, arn)
    with pytest.raises(TableNotFound):
        engine.call("DescribeTable", {"TableName": "Restored"})
    with pytest.raises(BackupNotFound):
        _restore(engine, arn)
