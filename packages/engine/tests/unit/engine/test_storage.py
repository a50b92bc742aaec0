"""Files that are not what they should be, disks that are full, formats from the future."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums
from keyfold_engine.errors import Corrupt, Full, StorageError, WrongFormat


def _put(engine: Engine, key: str, size: int = 10) -> None:
    item = {"pk": {"S": key}, "data": {"S": "d" * size}}
    engine.call("PutItem", {"TableName": "Stored", "Item": item})


def _keys(engine: Engine) -> set[str]:
    items = engine.call("Scan", {"TableName": "Stored"})["Items"]
    return {item["pk"]["S"] for item in items}


def _fill(engine: Engine) -> None:
    for number in range(100):
        _put(engine, f"filler{number}", 900)


def test_items_are_there_after_closing_and_opening(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored")
        _put(engine, "a")
    with Engine.open(path) as engine:
        assert _keys(engine) == {"a"}


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at" * 10)
    with pytest.raises(Corrupt, match="not a keyfold data file"):
        Engine.open(path)


def test_an_sqlite_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    with pytest.raises(Corrupt, match="not a keyfold data file"):
        Engine.open(path)


def test_a_truncated_file_is_named(tmp_path: Path, create_table: Callable[..., None]) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored")
        for number in range(50):
            _put(engine, str(number), 1000)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(Corrupt, match="truncated"):
        Engine.open(path)


def test_a_damaged_page_is_named_when_it_is_read(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored")
        for number in range(200):
            _put(engine, str(number), 1000)
    content = bytearray(path.read_bytes())
    content[4096 * 3 :] = b"\xa5" * (len(content) - 4096 * 3)
    path.write_bytes(content)
    with pytest.raises(Corrupt, match="damaged"), Engine.open(path) as engine:
        _keys(engine)


@pytest.mark.parametrize("page", range(1, 12))
def test_a_file_with_one_damaged_page_is_read_or_refused_as_damaged(
    tmp_path: Path, create_table: Callable[..., None], page: int
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored")
        _put(engine, "one")
    content = bytearray(path.read_bytes())
    content[4096 * page : 4096 * (page + 1)] = b"\xff" * 4096
    path.write_bytes(content)
    found = {"one"}
    with suppress(StorageError), Engine.open(path) as engine:
        found = _keys(engine)
    assert found == {"one"}


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="is a directory"):
        Engine.open(tmp_path)


def test_a_file_in_a_missing_directory_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened"):
        Engine.open(tmp_path / "nowhere" / "data.db")


@pytest.mark.parametrize(
    ("version", "advice"),
    [(999, "Upgrade keyfold"), (5, "run `keyfold dump` with .* and `keyfold load` with this one")],
)
def test_another_format_is_refused_and_left_as_it_is(
    tmp_path: Path, version: int, advice: str
) -> None:
    path = tmp_path / "data.db"
    Engine.open(path).close()
    connection = apsw.Connection(str(path), vfs=checksums.layer())
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(
        WrongFormat, match=f"format {version} .*{advice}|format {version};.*{advice}"
    ):
        Engine.open(path)
    assert path.read_bytes() == before


def test_a_full_disk_fails_cleanly_and_later_calls_work(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored", indexes={"by_data": ("data:S",)})
        _put(engine, "before")
        connection = engine._database.commits._writer.connection
        [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        with pytest.raises(Full, match="disk is full"):
            _fill(engine)
        survivors = _keys(engine)
        assert "before" in survivors
        connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        _put(engine, "after", 900)
        assert _keys(engine) == survivors | {"after"}
        entries = engine.call("Scan", {"TableName": "Stored", "IndexName": "by_data"})
        assert entries["Count"] == len(survivors) + 1


def test_deleted_tables_give_their_space_back(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        create_table(engine, "Stored")
        for number in range(300):
            _put(engine, str(number), 2000)
    full = path.stat().st_size
    with Engine.open(path) as engine:
        engine.call("DeleteTable", {"TableName": "Stored"})
    assert path.stat().st_size < full / 4


def test_a_closed_engine_says_so(create_table: Callable[..., None]) -> None:
    engine = Engine.open()
    create_table(engine, "Stored")
    engine.close()
    with pytest.raises(StorageError, match="closed"):
        _put(engine, "a")
    with pytest.raises(StorageError, match="closed"):
        _keys(engine)


def test_an_item_of_a_kilobyte_costs_little_more_than_that_on_disk(
    tmp_path: Path, create_table: Callable[..., None]
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path, durability="relaxed") as engine:
        create_table(engine, "Stored")
        for number in range(1000):
            _put(engine, str(number), 1000)
    assert path.stat().st_size < 1000 * 1000 * 1.6
