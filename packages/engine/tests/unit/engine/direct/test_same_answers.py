"""The short way answers and stores as the general way does, request for request.

``DIRECT_REQUESTS`` sets how many requests the long tests compare, and ``DIRECT_SEED`` where they
begin: 10,000,000 in `make fault`.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.unit.engine.direct.random_requests import TABLES, RandomRequests, Wire

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.direct.requests import Direct
from keyfold_engine.engine.direct.writes import Priced
from keyfold_engine.errors import OperationError, StorageError
from keyfold_engine.wire import BackgroundServer, ServerSettings
from keyfold_engine.wire.answer import error_body

REQUESTS = int(os.environ.get("DIRECT_REQUESTS", "100000"))
SEED = int(os.environ.get("DIRECT_SEED", "0"))
Call = tuple[str, bytes]
Ask = Callable[[Sequence[Call]], list[bytes]]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, bool]]:
    """How many pieces of work the short way did, and how many it left."""
    found: Counter[tuple[str, bool]] = Counter()
    run = Direct.run

    def counted(self: Direct, work: Any, session: Any) -> bytes | None:
        answer = run(self, work, session)
        found[type(work).__name__, answer is not None] += 1
        if isinstance(work, Priced):
            found[type(work._work).__name__, answer is not None] += 1
        return answer

    monkeypatch.setattr(Direct, "run", counted)
    return found


def opened(path: str | Path = ":memory:", *, is_short: bool) -> Engine:
    engine = Engine.open(path, clock=ManualClock(), durability="memory")
    for table in TABLES:
        engine.call("CreateTable", dict(table))
    lives = {"TableName": "sorted", "TimeToLiveSpecification": {"Enabled": True}}
    lives["TimeToLiveSpecification"]["AttributeName"] = "ttl"  # type: ignore[index]
    engine.call("UpdateTimeToLive", lives)
    if not is_short:
        engine._has_short_way = False
    return engine


def shown(answer: bytes | Exception) -> bytes:
    if isinstance(answer, bytes):
        return answer
    assert isinstance(answer, OperationError | StorageError), repr(answer)
    return error_body(answer)[1]


def in_process(engine: Engine, calls: Sequence[Call]) -> list[bytes]:
    return [shown(each) for each in engine.call_many_bytes(calls)]


def contents(engine: Engine) -> dict[str, list[Any]]:
    """All rows of the file but those with random ids."""
    execute = engine.database.commits._writer.execute
    names = [name for (name,) in execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    wanted = [
        n for n in names if n.startswith(("items_", "index_", "collections_")) or n == "records"
    ]
    return {name: sorted(execute(f"SELECT * FROM {name}")) for name in [*wanted, "tokens"]}


def by_place(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same without the numbers of rows, which need not agree."""
    rows = dict(rows)
    for name in [*rows]:
        if name.startswith("index_"):
            rows[name] = [row[:2] for row in rows[name]]
    return rows


def compare(ask: Ask, general: Engine, seed: int, count: int, odd: float) -> None:
    """Ask both sides the same, until a difference is found."""
    for group in RandomRequests(seed, odd).groups(count):
        calls = [(operation, orjson.dumps(request)) for operation, request in group]
        told, expected = ask(calls), in_process(general, calls)
        for (operation, body), ours, theirs in zip(calls, told, expected, strict=True):
            assert orjson.loads(ours) == orjson.loads(theirs), (operation, body.decode(), ours)


def differ(short: Engine, general: Engine, seed: int, count: int, odd: float) -> None:
    compare(partial(in_process, short), general, seed, count, odd)
    assert by_place(contents(short)) == by_place(contents(general))


@pytest.mark.parametrize("odd", [0.002, 0.03])
def test_the_same_answers_and_rows(taken: Counter[tuple[str, bool]], odd: float) -> None:
    with opened(is_short=True) as short, opened(is_short=False) as general:
        differ(short, general, 1, 10_000, odd)
    done = {name: taken[name, True] for name, _ in taken}
    assert len(done) == 6, taken
    assert min(done.values()) > 100, taken


def test_the_same_by_objects(taken: Counter[tuple[str, bool]]) -> None:
    """What a caller gives as objects is neither changed nor kept."""

    def ask(calls: Sequence[Call]) -> list[bytes]:
        answers = []
        for operation, body in calls:
            request: Wire = orjson.loads(body)
            try:
                answers.append(orjson.dumps(short.call(operation, request)))
            except OperationError as error:
                answers.append(shown(error))
            assert orjson.dumps(request) == body
        return answers

    with opened(is_short=True) as short, opened(is_short=False) as general:
        compare(ask, general, 2, 2_000, 0.01)
        assert by_place(contents(short)) == by_place(contents(general))
    assert taken["DirectPut", True] > 50


def test_the_same_on_a_file_and_in_what_a_kill_leaves(
    tmp_path: Path, taken: Counter[tuple[str, bool]]
) -> None:
    """A copy of the files between two commits is what a kill at that moment leaves."""
    path = tmp_path / "short.db"
    with opened(path, is_short=True) as short, opened(is_short=False) as general:
        for seed in range(5):
            differ(short, general, seed, 500, 0.01)
            for ending in ("", "-wal"):
                shutil.copy(f"{path}{ending}", tmp_path / f"killed-{seed}.db{ending}")
            with Engine.open(tmp_path / f"killed-{seed}.db") as left:
                assert contents(left) == contents(short)
    assert taken["DirectUpdate", True] > 50


def over_http(connection: socket.socket, calls: Sequence[Call]) -> list[bytes]:
    """Send all requests at once, and read their answers in order."""
    signature = (
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
        f"SignedHeaders=host, Signature={'b' * 64}"
    )
    for operation, body in calls:
        head = (
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
            f"X-Amz-Target: DynamoDB_20120810.{operation}\r\nX-Amz-Date: 20260101T000000Z\r\n"
            f"Authorization: {signature}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
    answers, data = [], b""
    for _ in calls:
        while b"\r\n\r\n" not in data:
            data += connection.recv(1 << 16)
        head_bytes, _, data = data.partition(b"\r\n\r\n")
        length = int(head_bytes.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(data) < length:
            data += connection.recv(1 << 16)
        answers.append(data[:length])
        data = data[length:]
    return answers


def served(seed: int, count: int) -> None:
    with opened(is_short=True) as short, opened(is_short=False) as general:
        server = BackgroundServer(short, ServerSettings(port=0))
        with server, socket.create_connection(("127.0.0.1", server.port)) as connection:
            compare(partial(over_http, connection), general, seed, count, 0.01)
        assert by_place(contents(short)) == by_place(contents(general))


def test_the_same_over_http(taken: Counter[tuple[str, bool]]) -> None:
    served(3, 1_000)
    assert taken["DirectUpdate", True] > 50


@pytest.mark.long
def test_the_same_over_many_requests(tmp_path: Path) -> None:
    """In memory, on a file, and over HTTP, with few and with many odd requests."""
    share = REQUESTS // 4
    for odd in (0.002, 0.03):
        with opened(is_short=True) as short, opened(is_short=False) as general:
            differ(short, general, SEED + 10, share, odd)
    path = tmp_path / "short.db"
    with opened(path, is_short=True) as short, opened(is_short=False) as general:
        differ(short, general, SEED + 11, share, 0.01)
    served(SEED + 12, share)
