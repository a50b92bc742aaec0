"""Two goals under hostile clients: a GetItem within 50 ms, and memory that comes back.

Each storm rages while GetItems are begun every hundredth of a second over another connection. Then
the server has been through all of them, and through clients that never end their bodies or their
trailers, or never take their answers.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson

from bench import peers, storms
from bench.harness import Budget, Case, Outcome, Row
from keyfold_engine.limits import MB

GOAL_SECONDS = 0.05
GOAL_MEMORY = 1.2
DROPPED_ITEMS = 30_000
DROPPED_ITEMS_FULL = 300_000


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    seconds = 10.0 if budget.full else max(1.0, budget.seconds * 20)
    dropped = storms.dropped(DROPPED_ITEMS_FULL if budget.full else DROPPED_ITEMS)
    for mode, data in (("in memory", ":memory:"), ("in a file", folder / "trust.db")):
        port = peers.free_port()
        pid = stack.enter_context(peers.server(peers.keyfold(port, data), port))
        storms.prepare(port)
        quiet = storms.probe(port, seconds)
        for storm in storms.STORMS:
            storms.send_once(port, storm)
        time.sleep(8)
        before = storms.resident(pid)
        outcome = Outcome("trust", f"GetItem {mode} under storms, p99", "quiet")
        outcome.goal = f"at most {GOAL_SECONDS * 1e3:.0f} ms"
        _add(outcome, "quiet", quiet)
        for storm in (*storms.STORMS, dropped):
            storm.prepare(storms.Client(port))
            with storms.raging(port, storm):
                _add(outcome, storm.name, storms.probe(port, seconds))
            time.sleep(1)
        if data != ":memory:":
            _add(outcome, "another process writes", _while_locked(port, Path(data), seconds))
        outcome.met = all(row.median <= GOAL_SECONDS * 1e6 for row in outcome.rows)
        yield outcome
        yield _memory(port, pid, before, mode)


def _add(outcome: Outcome, name: str, seconds: list[float]) -> None:
    base = outcome.rows[0].median if outcome.rows else storms.p99(seconds) * 1e6
    p99 = storms.p99(seconds) * 1e6
    outcome.rows.append(Row(name, p99, 0.0, p99 / base))
    outcome.figures[f"{name}, slowest"] = f"{max(seconds) * 1e3:.0f} ms"


def _while_locked(port: int, file: Path, seconds: float) -> list[float]:
    put = orjson.dumps({"TableName": storms.TABLE, "Item": storms.PROBE["Key"]})
    client = storms.Client(port)
    with storms.locked(file):
        waiting = threading.Thread(target=client.send, args=("PutItem", put), daemon=True)
        waiting.start()
        found = storms.probe(port, seconds)
    waiting.join()
    return found


def _memory(port: int, pid: int, before: int, mode: str) -> Outcome:
    for hold in storms.HOLDS.values():
        for connection in hold(port):
            connection.close()
    time.sleep(5)
    after = storms.resident(pid)
    outcome = Outcome("trust", f"memory of a server {mode}, storms before and after", "before")
    outcome.goal = f"at most {GOAL_MEMORY:g}x"
    outcome.rows = [
        Row("before", before / MB, 0.0, 1.0),
        Row("after", after / MB, 0.0, after / before),
    ]
    outcome.figures = {"unit": "the times are megabytes"}
    outcome.met = after <= GOAL_MEMORY * before
    return outcome


CASES = [Case("trust", "a server under hostile clients", run)]
