"""The tests of whole systems, as they are, on somebody else's server.

A few files of each by default; with KEYFOLD_FULL=1 all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.conftest import dynoxide

ROOT = Path(__file__).parents[2]
FILES = {
    "inviter": ["test_document.py", "test_api.py"],
    "search_room": ["test_patterns.py", "test_api.py"],
    "tamafriends": ["test_document.py", "test_counters.py", "test_operations.py"],
}


@pytest.fixture(scope="module")
def address(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dynoxide(tmp_path_factory.mktemp("dynoxide"), node_modules) as url:
        yield url


@pytest.mark.parametrize("system", FILES)
def test_a_systems_own_tests_pass_there(system: str, address: str) -> None:
    folder = ROOT / "tests" / "systems" / system
    chosen = [folder] if os.environ.get("KEYFOLD_FULL") else [folder / one for one in FILES[system]]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen],
        cwd=ROOT,
        env={**os.environ, "KEYFOLD_SYSTEMS_ADDRESS": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
