"""A log that is deleted after a crash takes commits with it, and that is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.errors import Corrupt

TABLE: dict[str, Any] = {
    "TableName": "Notes",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
KILLED = f"""
import os, sys
from keyfold_engine.engine import Engine
engine = Engine.open(sys.argv[1])
engine.call("CreateTable", {TABLE!r})
engine.call("PutItem", {{"TableName": "Notes", "Item": {{"pk": {{"S": "a"}}}}}})
os._exit(0)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.db"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=True)
    assert path.with_name("notes.db-wal").stat().st_size
    assert path.with_name("notes.db-shm").exists()
    return path


def test_a_file_whose_log_was_deleted_is_refused_and_opens_when_it_is_back(path: Path) -> None:
    log = path.with_name("notes.db-wal")
    log.rename(path.with_name("elsewhere"))
    for _ in range(2):
        with pytest.raises(Corrupt, match=r"notes\.db-wal is missing.*put it back"):
            Engine.open(path)
    path.with_name("elsewhere").rename(log)
    with Engine.open(path) as engine:
        found = engine.call("GetItem", {"TableName": "Notes", "Key": {"pk": {"S": "a"}}})
        assert found == {"Item": {"pk": {"S": "a"}}}
    Engine.open(path).close()


def test_what_is_deleted_on_purpose_opens_without_the_last_commits(path: Path) -> None:
    for end in ("wal", "shm"):
        path.with_name(f"notes.db-{end}").unlink()
    with Engine.open(path) as engine:
        assert engine.call("ListTables", {}) == {"TableNames": []}
