"""Served operations beside the same ones written by hand with FastAPI and boto3 on dynoxide."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench import load, peers
from bench.harness import Budget, Case, Outcome, Row
from keyfold import create
from keyfold.clients import connect_async
from keyfold_systems.inviter.design import Group, Hangout, Membership, User, design

CONNECTIONS = 16


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    asyncio.run(_fill(str(folder / "web.db")))
    ours = peers.free_port()
    stack.enter_context(
        peers.server(
            [
                *(
                    Path(sys.executable).parent / "keyfold",
                    "api",
                    "keyfold_systems.inviter.service",
                ),
                *("--backend", str(folder / "web.db"), "--port", str(ours), "--development"),
            ],
            ours,
        )
    )
    token = _token(ours)
    missing: list[str] = []
    theirs = None
    try:
        store = peers.free_port()
        stack.enter_context(peers.server(peers.dynoxide(store), store))
        asyncio.run(_fill(f"http://127.0.0.1:{store}"))
        theirs = peers.free_port()
        script = Path(__file__).parents[1] / "handwritten.py"
        command = [sys.executable, script, str(theirs), f"http://127.0.0.1:{store}"]
        stack.enter_context(peers.server(command, theirs))
    except peers.Missing as problem:
        missing.append(str(problem))
        theirs = None
    starts = {"startsAt": "2030-01-01T10:00:00Z", "endsAt": "2030-01-01T11:00:00Z"}
    new = {"title": "Run", "groupIds": ["g1"], **starts}
    feed = '{ groupFeed(groupId: "g1", first: 20) { nodes { hangoutId title going startsAt } } }'
    mutate = (
        'mutation { createHangout(input: {title: "Run", groupIds: ["g1"], '
        'startsAt: "2030-01-01T10:00:00Z", endsAt: "2030-01-01T11:00:00Z"}) { hangoutId } }'
    )
    for title, sides in {
        "REST feed read": {
            "keyfold": _request(ours, "GET", "/inviter/groups/g1/feed?limit=20", token),
            "by hand": _request(theirs, "GET", "/groups/g1/feed?limit=20"),
        },
        "GraphQL feed read": {
            "keyfold": _request(ours, "POST", "/inviter/graphql", token, {"query": feed}),
            "by hand": _request(theirs, "GET", "/groups/g1/feed?limit=20"),
        },
        "REST mutation": {
            "keyfold": _request(ours, "POST", "/inviter/hangouts", token, new),
            "by hand": _request(theirs, "POST", "/hangouts", body=new),
        },
        "GraphQL mutation": {
            "keyfold": _request(ours, "POST", "/inviter/graphql", token, {"query": mutate}),
            "by hand": _request(theirs, "POST", "/hangouts", body=new),
        },
    }.items():
        yield _measure(title, sides, {"keyfold": ours, "by hand": theirs}, budget, missing)


def _measure(
    title: str,
    sides: dict[str, bytes | None],
    ports: dict[str, int | None],
    budget: Budget,
    missing: list[str],
) -> Outcome:
    outcome = Outcome("web", f"served, {title}", "keyfold", missing=missing)
    outcome.goal = "at least 5x the handler written by hand"
    for name, request in sides.items():
        port = ports[name]
        if port is None or request is None:
            continue
        rounds = [
            load.drive(port, [request], CONNECTIONS, budget.seconds * 6)
            for _ in range(max(3, budget.rounds // 2))
        ]
        if any(found["failed"] for found in rounds):
            outcome.missing = [*outcome.missing, f"{name} answered with errors"]
        times = sorted(1e6 / found["per_second"] for found in rounds)
        median = statistics.median(times)
        outcome.rows.append(Row(name, median, (times[-1] - times[0]) / median))
        p99 = statistics.median(found["p99_ms"] for found in rounds)
        outcome.figures[f"{name}, p99"] = f"{p99:.1f} ms"
    base = outcome.rows[0].median
    for row in outcome.rows:
        row.ratio = row.median / base
    if len(outcome.rows) > 1:
        outcome.met = outcome.rows[1].median >= 5 * base
    return outcome


def _request(
    port: int | None, method: str, path: str, token: str = "", body: Any = None
) -> bytes | None:
    if port is None:
        return None
    content = json.dumps(body).encode() if body is not None else b""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


def _token(port: int) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/sign-in",
        json.dumps({"user": "u"}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        token: str = json.load(answer)["token"]
        return token


async def _fill(backend: str) -> None:
    client = connect_async(backend)
    async with await design.open_async(client, create_tables=True) as db:
        user, group = User(user_id="u", name="U"), Group(group_id="g1", name="G", owner_id="u")
        member = Membership(group_id="g1", user_id="u", group_name="G", user_name="U")
        await db.create(user)
        await db.transact(create(group), create(member))
        now = db.context.now()
        for number in range(100):
            await db.create(
                Hangout(
                    hangout_id=f"h{number:03d}",
                    host_id="u",
                    title="Run",
                    starts_at=now,
                    ends_at=now + timedelta(hours=1),
                    group_ids={"g1"},
                )
            )


CASES = [Case("web", "Served operations", run)]
