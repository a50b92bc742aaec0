"""Every line of the threat model names a test, and the test is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINES = [
    line
    for line in (ROOT / "docs/threat-model.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| Who | ", "| Attack", "| Secret"))
]


def test_there_are_lines() -> None:
    assert len(LINES) > 30


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split(" | ")[0].strip("| "))
def test_a_line_has_its_test(line: str) -> None:
    shown = line.rstrip("| ").rpartition(" | ")[2]
    found = re.fullmatch(r"`((?:[\w/]+/)?tests/[\w/]+\.py)(?:::(test_\w+))?`", shown)
    assert found is not None
    text = (ROOT / found[1]).read_text()
    assert re.search(rf"def {found[2] or 'test_'}", text)
