"""The log that a killed process left behind is damaged: no acknowledged commit goes silently."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from keyfold.cli import main
from keyfold.errors import Corrupt
from keyfold_engine.engine import Engine

FLIPS = max(40, int(os.environ.get("FLIPS", "200")) // 20)
COMMITS = 30
WRITER = """
import os, signal, sys
from keyfold_engine.engine import Engine
engine = Engine.open(sys.argv[1])
for number in range(int(sys.argv[2])):
    item = {"pk": {"S": f"key{number}"}, "data": {"S": "d" * 200}}
    engine.call("PutItem", {"TableName": "Logged", "Item": item})
os.kill(os.getpid(), signal.SIGKILL)
"""
TABLE = {
    "TableName": "Logged",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A data file and its log, after a process was killed."""
    path = tmp_path_factory.mktemp("left") / "data.db"
    with Engine.open(path) as engine:
        engine.call("CreateTable", TABLE)
    subprocess.run([sys.executable, "-c", WRITER, str(path), str(COMMITS)], check=False)
    return path.read_bytes(), path.with_name("data.db-wal").read_bytes()


def _keys(path: Path) -> int:
    with Engine.open(path) as engine:
        return len(engine.call("Scan", {"TableName": "Logged"})["Items"])


def test_a_whole_log_is_taken_whole(left: tuple[bytes, bytes], tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    path.write_bytes(left[0])
    path.with_name("data.db-wal").write_bytes(left[1])
    assert _keys(path) == COMMITS


def test_a_flipped_byte_in_a_log_costs_no_commit_silently(
    left: tuple[bytes, bytes], tmp_path: Path
) -> None:
    data, log = left
    noticed = 0
    for seed in range(FLIPS):
        chance = random.Random(seed)
        for old in tmp_path.iterdir():
            old.unlink()
        path = tmp_path / "data.db"
        path.write_bytes(data)
        flipped = bytearray(log)
        place = chance.randrange(32) if seed % 8 == 0 else chance.randrange(len(log))
        flipped[place] ^= chance.randrange(1, 256)
        path.with_name("data.db-wal").write_bytes(flipped)
        try:
            found = _keys(path)
        except Corrupt:
            noticed += 1
            assert path.with_name("data.db-wal").read_bytes() == flipped
        else:
            # The last commit cannot be told from one that the power interrupted.
            assert found >= COMMITS - 1, f"byte {place}: {found} of {COMMITS} commits"
    assert noticed > FLIPS / 2


def test_what_was_committed_before_the_damage_is_saved(
    left: tuple[bytes, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, log = left
    path, saved = tmp_path / "data.db", tmp_path / "saved.db"
    path.write_bytes(data)
    flipped = bytearray(log)
    flipped[len(log) * 2 // 3] ^= 1
    path.with_name("data.db-wal").write_bytes(flipped)
    with pytest.raises(Corrupt, match="commits after the damage"):
        Engine.open(path)
    assert main(["doctor", str(path), "--save", str(saved)]) == 1
    assert "the log is damaged" in capsys.readouterr().out
    assert COMMITS / 2 < _keys(saved) < COMMITS
