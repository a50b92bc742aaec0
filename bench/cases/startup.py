"""Start-up, import time, idle memory, package size."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import keyfold
from bench import peers
from bench.harness import Budget, Case, Outcome, Side, compare


def _import(module: str) -> object:
    return subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    package = Path(keyfold.__file__).parent
    # Everyone starts from bytecode, as after an installation by pip.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(package, quiet=1)
    yield compare(
        "startup",
        "import",
        [
            Side("keyfold", lambda: _import("keyfold")),
            Side("pydantic", lambda: _import("pydantic, pydantic.main")),
            Side("boto3", lambda: _import("boto3")),
            Side("nothing", lambda: _import("sys")),
        ],
        budget,
        reference="nothing",
    )
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    memory: dict[str, str] = {}
    times = []
    for name, command in peers.SERVERS["in memory"].items():
        port = peers.free_port()
        started = time.perf_counter()
        try:
            with peers.server(command(port, folder), port) as process:
                waited = time.perf_counter() - started
                time.sleep(0.5)
                memory[f"{name}, idle memory"] = f"{_resident(process) / 1e6:.0f} MB"
        except peers.Missing as problem:
            memory[f"{name}, missing"] = str(problem)
            continue
        times.append(f"{name} {waited * 1e3:.0f} ms")
    outcome = Outcome("startup", "server, start to first connection and idle memory", "keyfold")
    outcome.figures = {"start to first connection": ", ".join(times), **memory}
    size = sum(file.stat().st_size for file in package.rglob("*.py"))
    outcome.figures["package, source"] = f"{size / 1e6:.1f} MB"
    yield outcome


def _resident(process: int) -> int:
    """Bytes of a process and its children."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except (OSError, ValueError):
            continue
        own = int(status.parent.name) == process or int(lines["PPid"]) == process
        if own and "VmRSS" in lines:
            total += int(lines["VmRSS"].split()[0]) * 1024
    return total


CASES = [Case("startup", "Start-up and memory", run)]
