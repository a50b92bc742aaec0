"""One word, one meaning: the glossary is short, and what left is not spoken of any more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.parts import PARTS, ROOT, files

GLOSSARY = ROOT / "docs" / "concepts.md"
TERM = re.compile(r"^(?:\| )?\*\*([^*]+?)\.?\*\*", re.MULTILINE)
DROPPED = {
    "FeedPolicy": "Feed(push=Flag(...))",
    "RemovedList": "an unfollow is a deletion",
    "SyncRouter": "the routed client",
    "Oversight": "nothing; it is a service's own",
    "AddReplica": "your infrastructure",
    "CreateTable(": "add(...)",
    "db.edit": "db.update",
    "keyfold bench": "make bench",
    "keyfold client": "the OpenAPI document",
    "known reads": "nothing",
    "is no good": "say what is wrong",
    "tells nobody": "say what happens",
    "somebody works on something": "lock",
}
"""With what is said or used instead."""
# History may name what left.
PAGES = [
    page
    for page in (
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "guide").glob("*.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(folder / "README.md" for folder in dict.fromkeys(PARTS.values())),
        *files("README.md"),
    )
    if page.is_file()
]


def test_the_glossary_has_at_most_forty_words_each_once() -> None:
    text = GLOSSARY.read_text("utf-8")
    terms = [one.strip().lower() for found in TERM.findall(text) for one in found.split(",")]
    assert len(terms) == len(set(terms))
    assert 15 <= len(terms) <= 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_uses_a_word_that_was_dropped(page: Path) -> None:
    text = page.read_text("utf-8").lower()
    assert {word: DROPPED[word] for word in DROPPED if word.lower() in text} == {}
