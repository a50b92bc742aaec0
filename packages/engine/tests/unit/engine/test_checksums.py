"""Checksums of pages: in new files, and for those who share a commit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.storage import checksums
from keyfold_engine.errors import Corrupt

PAGE = 4096


def _put(engine: Engine, key: str, size: int = 10, table: str = "Stored") -> None:
    item = {"pk": {"S": key}, "data": {"S": "d" * size}}
    engine.call("PutItem", {"TableName": table, "Item": item})


def _items(engine: Engine, table: str = "Stored") -> Any:
    return engine.call("Scan", {"TableName": table})["Items"]


def _wrong_pages(path: Path) -> list[int]:
    content = path.read_bytes()
    connection = apsw.Connection(":memory:", vfs=checksums.layer())
    pages = range(0, len(content), PAGE)
    verify = "SELECT verify_checksum(?)"
    return [
        start // PAGE + 1
        for start in pages
        if connection.execute(verify, (content[start : start + PAGE],)).fetchall() != [(1,)]
    ]


def _flip(path: Path, text: bytes) -> None:
    """Change one byte of a text in the file."""
    content = bytearray(path.read_bytes())
    content[content.index(text)] ^= 1
    path.write_bytes(content)


@pytest.fixture
def path(tmp_path: Path, create_table: Callable[..., None]) -> Path:
    path = tmp_path / "data.db"
    with Engine.open(path, durability="memory") as engine:
        create_table(engine, "Stored", indexes={"by_data": ("data:S",)})
        for number in range(300):
            _put(engine, f"key{number:05d}", 900)
    return path


def test_every_page_of_a_new_file_has_its_checksum(path: Path) -> None:
    assert path.read_bytes()[20] == checksums.BYTES
    assert _wrong_pages(path) == []


def test_damage_is_named_by_table_and_key(path: Path) -> None:
    _flip(path, b'"key00200"},')
    request = {"TableName": "Stored", "Key": {"pk": {"S": "key00200"}}}
    with Engine.open(path) as engine, pytest.raises(Corrupt, match="keyfold doctor") as caught:
        engine.call("GetItem", request)
    assert caught.value.where == 'table Stored, key {"pk":{"S":"key00200"}}'


def test_damage_in_one_table_leaves_the_others_alone(
    path: Path, create_table: Callable[..., None]
) -> None:
    with Engine.open(path) as engine:
        create_table(engine, "Other")
        _put(engine, "whole", table="Other")
    _flip(path, b'"key00200"},')
    with Engine.open(path) as engine:
        with pytest.raises(Corrupt, match="table Stored"):
            _put(engine, "key00200")
        _put(engine, "later", table="Other")
        assert len(_items(engine, "Other")) == 2


def test_a_write_that_meets_damage_does_not_fail_those_in_the_same_commit(
    path: Path, create_table: Callable[..., None]
) -> None:
    with Engine.open(path) as engine:
        create_table(engine, "Other")
    content = bytearray(path.read_bytes())
    for start in range(content.index(b"key00200") // PAGE * PAGE, len(content) - 20 * PAGE, PAGE):
        content[start + 2000] ^= 1
    path.write_bytes(content)

    def put(table: str, key: str) -> tuple[str, bytes]:
        return "PutItem", orjson.dumps({"TableName": table, "Item": {"pk": {"S": key}}})

    with Engine.open(path) as engine:
        calls = [put("Other", str(number)) for number in range(5)]
        calls[2:2] = [put("Stored", f"key{number:05d}") for number in range(200, 205)]
        results = engine.call_many_bytes(calls)
        assert [isinstance(result, Corrupt) for result in results] == (
            [False] * 2 + [True] * 5 + [False] * 3
        )
        assert len(_items(engine, "Other")) == 5
        errors: list[Exception] = []

        def write(table: str, key: str) -> None:
            try:
                _put(engine, key, table=table)
            except Exception as error:
                errors.append(error)

        threads = [
            threading.Thread(
                target=write, args=("Other" if n % 2 else "Stored", f"key{200 + n:05d}")
            )
            for n in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(_items(engine, "Other")) == 25
        assert all(isinstance(error, Corrupt) for error in errors)
