"""Deletions and backups go in steps: beside other writers, and on after a crash."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, leftovers, steps
from keyfold_engine.errors import BackupInUse, BackupNotFound, TableInUse, TableNotFound
from keyfold_engine.features.backups import copies as backups

CreateTable = Callable[..., None]
ITEMS = 150
SMALL = 10

Happen = Callable[[int], None]


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "STEP_SECONDS", 0.0)
    monkeypatch.setattr(backups, "_ITEMS_PER_PART", SMALL)
    monkeypatch.setattr(leftovers, "_ROWS", SMALL)


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Happen], None]:
    """Have something happen before every step."""
    take = steps.take

    def interpose(happen: Happen) -> None:
        numbers = iter(range(1000))

        def taken(database: Any, part: Any) -> bool:
            happen(next(numbers))
            return take(database, part)

        monkeypatch.setattr(steps, "take", taken)

    return interpose


def _put(engine: Engine, key: str, value: str = "old", table: str = "Source") -> None:
    item = {"pk": {"S": key}, "group": {"S": value}}
    engine.call("PutItem", {"TableName": table, "Item": item})


def _delete(engine: Engine, key: str) -> None:
    engine.call("DeleteItem", {"TableName": "Source", "Key": {"pk": {"S": key}}})


def _items(engine: Engine, table: str) -> dict[str, str]:
    found = engine.call("Scan", {"TableName": table})["Items"]
    return {item["pk"]["S"]: item["group"]["S"] for item in found}


def _source(engine: Engine, create_table: CreateTable) -> dict[str, str]:
    create_table(engine, "Source", indexes={"by_group": ("group:S",)})
    for number in range(ITEMS):
        _put(engine, f"k{number}")
    return _items(engine, "Source")


def _back_up(engine: Engine) -> dict[str, Any]:
    made = engine.call("CreateBackup", {"TableName": "Source", "BackupName": "saved"})
    details: dict[str, Any] = made["BackupDetails"]
    return details


def _restored(engine: Engine, arn: str) -> dict[str, str]:
    engine.call("RestoreTableFromBackup", {"TargetTableName": "Restored", "BackupArn": arn})
    return _items(engine, "Restored")


def _trees(engine: Engine) -> set[str]:
    with engine.database.read() as session:
        rows: Any = session.connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        return {name for (name,) in rows}


def test_a_backup_has_the_items_of_the_moment_it_was_asked_for(
    engine: Engine, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    before = _source(engine, create_table)

    def write(step: int) -> None:
        _put(engine, f"k{step}", f"changed at {step}")
        _put(engine, f"k{step}", "changed again")
        _put(engine, f"new {step}")
        _delete(engine, f"k{ITEMS - 1 - step}")
        _put(engine, "made and gone")
        _delete(engine, "made and gone")
        _put(engine, f"k{ITEMS - 1 - step}", "back")

    between(write)
    made = _back_up(engine)
    assert (made["BackupStatus"], made["BackupSizeBytes"] > 0) == ("AVAILABLE", True)
    found = engine.call("DescribeBackup", {"BackupArn": made["BackupArn"]})["BackupDescription"]
    assert found["SourceTableDetails"]["ItemCount"] == ITEMS
    size = engine.call("DescribeTable", {"TableName": "Source"})["Table"]["TableSizeBytes"]
    assert found["SourceTableDetails"]["TableSizeBytes"] < size
    assert _restored(engine, made["BackupArn"]) == before


def test_a_backup_that_is_being_made_is_told_and_cannot_be_used(
    engine: Engine, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    _source(engine, create_table)
    seen = []

    def look(_step: int) -> None:
        [summary] = engine.call("ListBackups", {"TableName": "Source"})["BackupSummaries"]
        seen.append(summary["BackupStatus"])
        arn = {"BackupArn": summary["BackupArn"]}
        with pytest.raises(BackupInUse):
            engine.call("DeleteBackup", arn)
        with pytest.raises(BackupInUse):
            engine.call("RestoreTableFromBackup", {"TargetTableName": "Restored", **arn})
        with pytest.raises(TableInUse):
            engine.call("DeleteTable", {"TableName": "Source"})

    between(look)
    _back_up(engine)
    assert len(seen) > ITEMS // SMALL
    assert set(seen) == {"CREATING"}


def test_two_backups_at_once_are_each_of_their_moment(
    engine: Engine, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    before = _source(engine, create_table)
    inner: list[str] = []
    later: dict[str, str] = {}

    def write(step: int) -> None:
        if step == 2:
            _put(engine, "k1", "between")
            _delete(engine, "k2")
            later.update(_items(engine, "Source"))
            inner.append(_back_up(engine)["BackupArn"])
        if step > 2:
            _put(engine, f"k{step}", "late")

    between(write)
    outer = _back_up(engine)["BackupArn"]
    assert _restored(engine, outer) == before
    engine.call("DeleteTable", {"TableName": "Restored"})
    assert _restored(engine, inner[0]) == later


class Killed(BaseException):
    """The process is no more."""


def _kill_at(step: int) -> Happen:
    def happen(number: int) -> None:
        if number == step:
            raise Killed

    return happen


def test_a_backup_that_was_cut_off_is_finished_by_the_next_process(
    tmp_path: Path,
    clock: ManualClock,
    create_table: CreateTable,
    between: Callable[[Happen], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        before = _source(engine, create_table)
        between(_kill_at(4))
        with pytest.raises(Killed):
            _back_up(engine)
        _put(engine, "k0", "after the crash")
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        _delete(engine, "k1")
        engine.database.backfills.wait()
        [summary] = engine.call("ListBackups", {})["BackupSummaries"]
        assert summary["BackupStatus"] == "AVAILABLE"
        assert _restored(engine, summary["BackupArn"]) == before
        engine.call("DeleteTable", {"TableName": "Source"})


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_deleted_table_has_gone_at_once_and_its_room_comes_back(
    tmp_path: Path,
    clock: ManualClock,
    create_table: CreateTable,
    between: Callable[[Happen], None],
    where: str,
) -> None:
    path = ":memory:" if where == "memory" else tmp_path / "data.db"
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        empty = _trees(engine)
        _source(engine, create_table)
        asked = []

        def look(step: int) -> None:
            with pytest.raises(TableNotFound):
                _put(engine, "late")
            asked.append(step)
            if step == 3:
                create_table(engine, "Other")
                _put(engine, "k1", table="Other")

        between(look)
        engine.call("DeleteTable", {"TableName": "Source"})
        engine.database.backfills.wait()
        assert len(asked) > ITEMS // SMALL
        assert _items(engine, "Other") == {"k1": "old"}
        engine.call("DeleteTable", {"TableName": "Other"})
        assert _trees(engine) == empty
        with engine.database.read() as session:
            assert session.connection.pragma("freelist_count") == 0


def test_what_a_deletion_left_is_cleared_by_the_next_process(
    tmp_path: Path,
    clock: ManualClock,
    create_table: CreateTable,
    between: Callable[[Happen], None],
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        empty = _trees(engine)
        _source(engine, create_table)
        between(_kill_at(2))
        with pytest.raises(Killed):
            engine.call("DeleteTable", {"TableName": "Source"})
        assert _trees(engine) != empty
        create_table(engine, "Source")
    with Engine.open(path, clock=clock, durability="relaxed") as engine:
        engine.database.backfills.wait()
        engine.call("DeleteTable", {"TableName": "Source"})
        assert _trees(engine) == empty


def test_whoever_reads_a_table_that_another_process_deletes_is_told(
    tmp_path: Path, clock: ManualClock, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    path = tmp_path / "data.db"
    with (
        Engine.open(path, clock=clock, durability="relaxed") as engine,
        Engine.open(path, clock=clock, durability="relaxed") as other,
    ):
        before = _source(engine, create_table)
        assert _items(other, "Source") == before

        def look(_step: int) -> None:
            with pytest.raises(TableNotFound):
                _items(other, "Source")

        between(look)
        engine.call("DeleteTable", {"TableName": "Source"})


def test_a_large_history_backup_and_index_go_in_steps_too(
    engine: Engine, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    _source(engine, create_table)
    bare = _trees(engine)

    def recovery(enabled: bool) -> None:
        wish = {"PointInTimeRecoveryEnabled": enabled}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "Source", "PointInTimeRecoverySpecification": wish},
        )

    recovery(True)
    for number in range(ITEMS):
        _put(engine, f"k{number}", "new")
    arn = _back_up(engine)["BackupArn"]
    steps_taken: list[int] = []

    def write(step: int) -> None:
        steps_taken.append(step)
        _put(engine, "k1", f"at {step}")

    between(write)
    recovery(False)
    recovery(True)
    _put(engine, "k1", "kept")
    recovery(False)
    engine.call("DeleteBackup", {"BackupArn": arn})
    with pytest.raises(BackupNotFound):
        engine.call("DescribeBackup", {"BackupArn": arn})
    delete = [{"Delete": {"IndexName": "by_group"}}]
    engine.call("UpdateTable", {"TableName": "Source", "GlobalSecondaryIndexUpdates": delete})
    engine.database.backfills.wait()
    assert len(steps_taken) > 3 * ITEMS // SMALL
    assert _trees(engine) == {name for name in bare if not name.startswith("index_")}


def test_old_records_are_forgotten_in_steps(
    engine: Engine, clock: ManualClock, create_table: CreateTable, between: Callable[[Happen], None]
) -> None:
    create_table(engine, "Source")
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    engine.call("UpdateTable", {"TableName": "Source", "StreamSpecification": stream})
    for number in range(250):
        _put(engine, f"k{number}")
    clock.advance(90_000)
    taken: list[int] = []
    between(taken.append)
    engine.sweep()
    assert len(taken) > 3
    with engine.database.read() as session:
        found: Any = session.connection.execute("SELECT count(*) FROM records").fetchall()
        assert found == [(0,)]
