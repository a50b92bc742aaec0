"""The wire server beside other people's, 16 connections, items of one kilobyte.

Every server is asked by the same program and may use every core. Servers that run already take part
in every comparison: what their answer to a write promises is not known.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench import load, peers
from bench.harness import Budget, Case, Outcome, Row
from bench.items import PER_PARTITION, TABLE, item, key
from keyfold_engine.clients import connect

ITEMS = 1000
CONNECTIONS = 16
SLOW_SECONDS = 5
"""A turn of whoever answers nothing in a usual one."""


def _query(number: int, index: bool) -> dict[str, Any]:
    group = number // PER_PARTITION
    value = f"BY#{group:08d}" if index else f"GROUP#{group:08d}"
    name = "GSI1PK" if index else "PK"
    request: dict[str, Any] = {
        "TableName": "bench",
        "KeyConditionExpression": f"{name} = :p",
        "ExpressionAttributeValues": {":p": {"S": value}},
        "Limit": 50,
    }
    return {**request, "IndexName": "GSI1"} if index else request


def _update(number: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "Key": key(number),
        "UpdateExpression": "SET title = :t ADD #c :one",
        "ExpressionAttributeNames": {"#c": "count"},
        "ExpressionAttributeValues": {":t": {"S": "new"}, ":one": {"N": "1"}},
    }


Request = Callable[[int, int], dict[str, Any]]
"""Makes the request for an item by its number; writes put the turn into it."""


def _changed(number: int, turn: int) -> dict[str, Any]:
    """An item that is not what it was, so that nobody is spared writing it."""
    return {**item(number % ITEMS), "count": {"N": str(turn)}}


def _batch(number: int, turn: int) -> dict[str, Any]:
    puts = [{"PutRequest": {"Item": _changed(number + place, turn)}} for place in range(25)]
    return {"RequestItems": {"bench": puts}}


def _transaction(number: int, turn: int) -> dict[str, Any]:
    puts = [
        {"Put": {"TableName": "bench", "Item": _changed(number * 4 + place, turn)}}
        for place in range(4)
    ]
    return {"TransactItems": puts}


OPERATIONS: list[tuple[str, str, Request]] = [
    ("GetItem", "GetItem", lambda n, _: {"TableName": "bench", "Key": key(n)}),
    ("PutItem", "PutItem", lambda n, turn: {"TableName": "bench", "Item": _changed(n, turn)}),
    ("UpdateItem", "UpdateItem", lambda n, _: _update(n)),
    ("Query of 50", "Query", lambda n, _: _query(n, index=False)),
    ("Query of 50 on an index", "Query", lambda n, _: _query(n, index=True)),
    ("batch of 25", "BatchWriteItem", _batch),
    ("transaction of 4", "TransactWriteItems", _transaction),
]


def requests_of(request: Request) -> list[dict[str, Any]]:
    """Every item of 200 comes twice, with another turn."""
    return [request(turn % 200 * 37 % ITEMS, turn) for turn in range(400)]


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    load.generator()
    for mode, commands in peers.SERVERS.items():
        with ExitStack() as servers:
            addresses, missing = started(servers, commands)
            missing += joined(servers, addresses, budget.servers)
            for title, operation, request in OPERATIONS:
                outcome = Outcome(
                    "wire",
                    f"server {mode}, {title}",
                    "keyfold",
                    goal="at least 3x the best other",
                    missing=[*missing],
                )
                _measure(outcome, addresses, operation, requests_of(request), budget)
                yield outcome


def started(
    stack: ExitStack, commands: dict[str, peers.Command]
) -> tuple[dict[str, str], list[str]]:
    """The addresses of the servers that are up and filled, and why the others are not."""
    addresses: dict[str, str] = {}
    missing: list[str] = []
    for name, command in commands.items():
        port = peers.free_port()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            stack.enter_context(peers.server(command(port, folder), port))
            fill(load.local(port))
        except Exception as problem:
            missing.append(f"{name}: {problem}")
            continue
        addresses[name] = load.local(port)
    return addresses, missing


def joined(stack: ExitStack, addresses: dict[str, str], servers: Mapping[str, str]) -> list[str]:
    """Take servers in that run already, and leave them as they were; why some are not."""
    missing = []
    for name, address in servers.items():
        try:
            fill(address)
        except Exception as problem:
            missing.append(f"{name}: {problem}")
            continue
        stack.callback(empty, address)
        addresses[name] = address
    return missing


def _measure(
    outcome: Outcome,
    addresses: dict[str, str],
    operation: str,
    requests: list[dict[str, Any]],
    budget: Budget,
) -> None:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in addresses}
    for number in range(max(3, budget.rounds // 2)):
        order = list(addresses) if number % 2 == 0 else list(addresses)[::-1]
        for name in order:
            sent = load.prepared(addresses[name], operation, requests)
            turn = load.drive(addresses[name], sent, CONNECTIONS, budget.seconds * 4)
            if not turn["per_second"]:
                turn = load.drive(addresses[name], sent, CONNECTIONS, SLOW_SECONDS)
            found[name].append(turn)
    for name, rounds in found.items():
        if statistics.median(r["failed"] for r in rounds):
            outcome.missing.append(f"{name} does not answer {operation}")
            continue
        if not all(r["per_second"] for r in rounds):
            outcome.missing.append(f"{name} needs more than {SLOW_SECONDS} s for {operation}")
            continue
        rates = sorted(1e6 / r["per_second"] for r in rounds)
        median = statistics.median(rates)
        outcome.rows.append(Row(name, median, (rates[-1] - rates[0]) / median))
        p99 = statistics.median(r["p99_ms"] for r in rounds)
        outcome.figures[f"{name}, p99"] = f"{p99:.1f} ms"
    # Ours is the number of workers that suits the case: SQLite has one writer at a time.
    outcome.rows.sort(key=lambda row: row.median)
    ours = next((row for row in outcome.rows if row.side.startswith("keyfold")), None)
    if ours is None:
        return
    outcome.reference = ours.side
    for row in outcome.rows:
        row.ratio = row.median / ours.median
    others = [row.median for row in outcome.rows if not row.side.startswith("keyfold")]
    if others:
        outcome.met = min(others) >= 3 * ours.median


def fill(address: str) -> None:
    """Make the table and its items; a table of that name that is there already is left alone."""
    client = connect(f"http://{address}")
    try:
        client.call("CreateTable", TABLE)
        for start in range(0, ITEMS, 25):
            puts = [{"PutRequest": {"Item": item(n)}} for n in range(start, start + 25)]
            client.call("BatchWriteItem", {"RequestItems": {"bench": puts}})
    finally:
        client.close()


def empty(address: str) -> None:
    """Take the table away again."""
    client = connect(f"http://{address}")
    try:
        client.call("DeleteTable", {"TableName": "bench"})
    finally:
        client.close()


CASES = [Case("wire", "The wire server beside others", run)]
