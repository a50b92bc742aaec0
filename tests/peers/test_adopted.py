"""Tables of other libraries, adopted by the guide's commands: keyfold works beside their
applications, on the same items at the same time, and migrates them."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from tests.peers.conftest import CREDENTIALS, keyfold_server

from keyfold import Db, add
from keyfold.cli import main
from keyfold.maintain.repair import repair
from keyfold.maintain.verify import verify

ROUNDS = 5
PAUSE = 0.1
"""Between two writes of the old application: a migration must be able to catch up."""
TASKS = Path(__file__).parent / "node" / "tasks.cjs"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with keyfold_server(tmp_path_factory.mktemp("adopted")) as address:
        yield address


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, credentials: None) -> Iterator[Path]:
    """A folder of its own, whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def keyfold(*arguments: str) -> None:
    assert main(list(arguments)) == 0, arguments


def fresh(name: str) -> ModuleType:
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def migrate(
    module: str, backend: str, *changes: tuple[str, str], to: str = "contract"
) -> ModuleType:
    """A first migration: the table gets an index, and the entity a place in it."""
    path = Path(f"{module}.py")
    name = module.partition("_")[0]
    keyfold("migrations", "snapshot", "--design", f"{module}:design")
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, text
        text = text.replace(old, f"{old}{new}")
    path.write_text(text)
    fresh(module)
    keyfold("migrations", "diff", "--design", f"{module}:design", "--backend", backend)
    keyfold("migrations", "plan", name, "--design", f"{module}:design", "--backend", backend)
    fresh(module)
    apply(f"0001_{name}", backend, to)
    return fresh(module)


def apply(migration: str, backend: str, to: str) -> None:
    keyfold("migrations", "apply", migration, "--to", to, *beside(backend))


def beside(backend: str) -> tuple[str, ...]:
    """How a migration is applied while a program that does not know it goes on."""
    return "--backend", backend, "--without-routers", "--settle", "0.1"


def wait_for(holds: Callable[[], bool]) -> None:
    while not holds():
        threading.Event().wait(0.01)


@pytest.fixture
def node(node_modules: Path, url: str) -> Callable[..., subprocess.Popen[str]]:
    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["node", TASKS, url, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **CREDENTIALS, "NODE_PATH": str(node_modules)},
        )

    return start


