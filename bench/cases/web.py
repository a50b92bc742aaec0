"""Served operations beside the same ones written by hand with FastAPI and boto3.

In memory and on disk, the ones by hand stand on dynoxide, as people would have it; on one server,
both sides ask their own `keyfold serve`. The figure is the processor time of all processes of a
side, servers included.
"""

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
from bench.harness import Budget, Case, Outcome, summed_up
from keyfold import create
from keyfold_engine.clients import connect
from keyfold_systems.inviter.design import design
from keyfold_systems.inviter.entities import Group, GroupMembership, User

CONNECTIONS = 16
HANGOUTS = 100
KEY = "a key that nobody but this measurement knows"
TIMES = {"startTimestamp": "2030-01-01T10:00:00Z", "endTimestamp": "2030-01-01T11:00:00Z"}
FEED = """query($group: String!) {
  groupFeed(groupId: $group, first: 20) { nodes { hangoutId title going startTimestamp } }
}"""
CREATE = "mutation($new: NewHangoutInput!) { createHangout(input: $new) { hangoutId title } }"


@dataclass(frozen=True)
class Server:
    """One side: where it listens, what its paths begin with, who calls, what it consists of."""

    port: int
    root: str
    token: str
    processes: tuple[int, ...] = ()

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


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    for where in ("in memory", "on disk", "on one server"):
        with ExitStack() as servers:
            folder = Path(servers.enter_context(tempfile.TemporaryDirectory()))
            keyfold = _keyfold(servers, where, folder)
            keyfold.ask("PUT", "/users/u", {"name": "U"})
            group = keyfold.ask("POST", "/groups", {"name": "G"})["groupId"]
            sides, missing = {"keyfold": keyfold}, []
            try:
                sides["by hand"] = _by_hand(servers, where, folder, group)
            except peers.Missing as problem:
                missing.append(str(problem))
            questions = list(_questions(group))
            for side in sides.values():
                for _number in range(HANGOUTS):
                    side.ask("POST", "/hangouts", _new(group))
            for question in questions:
                outcome = _measure(question, where, sides, budget)
                outcome.missing += missing
                outcome.in_readme = (where, question.title) == ("in memory", "REST mutation")
                yield outcome


def _questions(group: str) -> Iterator[Question]:
    yield Question("REST feed read", "GET", f"/groups/{group}/feed?limit=20")
    asked = {"query": FEED, "variables": {"group": group}}
    yield Question("GraphQL feed read", "POST", "/graphql", asked)
    yield Question("REST mutation", "POST", "/hangouts", _new(group))
    asked = {"query": CREATE, "variables": {"new": _new(group)}}
    yield Question("GraphQL mutation", "POST", "/graphql", asked)


def _new(group: str) -> dict[str, Any]:
    return {"title": "Run", "associatedGroups": [group], **TIMES}


def _measure(question: Question, where: str, sides: dict[str, Server], budget: Budget) -> Outcome:
    asked = (question.method, question.path, question.body)
    shapes = {name: _shape(side.ask(*asked)) for name, side in sides.items()}
    if any(shape != shapes["keyfold"] for shape in shapes.values()):
        raise RuntimeError(f"{question.title}: the answers differ: {shapes}")
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for _ in range(max(3, budget.rounds // 2)):
        for name, side in sides.items():
            with ExitStack() as stack:
                sent = load.Load(stack, [side.request(*asked)])
                address, processes = load.local(side.port), side.processes
                turns[name].append(
                    load.measured(sent, address, processes, CONNECTIONS, budget.seconds * 6)
                )
    times = {name: [turn["processor"] for turn in found] for name, found in turns.items()}
    outcome = summed_up("web", f"served {where}, {question.title}", times, "keyfold")
    outcome.take_goal(5)
    for name, found in turns.items():
        if any(turn["failed"] for turn in found):
            outcome.missing.append(f"{name} answered with errors")
        p99 = statistics.median(turn["p99_ms"] for turn in found)
        outcome.figures[f"{name}, p99"] = f"{p99:.1f} ms"
    return outcome


def _shape(answer: Any) -> Any:
    """The names in an answer and the lengths of its lists; the values are each side's own."""
    if isinstance(answer, dict):
        return {name: _shape(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [_shape(one) for one in answer]
    return type(answer)


def _keyfold(stack: ExitStack, where: str, folder: Path) -> Server:
    backend = ":memory:"
    processes: tuple[int, ...] = ()
    if where == "on disk":
        backend = str(folder / "ours.db")
    elif where == "on one server":
        backend, processes = _backend(stack)
    port = peers.free_port()
    program = Path(sys.executable).parent / "keyfold"
    command: list[str | Path] = [program, "api", "keyfold_systems.inviter.service", "--development"]
    command += ["--backend", backend, "--port", str(port)]
    process = stack.enter_context(peers.server(command, port))
    token = Server(port, "", "").ask("POST", "/sign-in", {"user": "u"})["token"]
    return Server(port, "/inviter", token, (process, *processes))


def _by_hand(stack: ExitStack, where: str, folder: Path, group: str) -> Server:
    if where == "on one server":
        endpoint, processes = _backend(stack)
    else:
        store = peers.free_port()
        data = folder / "theirs.db" if where == "on disk" else None
        processes = (stack.enter_context(peers.server(peers.dynoxide(store, data), store)),)
        endpoint = f"http://127.0.0.1:{store}"
    with design.open(connect(endpoint), create_tables=True) as db:
        db.create(User(user_id="u", name="U"))
        member = GroupMembership(group_id=group, user_id="u", group_name="G", user_name="U")
        db.transact(create(Group(group_id=group, name="G")), create(member))
    port = peers.free_port()
    script = Path(__file__).parents[1] / "handwritten.py"
    command: list[str | Path] = [sys.executable, script, str(port), endpoint, KEY]
    process = stack.enter_context(peers.server(command, port))
    from bench.handwritten import AUDIENCE, ISSUER

    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u", "exp": int(time.time()) + 12 * 3600}
    return Server(port, "", jwt.encode(claims, KEY, "HS256"), (process, *processes))


def _backend(stack: ExitStack) -> tuple[str, tuple[int, ...]]:
    port = peers.free_port()
    process = stack.enter_context(peers.server(peers.keyfold(port), port))
    return f"http://127.0.0.1:{port}", (process,)


CASES = [Case("web", "Served operations", run)]
