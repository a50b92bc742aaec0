"""The tests that the README names exist."""

from __future__ import annotations

import re
from pathlib import Path

import keyfold_systems.sellers

HERE = Path(__file__).parent
README = Path(keyfold_systems.sellers.__file__).parent / "README.md"


def test_every_test_that_the_readme_names_is_there() -> None:
    places = [*HERE.glob("test_*.py"), *HERE.parent.glob("test_*.py")]
    written = "".join(path.read_text("utf-8") for path in places)
    named = set(re.findall(r"`(test_\w+?)(?:\.py)?`", README.read_text("utf-8")))
    assert len(named) > 40
    files = {path.stem for path in HERE.glob("test_*.py")}
    assert {name for name in named if name not in files and f"def {name}(" not in written} == set()


def test_every_statement_is_kept_or_changed_and_says_by_which_test() -> None:
    text = README.read_text("utf-8").partition("## Each statement")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) > 50
    for _, decided, tests in rows[1:]:
        assert decided.startswith(("Kept", "Changed")), decided
        assert tests == "none" or "test_" in tests
