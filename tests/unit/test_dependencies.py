"""Direct dependencies: a range in the package, a pinned version, a line that says what for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def direct_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    found = (re.match(r"[\w.-]+", one) for group in groups for one in group)
    return {name[0].lower() for name in found if name} - {"keyfold"}


def test_every_direct_dependency_has_one_pinned_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines)
    assert {line.partition("==")[0] for line in lines} == direct_dependencies()


def test_every_direct_dependency_is_explained() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    assert {name for name in direct_dependencies() if name not in page} == set()
