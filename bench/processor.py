"""`python -m bench.processor`: CPU time of a served request, in memory, on disk and in a file.

Answers a second need quiet cores. Processor time does not: what another process takes is not
counted, only that it empties the caches. All sides are asked in turns by wrk, over 16 connections.
`--commit` adds this server as it was at another commit of this repository.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench import load, peers
from bench.cases import wire

ROOT = Path(__file__).parents[1]
OURS = "keyfold"
TICKS = os.sysconf("SC_CLK_TCK")
Command = Callable[[int, Path], list[str | Path]]


def _in_memory(_: Path) -> list[str | Path]:
    return [":memory:"]


def _in_file(folder: Path) -> list[str | Path]:
    return [folder / "data.db", "--durability", "relaxed"]


def _on_disk(folder: Path) -> list[str | Path]:
    return [folder / "data.db"]


MODES = {"in memory": _in_memory, "on disk": _on_disk, "in a file": _in_file}


@dataclass
class Side:
    """A server that was asked: microseconds of each turn for one request, and answers a second."""

    name: str
    address: str
    pid: int
    processor: dict[str, list[float]] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)


def earlier(stack: ExitStack, commit: str) -> Path:
    """The sources of another commit."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def _commands(mode: str, source: Path | None) -> Iterator[tuple[str, Command]]:
    data = MODES[mode]

    def ours(*more: str, path: Path | None = None) -> Command:
        program: list[str | Path] = [sys.executable, "-m", "keyfold", "serve"]
        if path is not None:
            program = ["env", f"PYTHONPATH={path}", *program]
        return lambda port, folder: [
            *program, "--port", str(port), "--data", *data(folder), *more
        ]  # fmt: skip

    yield OURS, ours()
    if source is not None:
        yield "earlier", ours(path=source)
    if mode != "in memory":
        yield "two workers", ours("--workers", "2")
    others = peers.SERVERS[mode]
    for name in ("dynoxide", "dynalite"):
        if name in others:
            yield name, others[name]


def spent(pid: int) -> float:
    """Seconds of processor time of a process and its children, so far."""
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" (")
            fields = rest.rpartition(") ")[2].split()
            if int(number) == pid or int(fields[1]) == pid:
                total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def measure(side: Side, title: str, operation: str, requests: Sequence[dict[str, object]]) -> None:
    sent = load.prepared(side.address, operation, requests)
    before = spent(side.pid)
    found = load.drive(side.address, sent, wire.CONNECTIONS, 2)
    took = spent(side.pid) - before
    if not found["failed"] and found["requests"]:
        side.processor.setdefault(title, []).append(1e6 * took / found["requests"])
        side.rates.setdefault(title, []).append(found["per_second"])


def compare(mode: str, source: Path | None, rounds: int, titles: Sequence[str]) -> list[Side]:
    """All servers, each in its turn, round after round."""
    with ExitStack() as stack:
        sides = []
        for name, command in _commands(mode, source):
            port = peers.free_port()
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            try:
                pid = stack.enter_context(peers.server(command(port, folder), port))
                wire.fill(load.local(port))
            except peers.Missing as problem:
                print(f"{name}: {problem}")
                continue
            sides.append(Side(name, load.local(port), pid))
        for number in range(rounds):
            for title, operation, request in wire.OPERATIONS:
                if title in titles:
                    for side in sides if number % 2 == 0 else reversed(sides):
                        measure(side, title, operation, wire.requests_of(request))
        return sides


def report(mode: str, sides: Sequence[Side]) -> Iterator[str]:
    """A row for each operation: microseconds by server, the least of the turns and their median."""
    ours = sides[0]
    names = [side.name for side in sides]
    yield f"\n| {mode}, µs: least, median | " + " | ".join(names) + " |"
    yield "|---|" + "---|" * len(names)
    for title, own in ours.processor.items():
        cells = []
        for side in sides:
            turns = side.processor.get(title)
            if not turns:
                cells.append("no answer")
                continue
            ratio = statistics.median(turns) / statistics.median(own)
            rate = statistics.median(side.rates[title])
            cells.append(
                f"{min(turns):.1f}, {statistics.median(turns):.1f} ({ratio:.2f}x; {rate:,.0f}/s)"
            )
        yield f"| {title} | " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.processor", description=__doc__)
    parser.add_argument("--commit", help="compare with this server at a commit, too")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mode", choices=MODES, action="append")
    parser.add_argument("--only", action="append", help="operations, by the titles of the bench")
    given = parser.parse_args()
    titles = given.only or [title for title, _, _ in wire.OPERATIONS]
    with ExitStack() as stack:
        source = earlier(stack, given.commit) if given.commit else None
        for mode in given.mode or MODES:
            for line in report(mode, compare(mode, source, given.rounds, titles)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
