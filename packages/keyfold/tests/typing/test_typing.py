"""The public API type-checks: right uses pass, each wrong one is refused, in every checker.

`open` has entities without written types, `written` a design with them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SAMPLES = {
    name: ROOT / "packages" / "keyfold" / "tests" / "typing" / name
    for name in ("open", "written", "marketplace")
}
FILES = (
    *(path / name for path in SAMPLES.values() for name in ("right.py", "wrong.py")),
    SAMPLES["marketplace"] / "entities.py",
)
Files = tuple[Path, ...]
Lines = set[tuple[str, int]]
Checker = Callable[[Files], Lines]


def run(*command: str) -> str:
    found = {**os.environ, "MYPYPATH": str(ROOT / "packages" / "keyfold")}
    ran = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT, env=found
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.stdout


def mypy(files: Files, *more: str) -> Lines:
    written = run("mypy", "--strict", "--no-error-summary", *more, *map(str, files))
    found = re.findall(r"^(.+?):(\d+): error", written, re.MULTILINE)
    return {(file, int(line)) for file, line in found}


@cache
def plain_mypy(files: Files) -> Lines:
    return mypy(files)


@cache
def mypy_with_pydantics_plugin(files: Files) -> Lines:
    config = ROOT / "packages" / "keyfold" / "tests" / "typing" / "plugin.ini"
    cache = ROOT / ".mypy_cache" / "plugin"
    return mypy(files, "--config-file", str(config), "--cache-dir", str(cache))


@cache
def pyright(files: Files) -> Lines:
    report = json.loads(run("pyright", "--outputjson", *map(str, files)))
    errors = [one for one in report["generalDiagnostics"] if one["severity"] == "error"]
    return {
        (str(Path(one["file"]).relative_to(ROOT)), one["range"]["start"]["line"] + 1)
        for one in errors
    }


def lines_of(file: Path, found: Iterable[tuple[str, int]]) -> set[int]:
    return {line for name, line in found if name == str(file.relative_to(ROOT))}


CHECKERS = [plain_mypy, mypy_with_pydantics_plugin, pyright]


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_each_wrong_use_is_refused(checker: Checker, sample: str) -> None:
    wrong = SAMPLES[sample] / "wrong.py"
    lines = wrong.read_text().splitlines()
    marked = {number for number, line in enumerate(lines, 1) if "# refused" in line}
    assert lines_of(wrong, checker(FILES)) == marked


@pytest.mark.parametrize("checker", CHECKERS)
def test_right_uses_pass(checker: Checker) -> None:
    # Without written types, pydantic's plugin takes each key for a field that lacks its type.
    declared = 0 if checker is not mypy_with_pydantics_plugin else 5
    assert len(lines_of(SAMPLES["open"] / "right.py", checker(FILES))) == declared
    assert lines_of(SAMPLES["written"] / "right.py", checker(FILES)) == set()
    for name in ("entities.py", "right.py"):
        assert lines_of(SAMPLES["marketplace"] / name, checker(FILES)) == set()
