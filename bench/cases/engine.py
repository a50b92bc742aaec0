"""The engine in process against raw apsw that does the same with the same rows: the limit.

Both are given the same request bytes, and have a file of 100,000 items of one kilobyte without an
index. With fresh keys every item is
asked for once; with repeated keys 500 of them again and again.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import apsw
import orjson

from bench.harness import Budget, Case, Outcome, Side, compare, summed_up
from bench.items import PER_PARTITION, TABLE, item, key
from keyfold_engine.engine import Engine

REPEATED = 500
INDEX = "GSI1"


class Raw:
    """The least that the engine can do: it reads the same request, and finds or writes a row."""

    def __init__(self, path: str) -> None:
        self.db = apsw.Connection(path)
        for statement in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=NORMAL",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, pk BLOB, sk BLOB, body BLOB)",
            "CREATE UNIQUE INDEX item_key ON item (pk, sk)",
            "CREATE TABLE entry (place BLOB PRIMARY KEY, id INTEGER) WITHOUT ROWID",
        ):
            self.db.execute(statement)

    def put(self, request: bytes) -> None:
        self._put(orjson.loads(request)["Item"])

    def get(self, request: bytes) -> bytes:
        body: bytes = self.db.execute(
            "SELECT body FROM item WHERE pk = ? AND sk = ?", _keys(orjson.loads(request)["Key"])
        ).get
        return b'{"Item":' + body + b"}"

    def update(self, request: bytes) -> None:
        asked = orjson.loads(request)
        values = asked["ExpressionAttributeValues"]
        with self.db:
            row, body = self.db.execute(
                "SELECT id, body FROM item WHERE pk = ? AND sk = ?", _keys(asked["Key"])
            ).get
            found = orjson.loads(body)
            found["title"] = values[":t"]
            found["count"] = {"N": str(int(found["count"]["N"]) + int(values[":one"]["N"]))}
            self.db.execute("UPDATE item SET body = ? WHERE id = ?", (orjson.dumps(found), row))

    def query(self, request: bytes) -> bytes:
        pk = orjson.loads(request)["ExpressionAttributeValues"][":p"]["S"].encode()
        rows = self.db.execute("SELECT body FROM item WHERE pk = ? ORDER BY sk LIMIT 50", (pk,))
        return b'{"Items":[' + b",".join(row[0] for row in rows) + b"]}"

    def four(self, request: bytes) -> None:
        with self.db:
            for each in orjson.loads(request)["TransactItems"]:
                self._put(each["Put"]["Item"])

    def fill(self, items: int, *, indexed: bool = False) -> None:
        with self.db:
            for number in range(items):
                self._put(item(number, indexed=indexed))

    def fill_index(self) -> None:
        """The entries of all items, sorted aside and inserted in order."""

        def entry(*row: Any) -> Any:
            body, pk, sk = row
            found = orjson.loads(body)
            first, second = found["GSI1PK"]["S"], found["GSI1SK"]["S"]
            return b"\0".join((first.encode(), second.encode(), pk, sk))

        self.db.create_scalar_function("entry", entry, 3)
        with self.db:
            self.db.execute(
                "INSERT INTO entry SELECT entry(body, pk, sk) AS place, id FROM item ORDER BY place"
            )

    def _put(self, item: dict[str, Any]) -> None:
        self.db.execute(
            "INSERT INTO item (pk, sk, body) VALUES (?, ?, ?) "
            "ON CONFLICT (pk, sk) DO UPDATE SET body = excluded.body",
            (*_keys(item), orjson.dumps(item)),
        )


def _keys(item: dict[str, Any]) -> tuple[bytes, bytes]:
    return item["PK"]["S"].encode(), item["SK"]["S"].encode()


@dataclass(frozen=True)
class Operation:
    title: str
    name: str
    request: Callable[[int], dict[str, Any]]
    raw: str
    """The method of `Raw` that does the same."""
    goal: float
    """How often raw apsw's time at most."""


def _update(number: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "Key": key(number),
        "UpdateExpression": "SET title = :t ADD #c :one",
        "ExpressionAttributeNames": {"#c": "count"},
        "ExpressionAttributeValues": {":t": {"S": f"new {number}"}, ":one": {"N": "1"}},
    }


def _query(number: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "KeyConditionExpression": "PK = :p",
        "ExpressionAttributeValues": {":p": key(number)["PK"]},
        "Limit": PER_PARTITION,
    }


