"""Growth: the cost of a read as the table, a partition or the number of connections grows."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from bench import load, peers
from bench.cases.wire import _fill
from bench.harness import Budget, Case, Outcome, Row, Side, compare
from bench.items import TABLE, item, key
from keyfold.engine import Engine


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    sizes = [10**4, 10**5] + ([10**6, 10**7] if budget.full else [])
    sides: dict[str, list[Side]] = {"GetItem": [], "Query of 50": []}
    for size in sizes:
        engine = stack.enter_context(_filled(stack, size))
        for title, operation, request in (
            ("GetItem", "GetItem", _get),
            ("Query of 50", "Query", _query),
        ):
            bodies = itertools.cycle([orjson.dumps(request(n * 7919 % size)) for n in range(2000)])
            sides[title].append(Side(f"keyfold, {size:,} items", _call(engine, operation, bodies)))
    for title, found in sides.items():
        yield compare(
            "growth",
            f"growth, {title}",
            found,
            budget,
            reference=found[0].name,
            goal="the largest table within 1.5x of the smallest",
            met=lambda o: o.rows[-1].median <= 1.5 * o.rows[0].median,
        )
    yield _connections(stack, budget)


def _connections(stack: ExitStack, budget: Budget) -> Outcome:
    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    _fill(port)
    requests = load.prepared(port, "GetItem", [_get(n) for n in range(200)])
    outcome = Outcome("growth", "server, GetItem by connections", "keyfold, 1 connections")
    for count in (1, 4, 16, 64):
        found = load.drive(port, requests, count, budget.seconds * 4)
        outcome.rows.append(Row(f"keyfold, {count} connections", 1e6 / found["per_second"], 0.0))
        outcome.figures[f"{count} connections, p99"] = f"{found['p99_ms']:.1f} ms"
    for row in outcome.rows:
        row.ratio = row.median / outcome.rows[0].median
    return outcome


def _call(engine: Engine, operation: str, bodies: itertools.cycle[bytes]) -> Any:
    return lambda: engine.call_bytes(operation, next(bodies))


def _filled(stack: ExitStack, size: int) -> Engine:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    engine = Engine.open(str(folder / "growth.db"), durability="relaxed")
    plain = {k: v for k, v in TABLE.items() if k != "GlobalSecondaryIndexes"}
    plain["AttributeDefinitions"] = plain["AttributeDefinitions"][:2]
    engine.call("CreateTable", plain)
    for start in range(0, size, 25):
        puts = [
            {"PutRequest": {"Item": item(n, 300, indexed=False)}}
            for n in range(start, min(size, start + 25))
        ]
        engine.call("BatchWriteItem", {"RequestItems": {"bench": puts}})
    return engine


def _get(number: int) -> dict[str, Any]:
    return {"TableName": "bench", "Key": key(number)}


def _query(number: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "KeyConditionExpression": "PK = :p",
        "ExpressionAttributeValues": {":p": key(number)["PK"]},
        "Limit": 50,
    }


CASES = [Case("growth", "Growth", run)]
