from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyfold_engine.wire import ServeError
from keyfold_engine.wire.memory import remove_leftovers, shared_memory

CRASH = """
import os, sys
from pathlib import Path
from keyfold_engine.wire.memory import shared_memory
with shared_memory(Path(sys.argv[1])) as folder:
    (folder / "memory.db").touch()
    os._exit(1)
"""


def make_old(folder: Path) -> None:
    for made in folder.iterdir():
        os.utime(made, (0, 0))


def test_a_file_in_memory_goes_with_its_server(tmp_path: Path) -> None:
    with shared_memory(tmp_path) as folder:
        (folder / "memory.db").touch()
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_what_a_crashed_server_left_is_removed_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CRASH, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    make_old(tmp_path)
    with shared_memory(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_what_a_server_is_using_stays_however_old_it_is(tmp_path: Path) -> None:
    with shared_memory(tmp_path) as folder:
        make_old(tmp_path)
        remove_leftovers(tmp_path)
        assert folder.exists()


def test_what_is_only_just_made_stays(tmp_path: Path) -> None:
    (tmp_path / "keyfold-starting").mkdir()
    remove_leftovers(tmp_path)
    assert (tmp_path / "keyfold-starting").exists()


def test_a_machine_without_such_memory_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match=r"use --workers 1, or give them a file with --data"):
        shared_memory(tmp_path / "none").__enter__()
