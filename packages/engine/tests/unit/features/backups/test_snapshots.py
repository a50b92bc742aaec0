"""Dumps and exports are of one moment, and others are answered between their parts."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.database import Database
from keyfold_engine.errors import RecoveryUnavailable, TableInUse, TableNotFound
from keyfold_engine.features.replicas import Regions, changes
from keyfold_engine.features.transfer import exports

CreateTable = Callable[..., None]
ITEMS = 150
MOST_STATEMENTS = 70
"""Of a part: two for 20 items, and a few for each."""


@pytest.fixture(params=["memory", "file"])
def engine(request: Any, tmp_path: Path, clock: ManualClock) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else tmp_path / "data.db"
    buckets = tmp_path / "buckets"
    buckets.mkdir()
    with Engine.open(path, clock=clock, durability="relaxed", buckets=buckets) as engine:
        yield engine


@pytest.fixture
def source(engine: Engine, create_table: CreateTable) -> dict[str, str]:
    """What the table `Source` holds; it keeps its history."""
    create_table(engine, "Source", indexes={"by_group": ("group:S",)})
    _recovery(engine, enabled=True)
    for number in range(ITEMS):
        _put(engine, f"k{number}")
    return _items(engine)


def _recovery(engine: Engine, *, enabled: bool) -> None:
    wish = {"PointInTimeRecoveryEnabled": enabled}
    engine.call(
        "UpdateContinuousBackups",
        {"TableName": "Source", "PointInTimeRecoverySpecification": wish},
    )


def _put(engine: Engine, key: str, value: str = "old") -> None:
    item = {"pk": {"S": key}, "group": {"S": value}}
    engine.call("PutItem", {"TableName": "Source", "Item": item})


def _delete(engine: Engine, key: str) -> None:
    engine.call("DeleteItem", {"TableName": "Source", "Key": {"pk": {"S": key}}})


def _plain(items: Iterable[dict[str, Any]]) -> dict[str, str]:
    found = [(item["pk"]["S"], item["group"]["S"]) for item in items]
    assert len(found) == len(dict(found)), "an item came twice"
    return dict(found)


def _items(engine: Engine) -> dict[str, str]:
    return _plain(engine.call("Scan", {"TableName": "Source"})["Items"])


def _meddle(engine: Engine, bodies: Iterator[bytes]) -> Iterator[bytes]:
    """Others write before each item that is taken."""
    for number, body in enumerate(bodies):
        _put(engine, f"k{number}", f"changed at {number}")
        _put(engine, f"new {number}")
        _delete(engine, f"k{ITEMS - 1 - number}")
        _put(engine, "made and gone")
        _delete(engine, "made and gone")
        if number % 3 == 0:
            _put(engine, f"k{ITEMS - 1 - number}", "back")
        yield body


@pytest.fixture
def meddled(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have others write while an export takes items."""
    write = exports.write

    def between(folder: Path, name: str, bodies: Iterator[bytes], *more: Any) -> exports.Written:
        return write(folder, name, _meddle(engine, bodies), *more)

    monkeypatch.setattr(exports, "write", between)


def _export(engine: Engine, **more: Any) -> list[dict[str, Any]]:
    arn = engine.call("DescribeTable", {"TableName": "Source"})["Table"]["TableArn"]
    request = {"TableArn": arn, "S3Bucket": "bucket", **more}
    found = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert engine.database.buckets is not None
    folder = (engine.database.buckets / "bucket" / found["ExportManifest"]).parent
    lines: list[dict[str, Any]] = []
    for file in exports.data_files(folder):
        lines += map(orjson.loads, gzip.decompress(file.read_bytes()).splitlines())
    return lines


def _trees(engine: Engine) -> set[str]:
    with engine.database.read() as session:
        rows: Any = session.connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        return {name for (name,) in rows}


def test_a_dump_has_the_items_of_its_moment_while_others_write(
    engine: Engine, source: dict[str, str]
) -> None:
    trees = _trees(engine)
    with engine.snapshot("Source") as bodies:
        found = _plain(map(orjson.loads, _meddle(engine, bodies)))
    assert found == source
    assert _items(engine) != source
    engine.database.backfills.wait()
    assert _trees(engine) == trees


@pytest.mark.usefixtures("meddled")
def test_an_export_has_the_items_of_its_moment_while_others_write(
    engine: Engine, source: dict[str, str]
) -> None:
    assert _plain(line["Item"] for line in _export(engine)) == source
    assert _items(engine) != source


def test_an_export_of_an_earlier_moment_is_exact_while_others_write(
    engine: Engine, source: dict[str, str], clock: ManualClock, request: pytest.FixtureRequest
) -> None:
    moment = clock.now()
    clock.advance(10)
    for number in range(0, ITEMS, 2):
        _put(engine, f"k{number}", "later")
        _delete(engine, f"k{number + 1}")
        _put(engine, f"later {number}")
    request.getfixturevalue("meddled")
    assert _plain(line["Item"] for line in _export(engine, ExportTime=moment)) == source


