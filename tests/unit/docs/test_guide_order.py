"""The guide names its pages one by one, in the order in which a reader meets them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = DOCS / "guide"


LISTS = [
    DOCS / "index.md",
    *(DOCS / name / "index.md" for name in ("guide", "reference", "systems")),
]


def test_every_page_of_the_guide_is_listed_once() -> None:
    listed = [path for page in LISTS for path in listed_pages(page) if path.parent == GUIDE]
    assert Counter(listed) == Counter([*GUIDE.glob("*.md")])


def listed_pages(page: Path) -> list[Path]:
    blocks = re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    names = [line for block in blocks for line in block.splitlines() if line and line[0] != ":"]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def test_each_page_begins_with_what_its_reader_can_do_after_it() -> None:
    pages = [path for path in GUIDE.glob("*.md") if path.stem != "index"]
    assert pages
    silent = [path.stem for path in pages if "\n\nAfter this page " not in path.read_text()[:120]]
    assert silent == []
