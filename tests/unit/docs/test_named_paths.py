"""Paths and tests that documents name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.parts import PARTS, ROOT, files, source

# The reference is written from the code at each build; pages of an older one may still lie there.
WRITTEN = [
    page
    for page in (ROOT / "docs").rglob("*.md")
    if page.parent.name != "reference" and "_build" not in page.parts
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(WRITTEN)]
ROOMS = [ROOT, *(source(package) for package in PARTS), ROOT / "docs", ROOT / "tests"]
PACKAGES = sorted({path.parent.name for path in files("__init__.py")})

# A path of the tree: it begins with one of our folders, and has no placeholder in it.
PATH = re.compile(rf"`((?:packages|systems|tests|docs|bench|{'|'.join(PACKAGES)})/[\w./-]+)`")

TEST = re.compile(r"`(test_\w+)`")
DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def _tests() -> set[str]:
    rooms = {ROOT / "tests", *(folder / "tests" for folder in PARTS.values())}
    found = [path for room in rooms for path in room.rglob("test_*.py")]
    return {name for path in found for name in DEFINED.findall(path.read_text())}


def test_every_test_that_a_page_names_exists() -> None:
    named = {name for page in PAGES for name in TEST.findall(page.read_text())}
    assert named, "no page names a test"
    assert named - _tests() == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    named = {path.rstrip("/.") for path in PATH.findall(text) if "_build" not in path}
    # The template of decisions shows a name; plans are files of the user.
    named -= {"docs/adr/NNNN-what-was-decided.md", "migrations/0001_by_season.yaml"}
    missing = {
        path
        for path in named
        if not any((room / each).exists() for room in ROOMS for each in (path, f"{path}.py"))
    }
    assert missing == set()
