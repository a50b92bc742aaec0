"""The wire server beside other people's, 16 connections, items of one kilobyte, 100,000 of them.

Every server is sent the same bytes in turns, and the figure is the processor time of its processes
for one answer. With fresh keys no item is asked for twice in a turn; with repeated keys 200 items
are asked for again and again, as loops in tests do. Servers that run already take part in every
comparison by the clock: their processes are not known.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import load, peers
from bench.harness import Budget, Case, Outcome, summed_up
from bench.items import PER_PARTITION, TABLE, item, key
from keyfold_engine.clients import connect

CONNECTIONS = 16
SLOW_SECONDS = 5
"""A turn of whoever answers nothing in a usual one."""
REPEATED = 200

Request = Callable[[int, int], dict[str, Any]]
"""Makes the request for an item by its number; writes put the turn into it."""


@dataclass(frozen=True)
class Operation:
    """What is asked for, of how many items, and how much faster than the others it shall be."""

    title: str
    name: str
    request: Request
    fresh: int
    """How many requests with fresh keys a turn has at hand."""
    factor: float


@dataclass(frozen=True)
class Running:
    """A server that is up and filled."""

    address: str
    processes: tuple[int, ...] = ()
    """None for a server that ran before."""


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


def _update(number: int, turn: int) -> dict[str, Any]:
    return {
        "TableName": "bench",
        "Key": key(number),
        "UpdateExpression": "SET title = :t ADD #c :one",
        "ExpressionAttributeNames": {"#c": "count"},
        "ExpressionAttributeValues": {":t": {"S": f"new {turn}"}, ":one": {"N": "1"}},
    }


def _changed(number: int, turn: int) -> dict[str, Any]:
    """An item that is not what it was, so that nobody is spared writing it."""
    return {**item(number), "count": {"N": str(turn)}}


def _batch(number: int, turn: int) -> dict[str, Any]:
    first = number - number % 25
    puts = [{"PutRequest": {"Item": _changed(first + place, turn)}} for place in range(25)]
    return {"RequestItems": {"bench": puts}}


def _transaction(number: int, turn: int) -> dict[str, Any]:
    puts = [
        {"Put": {"TableName": "bench", "Item": _changed(number - number % 4 + place, turn)}}
        for place in range(4)
    ]
    return {"TransactItems": puts}


OPERATIONS = [
    Operation("GetItem", "GetItem", lambda n, _: {"TableName": "bench", "Key": key(n)}, 60_000, 3),
    Operation(
        "PutItem", "PutItem", lambda n, t: {"TableName": "bench", "Item": _changed(n, t)}, 30_000, 3
    ),
    Operation("UpdateItem", "UpdateItem", _update, 30_000, 3),
    Operation("Query of 50", "Query", lambda n, _: _query(n, index=False), 10_000, 5),
    Operation("Query of 50 on an index", "Query", lambda n, _: _query(n, index=True), 10_000, 5),
    Operation("batch of 25", "BatchWriteItem", _batch, 2_000, 5),
    Operation("transaction of 4", "TransactWriteItems", _transaction, 10_000, 5),
]
IN_README = {
    "server in memory, GetItem",
    "server in memory, GetItem, repeated keys",
    "server in memory, UpdateItem",
    "server in memory, UpdateItem, repeated keys",
    "server in memory, Query of 50",
    "server in memory, transaction of 4",
    "server on disk, PutItem",
}


def fresh_requests(operation: Operation, items: int, turn: int) -> Iterator[dict[str, Any]]:
    """Each item at most once."""
    for number in random.Random(turn).sample(range(items), min(items, operation.fresh)):
        yield operation.request(number, turn * items + number)


def repeated_requests(operation: Operation, items: int) -> Iterator[dict[str, Any]]:
    """Every item of 200 twice, written differently each time."""
    for turn in range(2 * REPEATED):
        yield operation.request(turn % REPEATED * 37 % items, turn)


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    load.generator()
    for mode, commands in peers.SERVERS.items():
        with ExitStack() as servers:
            running, missing = started(servers, commands, budget.items)
            missing += joined(servers, running, budget.servers, budget.items)
            for operation in OPERATIONS:
                factor = operation.factor if mode == "in memory" else 3
                title = f"server {mode}, {operation.title}"
                fresh = _measured(title, running, operation, budget, fresh=True)
                repeated = f"{title}, repeated keys"
                for outcome in (
                    fresh,
                    _measured(repeated, running, operation, budget, fresh=False),
                ):
                    outcome.missing += missing
                    outcome.in_readme = outcome.title in IN_README
                    outcome.take_goal(factor)
                    yield outcome


def started(
    stack: ExitStack, commands: dict[str, peers.Command], items: int
) -> tuple[dict[str, Running], list[str]]:
    """The servers that are up and filled, and why the others are not."""
    running: dict[str, Running] = {}
    missing: list[str] = []
    for name, command in commands.items():
        port = peers.free_port()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            process = stack.enter_context(peers.server(command(port, folder), port))
            fill(load.local(port), items)
        except Exception as problem:
            missing.append(f"{name}: {problem}")
            continue
        running[name] = Running(load.local(port), (process,))
    return running, missing


def joined(
    stack: ExitStack, running: dict[str, Running], servers: Mapping[str, str], items: int
) -> list[str]:
    """Take servers in that run already, and leave them as they were; why some are not."""
    missing = []
    for name, address in servers.items():
        try:
            fill(address, items)
        except Exception as problem:
            missing.append(f"{name}: {problem}")
            continue
        stack.callback(empty, address)
        running[name] = Running(address)
    return missing


def _measured(
    title: str, running: dict[str, Running], operation: Operation, budget: Budget, *, fresh: bool
) -> Outcome:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in running}
    for turn in range(max(3, budget.rounds // 2)):
        if fresh:
            asked = fresh_requests(operation, budget.items, turn)
        else:
            asked = repeated_requests(operation, budget.items)
        with ExitStack() as stack:
            requests = load.Load(stack, load.prepared(operation.name, asked))
            for name in list(running) if turn % 2 == 0 else list(running)[::-1]:
                found[name].append(_turn(requests, running[name], budget))
    outcome = Outcome("wire", title, "keyfold")
    times = {}
    for name, turns in found.items():
        if statistics.median(each["failed"] for each in turns):
            outcome.missing.append(f"{name} does not answer {operation.name}")
        elif not all(each["requests"] for each in turns):
            outcome.missing.append(f"{name} needs more than {SLOW_SECONDS} s for {operation.name}")
        else:
            times[name] = [
                each["processor"] if running[name].processes else 1e6 / each["per_second"]
                for each in turns
            ]
            rate, p99 = (statistics.median(t[what] for t in turns) for what in _BY_CLOCK)
            outcome.figures[f"{name}, by the clock"] = f"{rate:,.0f} a second, p99 {p99:.1f} ms"
    outcome.rows = summed_up("wire", title, times, "keyfold").rows
    return outcome


_BY_CLOCK = ("per_second", "p99_ms")


def _turn(requests: load.Load, server: Running, budget: Budget) -> dict[str, float]:
    for seconds in (budget.seconds * 4, SLOW_SECONDS):
        found = load.measured(requests, server.address, server.processes, CONNECTIONS, seconds)
        if found["requests"]:
            break
    return found


def fill(address: str, items: int) -> None:
    """Make the table and its items; a table of that name that is there already is left alone."""
    client = connect(f"http://{address}")
    try:
        client.call("CreateTable", TABLE)
        while client.call("DescribeTable", {"TableName": "bench"})["Table"]["TableStatus"] != (
            "ACTIVE"
        ):
            time.sleep(0.05)
        for start in range(0, items, 25):
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