def test_an_incremental_export_has_the_changes_of_its_window_while_others_write(
    engine: Engine, source: dict[str, str], clock: ManualClock, request: pytest.FixtureRequest
) -> None:
    clock.advance(60)
    start = clock.now()
    for number in range(60):
        _put(engine, f"k{number}", "first")
        _put(engine, f"k{number}", "second")
    for number in range(60, 100):
        _delete(engine, f"k{number}")
    clock.advance(20 * 60)
    request.getfixturevalue("meddled")
    window = {"ExportFromTime": start, "ExportToTime": clock.now()}
    lines = _export(engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=window)
    new = _plain(line["NewImage"] for line in lines if "NewImage" in line)
    old = _plain(line["OldImage"] for line in lines)
    assert new == {f"k{number}": "second" for number in range(60)}
    assert old == {f"k{number}": source[f"k{number}"] for number in range(100)}


def test_nobody_waits_for_more_than_a_part_of_an_export(
    engine: Engine, source: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = engine.database.commits
    runs: list[int] = []
    free: list[bool] = []
    take, write = commits.take, exports.write

    def taken() -> Any:
        session = take()
        if commits.shares_connection:
            runs.append(0)
            session.connection.exec_trace = count
        return session

    def count(*_statement: Any) -> bool:
        runs[-1] += 1
        return True

    def looked(folder: Path, name: str, bodies: Iterator[bytes], *more: Any) -> exports.Written:
        return write(folder, name, look(bodies), *more)

    def look(bodies: Iterator[bytes]) -> Iterator[bytes]:
        for body in bodies:
            free.append(commits.is_free())
            yield body

    monkeypatch.setattr(commits, "take", taken)
    monkeypatch.setattr(exports, "write", looked)
    assert len(_export(engine)) == len(source)
    assert len(free) == ITEMS
    assert all(free)
    if commits.shares_connection:
        assert len(runs) > ITEMS // 20
        assert max(runs) < MOST_STATEMENTS


def test_a_table_that_is_exported_in_memory_is_not_deleted(
    clock: ManualClock, create_table: CreateTable
) -> None:
    with Engine.open(clock=clock) as engine:
        create_table(engine, "Source", indexes={"by_group": ("group:S",)})
        for number in range(ITEMS):
            _put(engine, f"k{number}")
        with engine.snapshot("Source") as bodies:
            next(bodies)
            with pytest.raises(TableInUse, match="being backed up or exported"):
                engine.call("DeleteTable", {"TableName": "Source"})
        engine.call("DeleteTable", {"TableName": "Source"})
        with pytest.raises(TableNotFound), engine.snapshot("Source"):
            pass


def test_an_export_in_memory_says_so_when_its_history_goes(
    tmp_path: Path,
    clock: ManualClock,
    create_table: CreateTable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write = exports.write
    with Engine.open(clock=clock, buckets=tmp_path) as engine:

        def between(folder: Path, name: str, bodies: Iterator[bytes], *more: Any) -> Any:
            next(bodies)
            _recovery(engine, enabled=False)
            return write(folder, name, bodies, *more)

        create_table(engine, "Source", indexes={"by_group": ("group:S",)})
        _recovery(engine, enabled=True)
        for number in range(ITEMS):
            _put(engine, f"k{number}")
        monkeypatch.setattr(exports, "write", between)
        with pytest.raises(RecoveryUnavailable, match="disabled while it was read"):
            _export(engine)
        _put(engine, "k0", "still writable")
        engine.call("DeleteTable", {"TableName": "Source"})


def test_history_that_an_export_needs_is_not_trimmed_meanwhile(
    engine: Engine, source: dict[str, str], clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    clock.advance(10)
    for number in range(ITEMS):
        _put(engine, f"k{number}", "later")
    write = exports.write

    def between(folder: Path, name: str, bodies: Iterator[bytes], *more: Any) -> exports.Written:
        first = next(bodies)
        clock.advance(40 * 86_400)
        engine.sweep()
        return write(folder, name, iter([first, *bodies]), *more)

    monkeypatch.setattr(exports, "write", between)
    assert _plain(line["Item"] for line in _export(engine, ExportTime=moment)) == source


def test_others_are_answered_while_a_new_replica_gets_its_items(
    clock: ManualClock, create_table: CreateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Regions(clock=clock) as regions, ThreadPoolExecutor(1) as others:
        home = regions.engine("us-east-1")
        create_table(home, "Source", indexes={"by_group": ("group:S",)})
        for number in range(ITEMS):
            _put(home, f"k{number}")
        before = _items(home)
        answered: list[Any] = []
        apply = changes.apply

        def applied(target: Database, change: dict[str, Any]) -> None:
            answered.append(others.submit(_items, home).result(timeout=30))
            apply(target, change)

        monkeypatch.setattr(changes, "apply", applied)
        make = [{"Create": {"RegionName": "eu-west-1"}}]
        home.call("UpdateTable", {"TableName": "Source", "ReplicaUpdates": make})
        assert _items(regions.engine("eu-west-1")) == before
        assert answered == [before] * ITEMS
