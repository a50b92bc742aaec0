"""With KEYFOLD_NO_SKIPS a skipped test is a failure, and says why it was skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[2] / "conftest.py"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_one.py").write_text(
        "import pytest\n"
        "def test_passes(): pass\n"
        "def test_needs_a_tool(): pytest.skip('node is not installed')\n"
    )
    return tmp_path


@pytest.mark.parametrize(("workers", "variable", "code"), [("1", "1", 1), ("0", "", 0)])
def test_a_skip_fails_the_session_where_nothing_may_be_missing(
    suite: Path, workers: str, variable: str, code: int
) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", suite],
        cwd=suite,
        env={**os.environ, "KEYFOLD_NO_SKIPS": variable},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == code
    assert ("test_needs_a_tool: Skipped: node is not installed" in answer.stdout) == bool(variable)
