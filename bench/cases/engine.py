"""The engine in process against raw apsw storing and finding the same rows: the limit."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import orjson

from bench.harness import Budget, Case, Outcome, Side, compare
from bench.items import PER_PARTITION, TABLE, item, key
from keyfold_engine.engine import Engine

ITEMS = 10_000


class Raw:
    """What the engine does at the least: a row with an ordered key, found and written."""

    def __init__(self, path: str) -> None:
        self.db = apsw.Connection(path)
        for statement in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=NORMAL",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, pk BLOB, sk BLOB, body BLOB)",
            "CREATE UNIQUE INDEX item_key ON item (pk, sk)",
        ):
            self.db.execute(statement)

    def put(self, number: int) -> None:
        body, (pk, sk) = orjson.dumps(item(number, indexed=False)), self.keys(number)
        self.db.execute(
            "INSERT INTO item (pk, sk, body) VALUES (?, ?, ?) "
            "ON CONFLICT (pk, sk) DO UPDATE SET body = excluded.body",
            (pk, sk, body),
        )

    def get(self, number: int) -> bytes:
        row = self.db.execute(
            "SELECT body FROM item WHERE pk = ? AND sk = ?", self.keys(number)
        ).fetchone()
        return b'{"Item":' + row[0] + b"}"

    def query(self, number: int) -> bytes:
        pk, _ = self.keys(number)
        rows = self.db.execute("SELECT body FROM item WHERE pk = ? ORDER BY sk LIMIT 50", (pk,))
        return b'{"Items":[' + b",".join(row[0] for row in rows) + b"]}"

    def four(self, number: int) -> None:
        with self.db:
            for offset in range(4):
                self.put(number + offset)

    def keys(self, number: int) -> tuple[bytes, bytes]:
        found = key(number)
        return found["PK"]["S"].encode(), found["SK"]["S"].encode()


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    raw = Raw(str(folder / "raw.db"))
    stack.callback(raw.db.close)
    engine = stack.enter_context(Engine.open(str(folder / "keyfold.db"), durability="relaxed"))
    plain = {k: v for k, v in TABLE.items() if k != "GlobalSecondaryIndexes"}
    plain["AttributeDefinitions"] = plain["AttributeDefinitions"][:2]
    engine.call("CreateTable", plain)
    with raw.db:
        for number in range(ITEMS):
            raw.put(number)
    for number in range(0, ITEMS, 25):
        puts = [
            {"PutRequest": {"Item": item(n, indexed=False)}} for n in range(number, number + 25)
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"bench": puts}})

    def bodies(request: Any) -> itertools.cycle[bytes]:
        return itertools.cycle([orjson.dumps(request(n * 37 % ITEMS)) for n in range(500)])

    def ours(operation: str, request: Any) -> Side:
        prepared = bodies(request)
        return Side("keyfold", lambda: engine.call_bytes(operation, next(prepared)))

    def theirs(work: Any) -> Side:
        numbers = itertools.cycle([n * 37 % ITEMS for n in range(500)])
        return Side("raw apsw", lambda: work(next(numbers)))

    def get(n: int) -> Any:
        return {"TableName": "bench", "Key": key(n)}

    def put(n: int) -> Any:
        return {"TableName": "bench", "Item": item(n, indexed=False)}

    def query(n: int) -> Any:
        return {
            "TableName": "bench",
            "KeyConditionExpression": "PK = :p",
            "ExpressionAttributeValues": {":p": key(n)["PK"]},
            "Limit": PER_PARTITION,
        }

    def four(n: int) -> Any:
        return {"TransactItems": [{"Put": put(n % (ITEMS - 4) + o)} for o in range(4)]}

    for name, operation, request, work, goal in (
        ("GetItem", "GetItem", get, raw.get, 3.0),
        ("PutItem", "PutItem", put, raw.put, 3.0),
        ("Query of 50", "Query", query, raw.query, 2.0),
        ("transaction of 4", "TransactWriteItems", four, raw.four, 3.0),
    ):
        yield compare(
            "engine",
            f"engine, {name}",
            [ours(operation, request), theirs(work)],
            budget,
            reference="raw apsw",
            goal=f"at most {goal:g}x raw apsw",
            met=lambda o, goal=goal: o.time("keyfold") <= goal * o.time("raw apsw"),
        )


CASES = [Case("engine", "The engine against raw apsw", run)]