def _put(number: int) -> dict[str, Any]:
    return {"TableName": "bench", "Item": item(number, indexed=False)}


def _four(number: int) -> dict[str, Any]:
    return {"TransactItems": [{"Put": _put(number + offset)} for offset in range(4)]}


OPERATIONS = [
    Operation("GetItem", "GetItem", lambda n: {"TableName": "bench", "Key": key(n)}, "get", 2),
    Operation("PutItem", "PutItem", _put, "put", 2),
    Operation("UpdateItem", "UpdateItem", _update, "update", 2.5),
    Operation("Query of 50", "Query", _query, "query", 2),
    Operation("transaction of 4", "TransactWriteItems", _four, "four", 2.5),
]
IN_README = {"GetItem", "UpdateItem"}


class Requests:
    """The bytes of the next requests, made before they are measured."""

    def __init__(self, operation: Operation, items: int, *, fresh: bool) -> None:
        self._request = operation.request
        order = random.Random(1).sample(range(items - 4), items - 4)
        self._numbers = cycle(order if fresh else order[:REPEATED])
        self._made: Iterator[bytes] = iter(())

    def prepare(self, how_many: int) -> None:
        numbers = islice(self._numbers, how_many)
        self._made = iter([orjson.dumps(self._request(number)) for number in numbers])

    def next(self) -> bytes:
        return next(self._made)


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    raw = Raw(str(folder / "raw.db"))
    stack.callback(raw.db.close)
    engine = stack.enter_context(Engine.open(str(folder / "keyfold.db"), durability="relaxed"))
    engine.call("CreateTable", plain_table())
    raw.fill(budget.items)
    fill(engine, budget.items)
    for operation in OPERATIONS:
        for keys in ("", ", repeated keys"):
            requests = partial(Requests, operation, budget.items, fresh=not keys)
            side = partial(_side, requests)
            outcome = compare(
                "engine",
                f"in process, {operation.title}{keys}",
                [
                    side("keyfold", partial(engine.call_bytes, operation.name)),
                    side("raw apsw", getattr(raw, operation.raw)),
                ],
                budget,
                reference="raw apsw",
                factor=1 / operation.goal,
            )
            outcome.in_readme = not keys and operation.title in IN_README
            yield outcome
    yield _backfill(budget.items)


def _side(made: Callable[[], Requests], name: str, work: Callable[[bytes], object]) -> Side:
    requests = made()
    following = requests.next
    return Side(name, lambda: work(following()), prepare=requests.prepare)


def plain_table() -> dict[str, Any]:
    """The table without its index."""
    plain = {k: v for k, v in TABLE.items() if k != "GlobalSecondaryIndexes"}
    return {**plain, "AttributeDefinitions": plain["AttributeDefinitions"][:2]}


def fill(engine: Engine, items: int, *, indexed: bool = False) -> None:
    for number in range(0, items, 25):
        puts = [
            {"PutRequest": {"Item": item(n, indexed=indexed)}} for n in range(number, number + 25)
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"bench": puts}})


def _backfill(items: int) -> Outcome:
    """An index of a table that has items already, for each of them."""
    times: dict[str, list[float]] = {"keyfold": [], "sorted insert by hand": []}
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            raw = Raw(f"{folder}/raw.db")
            stack.callback(raw.db.close)
            path = f"{folder}/keyfold.db"
            engine = stack.enter_context(Engine.open(path, durability="relaxed"))
            engine.call("CreateTable", plain_table())
            raw.fill(items, indexed=True)
            fill(engine, items, indexed=True)
            for name, work in (
                ("keyfold", partial(_add_index, engine)),
                ("sorted insert by hand", raw.fill_index),
            ):
                started = time.process_time()
                work()
                times[name].append(1e6 * (time.process_time() - started) / items)
    outcome = summed_up(
        "engine", "in process, backfill of an index, an item", times, "sorted insert by hand"
    )
    outcome.take_goal(1 / 1.5)
    return outcome


def _add_index(engine: Engine) -> None:
    definitions, index = TABLE["AttributeDefinitions"], TABLE["GlobalSecondaryIndexes"][0]
    engine.call(
        "UpdateTable",
        {
            "TableName": "bench",
            "AttributeDefinitions": definitions,
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
    )
    for _ in count():
        table = engine.call("DescribeTable", {"TableName": "bench"})["Table"]
        if table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE":
            return
        time.sleep(0.05)


CASES = [Case("engine", "The engine against raw apsw", run)]
