"""The whole way: a design is advised, the choice declared, planned, and its items moved."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyfold.cli import main
from keyfold.design.file import loads
from keyfold.review.draft.python import declaration

TASKS = """
design: tasks
tables:
  Tasks:
    key: [taskId]
    stream: NEW_AND_OLD_IMAGES
    type_attribute: type
    indexes:
      owner-index: {key: [ownerId, createdAt]}
      status-index: {key: [status]}
      idle-index: {key: [title]}
  Owners: {key: [ownerId], stream: NEW_AND_OLD_IMAGES}
entities:
  Task:
    table: Tasks
    key: {taskId: <taskId>}
    indexes:
      owner-index: {ownerId: <ownerId>, createdAt: "<createdAt:iso>"}
      status-index: {status: <status>}
    attributes:
      taskId: id
      ownerId: id -> Owner
      title: string
      status: string
      createdAt: fixed timestamp
  Owner:
    table: Owners
    key: {ownerId: <ownerId>}
    attributes: {ownerId: id, name: string}
patterns:
  tasks: {query: Task, index: owner-index, where: ownerId = <ownerId>, limit: 20}
  task: {get: Task, where: taskId = <taskId>, consistent: true}
  by status: {query: Task, index: status-index, where: status = <status>, limit: 20}
  owner: {get: Owner, where: ownerId = <ownerId>}
"""
BASE = """
entities:
  Task: {items: 100000, bytes: 300, distinct: {owner_id: 5000, status: 50}}
  Owner: {items: 5000, bytes: 200}
writes:
  create Task: {rate: 1/minute}
  create Owner: {rate: 1/hour}
"""
RATES = "patterns: {{tasks: {{rate: {}}}, task: {{rate: {}}}, by_status: {{}}, owner: {{}}}}\n"
REKEYED, IN_PLACE = RATES.format(90, 1), RATES.format(1, 90)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the declaration of the design, which can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "today.py").write_text(declaration(loads(TASKS))[0], encoding="utf-8")
    yield tmp_path
    for name in ("today", "better"):
        sys.modules.pop(name, None)


def declared(name: str) -> Any:
    importlib.invalidate_caches()
    return importlib.import_module(name)


def fill(folder: Path) -> list[str]:
    """Some tasks of two owners under today's design; gives the first owner's titles in order."""
    today = declared("today")
    with today.design.open(str(folder / "tasks.db")) as db:
        for owner in ("ann", "bob"):
            db.create(today.Owner(owner_id=owner, name=owner.title()))
        for number in range(12):
            moment = f"2024-03-{28 - number:02d}T10:00:00Z"
            task = {"task_id": f"t{number}", "owner_id": "ann" if number % 2 else "bob"}
            db.create(today.Task(**task, title=f"Task {number}", status="open", created_at=moment))
        return [task.title for task in today.tasks(db, "ann")]


@pytest.mark.parametrize(
    ("load", "name", "told"),
    [
        (REKEYED, "balanced", "move: "),
        (IN_PLACE, "balanced", "drop index: "),
    ],
    ids=["re-key", "drop an index"],
)
def test_items_are_where_the_chosen_design_reads_them(
    folder: Path, load: str, name: str, told: str
) -> None:
    titles = fill(folder)
    (folder / "workload.yaml").write_text(BASE + load, encoding="utf-8")
    asked = ["advise", "today:design", "-w", "workload.yaml", "--choose", name, "-o", "report.txt"]
    assert main([*asked, "--write-design", "better.py"]) == 0
    assert main(["migrations", "snapshot", "--design", "today:design"]) == 0
    backend = ["--backend", "tasks.db"]
    assert main(["migrations", "plan", "better", "--design", "better:design", *backend]) == 0
    (plan,) = (folder / "migrations").glob("*.yaml")
    assert told in plan.read_text(encoding="utf-8")
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace("answer: null", "answer: 1"), encoding="utf-8")
    assert main(["migrations", "apply", str(plan), "--without-routers", *backend]) == 0
    better = declared("better")
    with better.design.open("tasks.db", create_tables=False) as db:
        assert [task.title for task in better.tasks(db, "ann")] == titles
        assert better.task(db, "t3").title == "Task 3"
        assert len(list(better.by_status(db, "open"))) == 12
        assert better.owner(db, "ann").name == "Ann"


def test_a_plan_from_a_design_file_moves_items_by_its_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder)
    (folder / "workload.yaml").write_text(BASE + REKEYED, encoding="utf-8")
    asked = ["advise", "today:design", "-w", "workload.yaml", "-o", "report.txt"]
    assert main([*asked, "--choose", "balanced", "--write-design", "better.yaml"]) == 0
    assert main(["migrations", "snapshot", "--design", "today:design"]) == 0
    backend = ["--backend", "tasks.db"]
    assert main(["migrations", "plan", "better", "--design", "better.yaml", *backend]) == 0
    assert main(["migrations", "apply", "0001_better", "--without-routers", *backend]) == 0
    said = capsys.readouterr().out
    assert "0 differ" in said
    assert "0001_better: hold is complete" in said
