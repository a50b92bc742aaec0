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
from bench.harness import Budget, Case, Outcome, Side, compare, summed_up

ONE_WORKER = "keyfold, one worker"


FIRST_QUERY = """
from keyfold import Design, Entity, Key
design = Design("small")
table = design.table("notes")
class Note(Entity, table=table):
    note_id: str
    key = Key("NOTE#{note_id}", "NOTE")
db = design.open(":memory:")
db.create(Note(note_id="n"))
db.read(Note.key.query(note_id="n"))
"""


def _python(program: str) -> object:
    return subprocess.run([sys.executable, "-c", program], check=True)


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    package = Path(keyfold.__file__).parent
    # Everyone starts from bytecode, as after an installation by pip.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(package, quiet=1)
    yield compare(
        "startup",
        "import",
        [
            Side("keyfold", lambda: _python("from keyfold import Design, Entity")),
            Side("keyfold, to a first query", lambda: _python(FIRST_QUERY)),
            Side("pydantic", lambda: _python("import pydantic, pydantic.main")),
            Side("boto3", lambda: _python("import boto3")),
            Side("a bare interpreter", lambda: _python("import sys")),
        ],
        budget,
        reference="a bare interpreter",
    )
    started: dict[str, list[float]] = {}
    memory: dict[str, int] = {}
    missing: dict[str, str] = {}
    for _ in range(budget.rounds):
        for name, command in peers.SERVERS["in memory"].items():
            try:
                seconds, memory[name] = _started(command)
            except peers.Missing as problem:
                missing[name] = str(problem)
                continue
            started.setdefault(name, []).append(1e6 * seconds)
    outcome = summed_up("startup", "server, start to first connection", started, ONE_WORKER)
    outcome.missing = [f"{name}: {reason}" for name, reason in missing.items()]
    outcome.figures = {
        f"{name}, idle memory": f"{bytes / 1e6:.0f} MB" for name, bytes in memory.items()
    }
    outcome.figures["package, the built wheel"] = _wheel()
    yield outcome


def _started(command: peers.Command) -> tuple[float, int]:
    """Seconds to the first connection, and bytes of memory when nobody asks anything."""
    port = peers.free_port()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with peers.server(command(port, Path(folder)), port) as process:
            waited = time.perf_counter() - began
            time.sleep(0.5)
            return waited, _resident(process)


def _wheel() -> str:
    """The size of what pip downloads, without dependencies."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [*build, folder], cwd=Path(__file__).parents[2], check=True, capture_output=True
        )
        (built,) = Path(folder).glob("*.whl")
        return f"{built.stat().st_size / 1e6:.2f} MB"


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
