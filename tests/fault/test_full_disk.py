"""A disk without room for another byte: what is there is read, backed up, dumped and examined."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.doctor.examination import examine, settled
from keyfold_engine.doctor.survey import survey
from keyfold_engine.engine import Engine

ITEMS = 40
# From then on no file of the process can grow, or be written at all.
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""
TABLE: dict[str, Any] = {
    "TableName": "Notes",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


def run(script: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["closed", "killed"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data file that its last process closed, or left with a log."""
    path = tmp_path / "notes.db"
    script = f"""
import os, sys
from keyfold_engine.engine import Engine
engine = Engine.open(sys.argv[1])
engine.call("CreateTable", {TABLE!r})
for number in range({ITEMS}):
    item = {{"pk": {{"S": f"note{{number}}"}}, "text": {{"S": "x" * 500}}}}
    engine.call("PutItem", {{"TableName": "Notes", "Item": item}})
if {request.param == "killed"}:
    os._exit(0)
engine.close()
"""
    run(script, path)
    path.with_name("notes.db-shm").unlink(missing_ok=True)
    return path


def test_items_are_read_and_writes_are_refused(path: Path) -> None:
    script = f"""
import sys
from keyfold_engine.engine import Engine
from keyfold_engine.errors import Full
{FULL}
with Engine.open(sys.argv[1]) as engine:
    print(engine.call("Scan", {{"TableName": "Notes", "Select": "COUNT"}})["Count"])
    key = {{"TableName": "Notes", "Key": {{"pk": {{"S": "note7"}}}}}}
    print("note7" in str(engine.call("GetItem", key)))
    print(len(engine.call("DescribeTable", {{"TableName": "Notes"}})))
    try:
        engine.call("PutItem", {{"TableName": "Notes", "Item": {{"pk": {{"S": "new"}}}}}})
    except Full as error:
        print("refused", "the disk is full" in str(error))
    print(engine.call("Scan", {{"TableName": "Notes", "Select": "COUNT"}})["Count"])
    with engine.snapshot("Notes") as bodies:
        print(len(list(bodies)))
"""
    assert run(script, path).split("\n")[:-1] == [
        str(ITEMS), "True", "1", "refused True", str(ITEMS), str(ITEMS)
    ]  # fmt: skip
    with Engine.open(path) as engine:
        engine.call("PutItem", {"TableName": "Notes", "Item": {"pk": {"S": "later"}}})
        found = engine.call("Scan", {"TableName": "Notes", "Select": "COUNT"})
        assert found["Count"] == ITEMS + 1


def test_durability_of_any_kind_opens_it(path: Path) -> None:
    script = f"""
import sys
from keyfold_engine.engine import Engine
{FULL}
for durability in ("full", "relaxed", "memory"):
    with Engine.open(sys.argv[1], durability=durability) as engine:
        print(engine.call("Scan", {{"TableName": "Notes", "Select": "COUNT"}})["Count"])
"""
    assert run(script, path).split() == [str(ITEMS)] * 3


def test_the_file_is_backed_up_to_another_disk(path: Path, tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from keyfold_engine.engine.storage import online_backup
{FULL}
opened = online_backup.connect

def connect(path, durability):
    made = opened(path, durability)
    # The other disk has room.
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return made

online_backup.connect = connect
online_backup.back_up_file(Path(sys.argv[1]), Path(sys.argv[2]), lambda done, total: None)
"""
    run(script, path, tmp_path / "copy.db")
    with Engine.open(tmp_path / "copy.db") as engine:
        found = engine.call("Scan", {"TableName": "Notes", "Select": "COUNT"})
        assert found["Count"] == ITEMS


def test_the_file_is_examined_in_another_folder(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[Path] = []
    copied = shutil.copyfile

    def copy(source: Path, to: Path | str) -> None:
        copies.append(Path(to))
        if Path(to).is_relative_to(path.parent):
            raise OSError(errno.ENOSPC, "No space left on device")
        copied(source, to)

    monkeypatch.setattr(shutil, "copyfile", copy)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("elsewhere")))
    with settled(path) as found:
        assert list(examine(found, survey(found.path))) == []
    assert len(copies) >= 2
    assert not any(copy.exists() for copy in copies)
