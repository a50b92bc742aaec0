"""Heavy and hostile clients, each with what it needs, and somebody who only wants a GetItem."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import orjson

from keyfold_engine.limits import MB

HEADERS: Final = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-target, Signature=" + "0" * 64,
}
TABLE: Final = "Storms"
PROBE: Final[dict[str, Any]] = {"TableName": TABLE, "Key": {"pk": {"S": "probe"}, "sk": {"S": "0"}}}
PACE_SECONDS: Final = 0.01


class Client:
    """One connection; bodies are bytes made beforehand."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def send(self, operation: str, body: bytes) -> tuple[int, bytes]:
        headers = {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        self._connection.request("POST", "/", body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        status, body = self.send(operation, orjson.dumps(request))
        if status != 200:
            raise RuntimeError(f"{operation}: {status} {body[:300]!r}")
        found: dict[str, Any] = orjson.loads(body)
        return found

    def close(self) -> None:
        self._connection.close()


def create_table(client: Client, name: str) -> None:
    keys = (("pk", "HASH"), ("sk", "RANGE"))
    client.call(
        "CreateTable",
        {
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n, _ in keys],
            "KeySchema": [{"AttributeName": n, "KeyType": kind} for n, kind in keys],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )


def fill(client: Client, table: str, partition: str, items: int) -> None:
    for first in range(0, items, 25):
        puts = [
            {
                "PutRequest": {
                    "Item": {"pk": {"S": partition}, "sk": {"S": f"{n:06}"}, "a": {"N": str(n)}}
                }
            }
            for n in range(first, min(first + 25, items))
        ]
        client.call("BatchWriteItem", {"RequestItems": {table: puts}})


Call = tuple[str, bytes]


@dataclass(frozen=True)
class Storm:
    """Requests that come again and again, over some connections at once."""

    name: str
    calls: Callable[[], Sequence[Call]]
    connections: int = 1
    prepare: Callable[[Client], None] = field(default=lambda _client: None)


def _query(**filter: Any) -> bytes:
    return orjson.dumps(
        {
            "TableName": TABLE,
            "KeyConditions": {
                "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "many"}]}
            },
            **filter,
        }
    )


def _terms(count: int) -> dict[str, Any]:
    return {
        "FilterExpression": " OR ".join(f"b = :v{n}" for n in range(count)),
        "ExpressionAttributeValues": {f":v{n}": {"N": str(-n)} for n in range(count)},
    }


def _filtered() -> list[Call]:
    request = {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :p",
        **_terms(150),
    }
    request["ExpressionAttributeValues"] |= {":p": {"S": "many"}}
    return [("Query", orjson.dumps(request))]


def _in(count: int) -> Callable[[], list[Call]]:
    def calls() -> list[Call]:
        values = [{"N": str(-n)} for n in range(count)]
        terms = {"a": {"ComparisonOperator": "IN", "AttributeValueList": values}}
        return [("Query", _query(QueryFilter=terms))]

    return calls


def _set(count: int) -> Callable[[], list[Call]]:
    def calls() -> list[Call]:
        members = {"SS": [f"{n:05}" for n in range(count)]}
        key = {"pk": {"S": "set"}, "sk": {"S": "0"}}
        put = {"TableName": TABLE, "Item": {**key, "s": members}}
        taken = {
            "TableName": TABLE,
            "Key": key,
            "UpdateExpression": "DELETE s :d",
            "ExpressionAttributeValues": {":d": members},
        }
        return [("PutItem", orjson.dumps(put)), ("UpdateItem", orjson.dumps(taken))]

    return calls


def _definitions() -> list[Call]:
    request = {
        "TableName": "Wide",
        "AttributeDefinitions": [
            {"AttributeName": f"a{n}", "AttributeType": "S"} for n in range(12_000)
        ],
        "KeySchema": [{"AttributeName": "a0", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    return [("CreateTable", orjson.dumps(request))]


def _members() -> list[Call]:
    item = {"pk": {"S": "tiny"}, "sk": {"S": "0"}, "l": {"L": [{"N": "1"}] * 1_400_000}}
    return [("PutItem", orjson.dumps({"TableName": TABLE, "Item": item}))]


def dropped(items: int) -> Storm:
    """A table of items: backed up, then dropped."""

    def prepare(client: Client) -> None:
        create_table(client, "Dropped")
        fill(client, "Dropped", "x", items)

    backup = orjson.dumps({"TableName": "Dropped", "BackupName": "storm"})
    drop = orjson.dumps({"TableName": "Dropped"})
    calls = [("CreateBackup", backup), ("DeleteTable", drop)]
    return Storm(f"CreateBackup and DeleteTable of {items:,} items", lambda: calls, 1, prepare)


STORMS: Final = (
    Storm("Query with 150 terms over 40,000 items", _filtered),
    Storm("QueryFilter IN of 2,000 values", _in(2_000)),
    Storm("QueryFilter IN of 100,000 values", _in(100_000)),
    Storm("DELETE of 10,000 members of a set", _set(10_000)),
    Storm("DELETE of 70,000 members of a set", _set(70_000)),
    Storm(
        "six scans at once",
        lambda: [("Scan", orjson.dumps({"TableName": TABLE, **_terms(100)}))],
        6,
    ),
    Storm("CreateTable with 12,000 definitions", _definitions),
    Storm("14 MB of tiny members", _members),
)


def prepare(port: int, items: int = 40_000) -> None:
    """The table that storms and probes use."""
    client = Client(port)
    create_table(client, TABLE)
    client.call("PutItem", {"TableName": TABLE, "Item": {**PROBE["Key"], "x": {"S": "x" * 500}}})
    fill(client, TABLE, "many", items)
    fill_large(client)
    client.close()


def send_once(port: int, storm: Storm) -> None:
    """Each request of the storm, over one connection."""
    client = Client(port)
    for operation, body in storm.calls():
        client.send(operation, body)
    client.close()


def _send_forever(port: int, calls: Sequence[Call]) -> None:
    client = Client(port)
    while True:
        try:
            for operation, body in calls:
                client.send(operation, body)
        except (OSError, http.client.HTTPException):
            client.close()
            time.sleep(0.05)
            client = Client(port)


@contextmanager
def raging(port: int, storm: Storm) -> Iterator[None]:
    """The storm, in processes of its own, for the time of a `with` block."""
    calls = storm.calls()
    context = get_context("fork")
    senders = [
        context.Process(target=_send_forever, args=(port, calls), daemon=True)
        for _ in range(storm.connections)
    ]
    for sender in senders:
        sender.start()
    try:
        yield
    finally:
        for sender in senders:
            assert sender.pid is not None
            os.kill(sender.pid, signal.SIGKILL)
            sender.join()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Another process that has begun to write to the file, for the time of a `with` block."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def probe(port: int, seconds: float) -> list[float]:
    """Seconds that GetItems take, one begun every hundredth of a second whatever the one before."""
    body = orjson.dumps(PROBE)
    client = Client(port)
    client.send("GetItem", body)
    found: list[float] = []
    due = time.perf_counter()
    end = due + seconds
    while due < end:
        with suppress(ValueError):
            time.sleep(due - time.perf_counter())
        status, _ = client.send("GetItem", body)
        if status != 200:
            raise RuntimeError(f"GetItem: {status}")
        now = time.perf_counter()
        found.append(now - due)
        # Those that were due meanwhile have waited too.
        due += PACE_SECONDS
        while due < now:
            found.append(now - due)
            due += PACE_SECONDS
    client.close()
    return found


def p99(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def handles(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


Hold = Callable[[int], list[socket.socket]]
"""Clients that hold what they have of a server, until their connections are closed."""

LARGE_ITEMS: Final = 16
_LARGE_KEYS: Final = [{"pk": {"S": "large"}, "sk": {"S": str(n)}} for n in range(LARGE_ITEMS)]


def fill_large(client: Client) -> None:
    """Items whose answer no socket has room for."""
    for key in _LARGE_KEYS:
        item = {**key, "x": {"S": "x" * 390_000}}
        client.call("PutItem", {"TableName": TABLE, "Item": item})


def _head(operation: str, *more: str) -> bytes:
    lines = [f"{name}: {value}" for name, value in HEADERS.items()]
    target = f"X-Amz-Target: DynamoDB_20120810.{operation}"
    return "\r\n".join(["POST / HTTP/1.1", "Host: x", target, *lines, *more, "", ""]).encode()


def _held(port: int, connections: int, content: bytes) -> list[socket.socket]:
    """Connections that have sent this content, as far as the server took it."""
    held = []
    for _ in range(connections):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect(("127.0.0.1", port))
        held.append(connection)
        with suppress(OSError):
            connection.sendall(content)
    return held


def hold_bodies(port: int, connections: int = 60, size: int = 4 * MB) -> list[socket.socket]:
    """Clients that send most of a body and then nothing."""
    begun = _head("PutItem", f"Content-Length: {size}")
    return _held(port, connections, begun + b"x" * (size - 1))


def hold_trailers(port: int, connections: int = 20, size: int = 4 * MB) -> list[socket.socket]:
    """Clients whose trailers do not end."""
    begun = _head("PutItem", "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n"
    line = b"x-more: " + b"y" * 1000 + b"\r\n"
    return _held(port, connections, begun + line * (size // len(line)))


def hold_answers(port: int, connections: int = 60) -> list[socket.socket]:
    """Clients that ask for six megabytes and take none of them."""
    body = orjson.dumps({"RequestItems": {TABLE: {"Keys": _LARGE_KEYS}}})
    asked = _head("BatchGetItem", f"Content-Length: {len(body)}") + body
    held = _held(port, connections, asked)
    for connection in held:
        with suppress(OSError):
            connection.recv(1, socket.MSG_PEEK)
    return held


def hold_handshakes(port: int, connections: int = 600) -> list[socket.socket]:
    """Clients of TLS that never say who they are."""
    return _held(port, connections, b"")


HOLDS: Final[dict[str, Hold]] = {
    "unfinished bodies": hold_bodies,
    "endless trailers": hold_trailers,
    "slow readers": hold_answers,
}
