"""The tests that the README names exist."""

from __future__ import annotations

import re
from pathlib import Path

import keyfold_systems.gg_core

from .test_patterns import ROWS

HERE = Path(__file__).parent
README = Path(keyfold_systems.gg_core.__file__).parent / "README.md"


def test_every_test_that_the_readme_names_is_there() -> None:
    written = "".join(path.read_text("utf-8") for path in HERE.glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+?)(?:\.py)?`", README.read_text("utf-8")))
    assert len(named) > 30
    rows = set(re.findall(r"`test_patterns\.py\[(\w+)\]`", README.read_text("utf-8")))
    assert rows <= set(ROWS)
    files = {path.stem for path in HERE.glob("test_*.py")}
    assert {name for name in named if name not in files and f"def {name}(" not in written} == set()