def output(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    return out


def test_a_table_of_electrodb_is_adopted_and_used_beside_it(
    here: Path,
    url: str,
    node: Callable[..., subprocess.Popen[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    output(node("seed"))
    (here / "models.json").write_text(output(node("model")))
    keyfold("import", url, "models.json", "--name", "tasks", "-o", "tasks.yaml")
    keyfold("check", "tasks.yaml", "--fail-on", "error")
    keyfold("new", "tasks.yaml", "--output", "tasks_design.py")
    capsys.readouterr()
    keyfold("adopt", "tasks_design:design", "--backend", url, "--at-least", "100")
    told = capsys.readouterr().out
    assert "tasks-live: 100 % of 45 items are described and can be read." in told
    assert "A put would change nothing." in told

    tasks = fresh("tasks_design")
    with tasks.design.open(url, create_tables=False) as db:
        theirs = node("work", str(ROUNDS))
        _work(db, tasks)
        output(theirs)
        ours = {task.task_id: task for task in db.scan(tasks.Task)}
    shown = json.loads(output(node("read")))
    assert {task["taskId"]: task["points"] for task in shown["tasks"]} == {
        **{f"T{n}": 2 * ROUNDS for n in range(40)},
        **{f"Node{n}": 1 for n in range(ROUNDS)},
        **{f"Fold{n}": 1 for n in range(ROUNDS)},
    }
    assert {name: task.points for name, task in ours.items()} == {
        task["taskId"]: task["points"] for task in shown["tasks"]
    }
    by_id = {task["taskId"]: task for task in shown["tasks"]}
    assert by_id["T1"]["note"] == f"seen {ROUNDS - 1}"
    assert by_id["T1"]["tags"] == ["n1", "new"]
    assert {"Fold0", "Node0", "T0"} <= set(shown["mine"])
    capsys.readouterr()
    keyfold("adopt", "tasks_design:design", "--backend", url, "--at-least", "100")
    assert "A put would change nothing." in capsys.readouterr().out

    key = (
        '    key = Key("$taskapp#taskid_{task_id:lowercase}", '
        '"$task_1#project_{project:lowercase}")\n'
    )
    tasks = migrate(
        "tasks_design",
        url,
        (
            '        Index("gsi1", "gsi1pk", "gsi1sk"),\n',
            '        Index("ByStatus", "status", "taskId"),\n',
        ),
        (key, '    by_status = On("ByStatus", "{status}", "{task_id}")\n'),
    )
    with tasks.design.open(url, create_tables=False) as db:
        opened = list(db.iterate(tasks.Task.by_status.query(status="Open")))
    assert len(opened) == 20 + 2 * ROUNDS
    assert len(json.loads(output(node("read")))["tasks"]) == 40 + 2 * ROUNDS


def _work(db: Db, tasks: ModuleType) -> None:
    for round_ in range(ROUNDS):
        for n in range(40):
            ref = tasks.Task.key(task_id=f"T{n}", project="Alpha One" if n % 3 else "beta")
            db.update(ref, points=add(1), note=f"seen {round_}")
        db.create(
            tasks.Task(
                task_id=f"Fold{round_}",
                project="Gamma",
                employee_id="Emp-0",
                status="Open",
                points=1,
            )
        )


PYNAMODB = """\
from pynamodb.attributes import (
    NumberAttribute, UnicodeAttribute, UnicodeSetAttribute, UTCDateTimeAttribute,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model


class ByViews(GlobalSecondaryIndex):
    class Meta:
        index_name = "by-views"
        projection = AllProjection()

    forum_name = UnicodeAttribute(hash_key=True)
    views = NumberAttribute(range_key=True)


class Thread(Model):
    class Meta:
        table_name = "threads-live"
        host = "{url}"
        region = "us-east-1"
        billing_mode = "PAY_PER_REQUEST"

    forum_name = UnicodeAttribute(hash_key=True)
    subject = UnicodeAttribute(range_key=True)
    views = NumberAttribute()
    last_post = UTCDateTimeAttribute()
    tags = UnicodeSetAttribute(null=True)
    note = UnicodeAttribute(null=True)
    by_views = ByViews()
"""


def test_a_table_of_pynamodb_is_adopted_and_used_beside_it(
    here: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from datetime import UTC, datetime

    (here / "their_forum.py").write_text(PYNAMODB.replace("{url}", url))
    their: Any = fresh("their_forum").Thread
    their.create_table(wait=True)
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    with their.batch_write() as batch:
        for n in range(40):
            tags = {"x", f"n{n}"} if n % 2 else None
            batch.save(their(f"f{n % 4}", f"s{n}", views=0, last_post=moment, tags=tags))
    keyfold("import", "their_forum", "-o", "threads.yaml")
    keyfold("check", "threads.yaml", "--fail-on", "error")
    keyfold("new", "threads.yaml", "--output", "threads_design.py")
    capsys.readouterr()
    keyfold("adopt", "threads.yaml", "--backend", url, "--at-least", "100")
    told = capsys.readouterr().out
    assert "threads-live: 100 % of 40 items are described and can be read." in told
    assert "A put would change nothing." in told

    threads = fresh("threads_design")

    def their_work() -> None:
        for round_ in range(ROUNDS):
            for n in range(40):
                their(f"f{n % 4}", f"s{n}").update(actions=[their.views.add(1)])
            their("pynamo", f"p{round_}", views=1, last_post=moment).save()

    with threads.design.open(url, create_tables=False) as db:
        beside = threading.Thread(target=their_work)
        beside.start()
        for round_ in range(ROUNDS):
            for n in range(40):
                ref = threads.Thread.key(forum_name=f"f{n % 4}", subject=f"s{n}")
                db.update(ref, views=add(1), note=f"seen {round_}")
            db.create(
                threads.Thread(forum_name="fold", subject=f"k{round_}", views=1, last_post=moment)
            )
        beside.join(60)
        ours = {(one.forum_name, one.subject): one for one in db.scan(threads.Thread)}
    found = {(one.forum_name, one.subject): one for one in their.scan()}
    assert found.keys() == ours.keys()
    assert len(found) == 40 + 2 * ROUNDS
    for key, one in found.items():
        mine = ours[key]
        assert (one.views, one.last_post, one.note) == (mine.views, mine.last_post, mine.note)
        assert (one.tags or set()) == (mine.tags or set())
    assert all(
        one.views == 2 * ROUNDS
        for key, one in found.items()
        if key[0].startswith("f") and key[0] != "fold"
    )
    assert [one.subject for one in their.by_views.query("fold")] == [f"k{n}" for n in range(ROUNDS)]

    threads = migrate(
        "threads_design",
        url,
        (
            '        Index("by-views", "forum_name", "views", sort_type="N"),\n',
            '        Index("by-time", "forum_name", "last_post"),\n',
        ),
        (
            '    key = Key("{forum_name}", "{subject}")\n',
            '    by_time = On("by-time", "{forum_name}", "{last_post:iso_offset}")\n',
        ),
    )
    with threads.design.open(url, create_tables=False) as db:
        assert len(list(db.iterate(threads.Thread.by_time.query(forum_name="pynamo")))) == ROUNDS
    assert their.count() == 40 + 2 * ROUNDS


def _scores(url: str) -> Any:
    """The table of an old application, with a key of several attributes."""
    resource: Any = boto3.resource("dynamodb", endpoint_url=url)
    made = resource.create_table(
        TableName="scores-live",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("player", "S"), ("team", "S"), ("year", "N"), ("score", "N"))
        ],
        KeySchema=[{"AttributeName": "player", "KeyType": "HASH"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-season",
                "KeySchema": [
                    {"AttributeName": "team", "KeyType": "HASH"},
                    {"AttributeName": "year", "KeyType": "HASH"},
                    {"AttributeName": "score", "KeyType": "RANGE"},
                    {"AttributeName": "player", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    made.wait_until_exists()
    for n in range(40):
        made.put_item(
            Item={"player": f"p{n}", "team": f"t{n % 3}", "year": 2020 + n % 2, "score": 0}
        )
    return made


class OldApplication:
    """Threads of boto3 that write as they always did, until they are told to stop."""

    def __init__(self, table: Any) -> None:
        self.table, self.added, self.new = table, dict.fromkeys(range(40), 0), 0
        self.stop = threading.Event()
        self.threads = [
            threading.Thread(target=self.count),
            threading.Thread(target=self.enter),
        ]

    def count(self) -> None:
        while not self.stop.is_set():
            for n in self.added:
                self.stop.wait(PAUSE)
                self.table.update_item(
                    Key={"player": f"p{n}"},
                    UpdateExpression="ADD score :one",
                    ExpressionAttributeValues={":one": 1},
                )
                self.added[n] += 1

    def enter(self) -> None:
        while not self.stop.wait(PAUSE):
            item = {"player": f"new{self.new}", "team": "t9", "year": 2026, "score": self.new}
            self.table.put_item(Item=item)
            self.new += 1

    def __enter__(self) -> OldApplication:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join(60)


def test_an_old_application_writes_while_the_adopted_design_migrates(
    here: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = _scores(url)
    keyfold("inspect", "scores-live", "--backend", url, "-o", "scores.yaml")
    text = Path("scores.yaml").read_text()
    assert "partition: {team: S, year: N}" in text
    keyfold("new", "scores.yaml", "--output", "scores_design.py")
    declared = Path("scores_design.py").read_text()
    assert 'by_season = On("by-season", ("team", "year"), ("score", "player"))' in declared
    keyfold("adopt", "scores.yaml", "--backend", url, "--at-least", "100")
    [name] = fresh("scores_design").design.entities

    with OldApplication(table) as old:
        scores = migrate(
            "scores_design",
            url,
            ("    indexes=[\n", '        Index("by-name", "nameKey", "player"),\n'),
            (
                '    key = Key("{player}")\n',
                '    by_name = On("by-name", "TEAM#{team}", "{player}")\n',
            ),
            to="hold",
        )
        entered_before = old.new
        wait_for(lambda: old.new > entered_before)
    capsys.readouterr()
    entity: Any = getattr(scores, name)
    # What it entered after the switch has no place in the new index yet, and nothing is taken away.
    assert main(["migrations", "apply", "0001_scores", "--to", "contract", *beside(url)]) == 2
    assert "lacks what the new design needs" in capsys.readouterr().err
    with scores.design.open(url, create_tables=False) as db:
        repair(db, verify(db))
        apply("0001_scores", url, "contract")
        assert verify(db).clean
        found = {one.player: one for one in db.scan(entity)}
        assert len(found) == 40 + old.new
        assert {n: found[f"p{n}"].score for n in old.added} == old.added
        entered = [one.player for one in db.iterate(entity.by_name.query(team="t9"))]
        assert sorted(entered) == sorted(f"new{n}" for n in range(old.new))
        season = entity.by_season.query(team="t9", year=2026)
        assert [one.score for one in db.iterate(season.since(score=1))] == [*range(1, old.new)]
