"""Cold starts: imports, the first query of a program, the first answer of a server; idle memory.

Everybody is measured as pip installs it, in an environment of its own, from bytecode. The figure is
the processor time of the whole process, the interpreter's own start included.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench import load, peers
from bench.harness import Budget, Case, Outcome, Side, compare, summed_up
from bench.items import TABLE
from bench.processor import of_command, spent
from keyfold_engine.clients import connect

IMPORTS = {
    "keyfold": "from keyfold import Design, Entity",
    "pynamodb": "from pynamodb.models import Model",
    "pydynox": "from pydynox import Model",
    "boto3": "import boto3",
}
# A query for the same item of the same table on the same server.
FIRST_QUERIES = {
    "keyfold": """
import sys
from keyfold import Design, Entity, Key
design = Design("bench")
table = design.table("bench")
class Note(Entity, table=table):
    note_id: str
    key = Key("NOTE#{note_id}", "NOTE")
db = design.open(sys.argv[1])
db.read(Note.key.query(note_id="n"))
""",
    "pynamodb": """
import sys
from pynamodb.attributes import UnicodeAttribute
from pynamodb.models import Model
class Note(Model):
    class Meta:
        table_name, region, host = "bench", "us-east-1", sys.argv[1]
    PK = UnicodeAttribute(hash_key=True)
    SK = UnicodeAttribute(range_key=True)
list(Note.query("NOTE#n", Note.SK == "NOTE"))
""",
    "pydynox": """
import sys
from pydynox import DynamoDBClient, Model, ModelConfig
from pydynox.attributes import StringAttribute
client = DynamoDBClient(region="us-east-1", endpoint_url=sys.argv[1])
class Note(Model):
    model_config = ModelConfig(table="bench", client=client)
    PK = StringAttribute(partition_key=True)
    SK = StringAttribute(sort_key=True)
list(Note.sync_query(partition_key="NOTE#n", sort_key_condition=Note.SK == "NOTE"))
""",
    "boto3": """
import sys, boto3
from boto3.dynamodb.conditions import Key
table = boto3.resource("dynamodb", endpoint_url=sys.argv[1]).Table("bench")
table.query(KeyConditionExpression=Key("PK").eq("NOTE#n") & Key("SK").eq("NOTE"))
""",
}
EMBEDDED = """
from keyfold import Design, Entity, Key
design = Design("bench")
table = design.table("bench")
class Note(Entity, table=table):
    note_id: str
    key = Key("NOTE#{note_id}", "NOTE")
db = design.open(":memory:")
db.read(Note.key.query(note_id="n"))
"""


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    environment = {**os.environ, **peers.CREDENTIALS}
    # Everyone starts from bytecode, as after an installation by pip.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    interpreters, missing = _interpreters(stack)

    def side(name: str, program: str, *arguments: str) -> Side:
        command: list[str | Path] = [interpreters[name], "-c", program, *arguments]
        once = partial(of_command, command, environment)
        return Side(name, once, elsewhere=lambda count: sum(once() for _ in range(count)))

    def sides(programs: Mapping[str, str], *arguments: str) -> list[Side]:
        return [side(name, programs[name], *arguments) for name in interpreters]

    imports = compare(
        "startup", "import", sides(IMPORTS), budget, reference="keyfold", missing=missing
    )
    bare = compare("startup", "", [side("keyfold", "pass")], budget, reference="keyfold")
    imports.figures["a bare interpreter"] = f"{bare.time('keyfold') / 1000:.0f} ms"
    imports.in_readme = True
    yield imports

    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    url = f"http://127.0.0.1:{port}"
    client = connect(url)
    stack.callback(client.close)
    client.call("CreateTable", TABLE)
    title = "cold start to the first query, over HTTP"
    queries = sides(FIRST_QUERIES, url)
    first = compare("startup", title, queries, budget, reference="keyfold", missing=missing)
    alone = compare("startup", "", [side("keyfold", EMBEDDED)], budget, reference="keyfold")
    first.figures["keyfold, embedded"] = f"{alone.time('keyfold') / 1000:.0f} ms"
    _beside_pynamodb(first, first.time("keyfold"), alone.time("keyfold"))
    first.in_readme = True
    yield first
    yield _servers(budget)


def _beside_pynamodb(first: Outcome, *ours: float) -> None:
    first.goal = "at most 1.25x PynamoDB, embedded too"
    theirs = [row.median for row in first.rows if row.side == "pynamodb"]
    if theirs:
        first.met = max(ours) <= 1.25 * theirs[0]


def _interpreters(stack: ExitStack) -> tuple[dict[str, Path], list[str]]:
    """The Python of each side, and why some have none."""
    found, missing = {"keyfold": peers.installed(stack)}, []
    for name in IMPORTS:
        if name != "keyfold":
            try:
                found[name] = peers.python(name)
            except peers.Missing as problem:
                missing.append(str(problem))
    return found, missing


def _servers(budget: Budget) -> Outcome:
    times: dict[str, list[float]] = {}
    memory: dict[str, int] = {}
    missing: dict[str, str] = {}
    for _ in range(budget.rounds):
        for name, command in peers.SERVERS["in memory"].items():
            try:
                seconds, memory[name] = _started(command)
            except peers.Missing as problem:
                missing[name] = str(problem)
                continue
            times.setdefault(name, []).append(1e6 * seconds)
    outcome = summed_up("startup", "server, start to the first answer", times, "keyfold")
    outcome.missing = [f"{name}: {reason}" for name, reason in missing.items()]
    outcome.goal, outcome.met = "under 100 ms", outcome.time("keyfold") < 100_000
    for name, size in memory.items():
        outcome.figures[f"{name}, idle memory"] = f"{size / 1e6:.0f} MB"
    return outcome


def _started(command: Callable[[int, Path], peers.Words]) -> tuple[float, int]:
    """Seconds of processor time to the first answer, and bytes of memory when nobody asks."""
    port = peers.free_port()
    with (
        tempfile.TemporaryDirectory() as folder,
        peers.server(command(port, Path(folder)), port) as process,
    ):
        client = connect(f"http://{load.local(port)}")
        client.call("ListTables", {})
        client.close()
        taken = spent([process])
        time.sleep(0.5)
        return taken, _resident(process)


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


CASES = [Case("startup", "Cold starts and memory", run)]
