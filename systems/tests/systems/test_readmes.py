"""The READMEs of the systems: each statement has its row, and what they name is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import keyfold_systems

PACKAGES = Path(keyfold_systems.__file__).parent
TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[1]
SYSTEMS = sorted(path.parent.name for path in PACKAGES.glob("*/README.md"))
ROWS = {"inviter": 35, "search_room": 42, "tamafriends": 27, "gg_core": 40, "sellers": 48}
"""Rows about statements that a README has at least."""


def readme(system: str) -> str:
    return (PACKAGES / system / "README.md").read_text("utf-8")


def statements(system: str, *heads: str) -> list[list[str]]:
    """The rows of the tables that begin so: statements, and questions that are left open."""
    found: list[list[str]] = []
    within = False
    for line in readme(system).splitlines():
        cells = [cell.strip() for cell in line.strip().removeprefix("|").split(" | ")]
        if not line.startswith("|"):
            within = False
        elif cells[0] in (heads or ("the document says", "question")):
            within = True
        elif within and not set(line) <= set("|- "):
            found.append([*cells[:-1], cells[-1].removesuffix("|").strip()])
    return found


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_statement_says_what_was_decided_and_by_which_test(system: str) -> None:
    rows = statements(system)
    assert len(rows) >= ROWS[system]
    for row in rows:
        said, decided, tests = row
        assert said
        assert decided, said
        assert "test_" in tests or (tests in ("none", "–") and "hange" in decided), row


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_statements_are_counted(system: str) -> None:
    rows = statements(system, "the document says")
    changed = sum(decided.startswith("Changed") for _, decided, _ in rows)
    kept = len(rows) - changed
    said = f"Of {len(rows)} statements, {kept} are kept and {changed} changed."
    assert said in readme(system)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_test_that_is_named_is_there(system: str) -> None:
    own = TESTS / "systems" / system
    places = [*own.glob("test_*.py"), *own.parent.glob("test_*.py")]
    written = "".join(path.read_text("utf-8") for path in places)
    text = readme(system)
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 30
    assert {name for name in named if f"def {name}(" not in written} == set()
    rows = set(re.findall(r"`test_patterns\.py\[(\w+)\]`", text))
    if rows:
        assert rows <= set(import_module(f"tests.systems.{system}.test_patterns").ROWS)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_file_that_is_named_is_there(system: str) -> None:
    own, tests = PACKAGES / system, TESTS / "systems" / system
    named = set(re.findall(r"`([\w/.]+\.(?:py|yaml))`", readme(system)))
    assert named
    places = (own, own / "operations", tests, TESTS.parent, ROOT)
    assert {one for one in named if not any((place / one).is_file() for place in places)} == set()
