"""Several calls whose writes share one commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.engine import Engine, streams
from keyfold_engine.errors import ConditionFailed, SerializationError, StorageError, TableNotFound

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "things.db")
    with Engine.open(path) as opened:
        opened.call("CreateTable", TABLE)
        yield opened


def put(pk: str, **more: Any) -> tuple[str, bytes]:
    request = {"TableName": "Things", "Item": {"pk": {"S": pk}}, **more}
    return "PutItem", orjson.dumps(request)


def get(pk: str) -> tuple[str, bytes]:
    return "GetItem", orjson.dumps({"TableName": "Things", "Key": {"pk": {"S": pk}}})


def keys(engine: Engine) -> set[str]:
    return {item["pk"]["S"] for item in engine.call("Scan", {"TableName": "Things"})["Items"]}


def test_each_call_has_its_own_result(engine: Engine) -> None:
    once = {"ConditionExpression": "attribute_not_exists(pk)"}
    results = engine.call_many_bytes(
        [
            put("a", **once),
            put("a", **once),
            ("PutItem", b"{"),
            ("PutItem", orjson.dumps({"TableName": "None", "Item": {"pk": {"S": "x"}}})),
            put("b", **once),
        ]
    )
    assert [result if isinstance(result, bytes) else type(result) for result in results] == [
        b"{}",
        ConditionFailed,
        SerializationError,
        TableNotFound,
        b"{}",
    ]
    assert keys(engine) == {"a", "b"}


def test_a_transaction_that_fails_takes_back_only_itself(engine: Engine) -> None:
    def one(pk: str, **more: Any) -> dict[str, Any]:
        return {"Put": {"TableName": "Things", "Item": {"pk": {"S": pk}}, **more}}

    doomed = {"TransactItems": [one("c"), one("a", ConditionExpression="attribute_not_exists(pk)")]}
    results = engine.call_many_bytes(
        [put("a"), ("TransactWriteItems", orjson.dumps(doomed)), put("b")]
    )
    assert [isinstance(result, bytes) for result in results] == [True, False, True]
    assert keys(engine) == {"a", "b"}


def test_a_later_call_sees_an_earlier_one(engine: Engine) -> None:
    _, found = engine.call_many_bytes([put("a"), get("a")])
    assert isinstance(found, bytes)
    assert orjson.loads(found) == {"Item": {"pk": {"S": "a"}}}


def test_when_the_commit_fails_nothing_was_done_and_all_are_told(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise apsw.FullError("database or disk is full")

    commits = engine._database.commits
    with monkeypatch.context() as broken:
        broken.setattr(commits, "_commit", fail)
        results = engine.call_many_bytes([put("a"), put("b")])
    assert all(isinstance(result, StorageError) for result in results)
    assert keys(engine) == set()
    assert engine.call_many_bytes([put("c"), put("d")]) == [b"{}", b"{}"]
    assert keys(engine) == {"c", "d"}


def test_a_write_that_breaks_in_the_middle_takes_all_with_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a mistake in the engine")

    engine.call(
        "UpdateTable",
        {
            "TableName": "Things",
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        },
    )
    with monkeypatch.context() as patched:
        patched.setattr(streams, "record", broken)
        results = engine.call_many_bytes([put("a"), put("b")])
    assert all(isinstance(result, StorageError) for result in results)
    assert keys(engine) == set()
    assert engine.call_many_bytes([put("c"), put("d")]) == [b"{}", b"{}"]


def test_calls_that_are_started_count_when_their_commit_is_made(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "things.db") as engine:
        engine.call("CreateTable", TABLE)
        commit = engine.start_many_bytes([put("a"), put(""), put("b")])
        assert commit is not None
        assert keys(engine) == set()
        assert engine.start_many_bytes([put("c")]) is None
        waiting = threading.Thread(target=engine.call_many_bytes, args=([put("d")],))
        waiting.start()
        made: list[Any] = []
        committing = threading.Thread(target=lambda: made.extend(commit()))
        committing.start()
        committing.join(10)
        waiting.join(10)
        assert [isinstance(result, bytes) for result in made] == [True, False, True]
        assert keys(engine) == {"a", "b", "d"}


def test_started_calls_whose_commit_fails_are_all_told_and_nothing_was_done(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise apsw.FullError("database or disk is full")

    commit = engine.start_many_bytes([put("a"), put("b")])
    assert commit is not None
    with monkeypatch.context() as broken:
        broken.setattr(engine._database.commits, "_commit", fail)
        results = commit()
    assert all(isinstance(result, StorageError) for result in results)
    assert keys(engine) == set()
    assert engine.call_many_bytes([put("c"), put("d")]) == [b"{}", b"{}"]


def test_calls_are_not_started_in_a_file_that_another_process_writes_to(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "things.db") as ours, Engine.open(tmp_path / "things.db") as theirs:
        ours.call("CreateTable", TABLE)
        theirs.call_bytes(*put("a"))
        ours.call_bytes(*put("b"))
        assert ours.start_many_bytes([put("c")]) is None


def test_a_closed_engine_says_so_to_calls_that_are_started(engine: Engine) -> None:
    engine.close()
    commit = engine.start_many_bytes([put("a")])
    assert commit is not None
    [result] = commit()
    assert isinstance(result, StorageError)


def test_many_threads_gather_and_read_at_the_same_time(engine: Engine) -> None:
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(20):
                calls = [put(f"{name}{number}-{part}") for part in range(4)]
                assert engine.call_many_bytes(calls) == [b"{}"] * 4
                assert engine.call_bytes(*get(f"{name}{number}-3")) != b"{}"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(keys(engine)) == 4 * 20 * 4
