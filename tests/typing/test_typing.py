"""The public API type-checks: right uses pass, each wrong one is refused, in both checkers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent / "samples"


def mypy(path: Path) -> set[int]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=SAMPLES.parents[2])
    found = re.findall(rf"{path.name}:(\d+): error", ran.stdout)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return {int(line) for line in found}


def pyright(path: Path) -> set[int]:
    command = [sys.executable, "-m", "pyright", "--outputjson", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=SAMPLES.parents[2])
    report = json.loads(ran.stdout)
    return {
        entry["range"]["start"]["line"] + 1
        for entry in report["generalDiagnostics"]
        if entry["severity"] == "error" and entry["file"].endswith(path.name)
    }


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_right_uses_pass(checker: object) -> None:
    assert callable(checker)
    assert checker(SAMPLES / "right.py") == set()


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_each_wrong_use_is_refused(checker: object) -> None:
    assert callable(checker)
    lines = (SAMPLES / "wrong.py").read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# refused" in line}
    assert checker(SAMPLES / "wrong.py") == marked
