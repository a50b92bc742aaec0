"""Writes docs/inspected.md: how much of public designs `keyfold inspect` finds in made data."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "inspected.md"
sys.path.insert(0, str(ROOT))

INTRODUCTION = """\
# What inspect finds

Public designs, written up as data after the documents named here (`tests/unit/adopt/public`), each
filled with made items by plain dicts. `keyfold inspect` reads the items and nothing else. An entity
is found if 95% of its items stand together with at most 5% of others; it is named if a reader of
the document knows it by its name; a template is right if its texts and the attributes between them
are the document's.

The rules of inspect were worked out on most of these designs, so their rows say what the rules
can find, not what they find in a table that nobody has seen. Designs with a star were written up
afterwards and scored as they were. The second table is on half of the items, chosen by chance: a
reference is missed where too few of the items that it leads to are there.

`python docs/_ext/inspected.py` writes this page.
"""


def page() -> str:
    from tests.unit.adopt.public import designs
    from tests.unit.adopt.scores import score, table_of_scores

    public = designs()
    source = {each.name: each.source for each in public}
    whole = table_of_scores([score(each) for each in public], source)
    half = table_of_scores([score(each, share=0.5) for each in public], source)
    return f"{INTRODUCTION}\n## All items\n\n{whole}\n## Half of the items\n\n{half}"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
