"""Served operations beside the same ones written by hand with FastAPI and boto3 on dynoxide."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt

from bench import load, peers
from bench.harness import Budget, Case, Outcome, Row
from keyfold import create
from keyfold_engine.clients import connect
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Group, GroupMembership, User

CONNECTIONS = 16
HANGOUTS = 100
KEY = "a key that nobody but this measurement knows"
TIMES = {"startsAt": "2030-01-01T10:00:00Z", "endsAt": "2030-01-01T11:00:00Z"}
FEED = """query($group: String!) {
  groupFeed(groupId: $group, first: 20) { nodes { hangoutId title going startsAt } }
}"""
CREATE = "mutation($new: NewHangoutInput!) { createHangout(input: $new) { hangoutId title } }"


@dataclass(frozen=True)
class Server:
    """One side: where it listens, what its paths begin with, who calls."""

    port: int
    root: str
    token: str

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        content = json.dumps(body).encode() if body is not None else b""
        lines = [
            f"{method} {self.root}{path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}",
        ]
        if content:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return "\r\n".join([*lines, "", ""]).encode() + content

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{self.root}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


@dataclass(frozen=True)
class Question:
    """What both sides are asked."""

    title: str
    method: str
    path: str
    body: Any = None


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for where, ours, theirs in (
        ("in memory", ":memory:", []),
        ("on disk", str(folder / "ours.db"), ["--db-path", str(folder / "theirs.db")]),
    ):
        with ExitStack() as servers:
            keyfold = _keyfold(servers, ours)
            keyfold.ask("PUT", "/users/u", {"name": "U"})
            group = keyfold.ask("POST", "/groups", {"name": "G"})["groupId"]
            sides, missing = {"keyfold": keyfold}, []
            try:
                sides["by hand"] = _by_hand(servers, theirs, group)
            except peers.Missing as problem:
                missing.append(str(problem))
            questions = list(_questions(group))
            for side in sides.values():
                for _ in range(HANGOUTS):
                    side.ask("POST", "/hangouts", _new(group))
            for question in questions:
                yield _measure(question, where, sides, budget, missing)


def _questions(group: str) -> Iterator[Question]:
    yield Question("REST feed read", "GET", f"/groups/{group}/feed?limit=20")
    asked = {"query": FEED, "variables": {"group": group}}
    yield Question("GraphQL feed read", "POST", "/graphql", asked)
    yield Question("REST mutation", "POST", "/hangouts", _new(group))
    asked = {"query": CREATE, "variables": {"new": _new(group)}}
    yield Question("GraphQL mutation", "POST", "/graphql", asked)


def _new(group: str) -> dict[str, Any]:
    return {"title": "Run", "groupIds": [group], **TIMES}


def _measure(
    question: Question,
    where: str,
    sides: dict[str, Server],
    budget: Budget,
    missing: list[str],
) -> Outcome:
    outcome = Outcome("web", f"served {where}, {question.title}", "keyfold", missing=[*missing])
    outcome.goal = "at least 5x the handler written by hand"
    asked = (question.method, question.path, question.body)
    shapes = {name: _shape(side.ask(*asked)) for name, side in sides.items()}
    if any(shape != shapes["keyfold"] for shape in shapes.values()):
        raise RuntimeError(f"{question.title}: the answers differ: {shapes}")
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for _ in range(max(3, budget.rounds // 2)):
        for name, side in sides.items():
            request = side.request(*asked)
            rounds[name].append(
                load.drive(load.local(side.port), [request], CONNECTIONS, budget.seconds * 6)
            )
    for name, found in rounds.items():
        if any(one["failed"] for one in found):
            outcome.missing.append(f"{name} answered with errors")
        times = sorted(1e6 / one["per_second"] for one in found)
        median = statistics.median(times)
        outcome.rows.append(Row(name, median, (times[-1] - times[0]) / median))
        p99 = statistics.median(one["p99_ms"] for one in found)
        outcome.figures[f"{name}, p99"] = f"{p99:.1f} ms"
    base = outcome.time("keyfold")
    for row in outcome.rows:
        row.ratio = row.median / base
    if len(outcome.rows) > 1:
        outcome.met = outcome.time("by hand") >= 5 * base
    return outcome


def _shape(answer: Any) -> Any:
    """The names in an answer and the lengths of its lists; the values are each side's own."""
    if isinstance(answer, dict):
        return {name: _shape(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [_shape(one) for one in answer]
    return type(answer)


def _keyfold(stack: ExitStack, backend: str) -> Server:
    port = peers.free_port()
    program = Path(sys.executable).parent / "keyfold"
    command = [program, "api", "keyfold_systems.inviter.service", "--development"]
    stack.enter_context(peers.server([*command, "--backend", backend, "--port", str(port)], port))
    token = Server(port, "", "").ask("POST", "/sign-in", {"user": "u"})["token"]
    return Server(port, "/inviter", token)


def _by_hand(stack: ExitStack, options: list[str], group: str) -> Server:
    store, port = peers.free_port(), peers.free_port()
    stack.enter_context(peers.server([*peers.dynoxide(store), *options], store))
    endpoint = f"http://127.0.0.1:{store}"
    with design.open(connect(endpoint), create_tables=True) as db:
        db.create(User(user_id="u", name="U"))
        member = GroupMembership(group_id=group, user_id="u", group_name="G", user_name="U")
        db.transact(create(Group(group_id=group, name="G")), create(member))
    script = Path(__file__).parents[1] / "handwritten.py"
    stack.enter_context(peers.server([sys.executable, script, str(port), endpoint, KEY], port))
    from bench.handwritten import AUDIENCE, ISSUER

    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u", "exp": int(time.time()) + 12 * 3600}
    return Server(port, "", jwt.encode(claims, KEY, "HS256"))


CASES = [Case("web", "Served operations", run)]
