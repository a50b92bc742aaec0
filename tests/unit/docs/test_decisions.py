"""Decisions are numbered once, in their names and in their headings."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[3] / "docs/adr"


def test_a_decision_has_a_number_of_its_own_and_says_it() -> None:
    pages = sorted(FOLDER.glob("[0-9]*.md"))
    assert pages
    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == list(range(1, len(pages) + 1))
    headings = [page.read_text().partition(".")[0] for page in pages]
    assert headings == [f"# {number}" for number in numbers]
