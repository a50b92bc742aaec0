"""Growth: the cost of a read as the table, a partition or the number of connections grows."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bench import load, peers
from bench.cases.wire import fill
from bench.harness import Budget, Case, Outcome, Row, Side, compare
from bench.items import PER_PARTITION, TABLE, item, key
from keyfold_engine.engine import Engine

BATCHES_PER_COMMIT = 40


@dataclass(frozen=True)
class Curve:
    """Tables that differ only in how many items they hold; a page lies in one partition."""

    what: str
    sizes: list[int]
    key: Callable[[int], dict[str, Any]]
    page: int


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    more, most = ([10**6], [10**7]) if budget.full else ([], [])
    table = Curve("the table", [10**4, 10**5, *more, *most], key, PER_PARTITION)
    partition = Curve("one partition", [10, 10**3, 10**5, *more], _key_of_one_partition, 10)
    for curve in (table, partition):
        yield from _measured(stack, budget, curve)
    yield _connections(stack, budget)


def _measured(stack: ExitStack, budget: Budget, curve: Curve) -> Iterator[Outcome]:
    gets: list[Side] = []
    queries: list[Side] = []
    for size in curve.sizes:
        engine = filled(stack, size, curve.key)
        numbers = [n * 7919 % size for n in range(2000)]
        pages = [curve.key(n - n % curve.page) for n in numbers]
        for sides, operation, requests in (
            (gets, "GetItem", [_get(curve.key(n)) for n in numbers]),
            (queries, "Query", [_query(first, curve.page) for first in pages]),
        ):
            bodies = itertools.cycle(list(map(orjson.dumps, requests)))
            sides.append(Side(f"keyfold, {size:,} items", _call(engine, operation, bodies)))
    for title, sides in (("GetItem", gets), (f"Query of {curve.page}", queries)):
        yield compare(
            "growth",
            f"growth of {curve.what}, {title}",
            sides,
            budget,
            reference=sides[0].name,
            goal="the largest within 1.5x of the smallest",
            met=lambda o: o.rows[-1].median <= 1.5 * o.rows[0].median,
        )


def _connections(stack: ExitStack, budget: Budget) -> Outcome:
    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    address = load.local(port)
    fill(address)
    requests = load.prepared(address, "GetItem", [_get(key(n)) for n in range(200)])
    outcome = Outcome("growth", "server, GetItem by connections", "keyfold, 1 connections")
    for count in (1, 4, 16, 64):
        found = load.drive(address, requests, count, budget.seconds * 4)
        outcome.rows.append(Row(f"keyfold, {count} connections", 1e6 / found["per_second"], 0.0))
        outcome.figures[f"{count} connections, p99"] = f"{found['p99_ms']:.1f} ms"
    for row in outcome.rows:
        row.ratio = row.median / outcome.rows[0].median
    return outcome


def _call(engine: Engine, operation: str, bodies: itertools.cycle[bytes]) -> Any:
    return lambda: engine.call_bytes(operation, next(bodies))


def filled(stack: ExitStack, size: int, key_of: Callable[[int], dict[str, Any]]) -> Engine:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    engine = stack.enter_context(Engine.open(str(folder / "growth.db"), durability="relaxed"))
    plain = {k: v for k, v in TABLE.items() if k != "GlobalSecondaryIndexes"}
    plain["AttributeDefinitions"] = plain["AttributeDefinitions"][:2]
    engine.call("CreateTable", plain)
    batches = (_batch(range(at, min(size, at + 25)), key_of) for at in range(0, size, 25))
    while together := list(itertools.islice(batches, BATCHES_PER_COMMIT)):
        engine.call_many_bytes(together)
    return engine


def _batch(numbers: range, key_of: Callable[[int], dict[str, Any]]) -> tuple[str, bytes]:
    puts = [{"PutRequest": {"Item": {**item(n, 300, indexed=False), **key_of(n)}}} for n in numbers]
    return "BatchWriteItem", orjson.dumps({"RequestItems": {"bench": puts}})


def _key_of_one_partition(number: int) -> dict[str, Any]:
    return {"PK": {"S": "GROUP"}, "SK": {"S": f"ITEM#{number:08d}"}}


def _get(key: dict[str, Any]) -> dict[str, Any]:
    return {"TableName": "bench", "Key": key}


def _query(first: dict[str, Any], limit: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "KeyConditionExpression": "PK = :p AND SK >= :s",
        "ExpressionAttributeValues": {":p": first["PK"], ":s": first["SK"]},
        "Limit": limit,
    }


CASES = [Case("growth", "Growth", run)]
