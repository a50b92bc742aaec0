"""The guide names its pages one by one, in the order in which a reader meets them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guide"


def test_the_guide_lists_every_page_once() -> None:
    blocks = re.findall(r"```{toctree}\n(.*?)```", (GUIDE / "index.md").read_text(), re.DOTALL)
    listed = Counter(line for block in blocks for line in block.split())
    assert listed == Counter(path.stem for path in GUIDE.glob("*.md") if path.stem != "index")


def test_each_page_begins_with_what_its_reader_can_do_after_it() -> None:
    pages = [path for path in GUIDE.glob("*.md") if path.stem != "index"]
    silent = [path.stem for path in pages if "\n\nAfter this page " not in path.read_text()[:120]]
    assert silent == []
