"""Writes docs/inspected.md: how much of public designs `keyfold inspect` finds in made data."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "inspected.md"
sys.path.insert(0, str(ROOT / "packages/workbench"))

INTRODUCTION = """\
# What inspect finds

These public designs were transcribed as data from the documents named here
(`packages/workbench/tests/unit/adopt/public`) and filled with generated items. `keyfold inspect`
reads only the items.

- An entity is found if 95% of its items are grouped together, with at most 5% of others.
- It is named if a reader of the document would recognise its name.
- A template is right if its literals and attributes are the document's.

The heuristics of inspect were developed on most of these designs, so their rows show what the
heuristics can find, not what they find in an unknown table. Designs with a star were transcribed
afterwards and scored without changes. The second table uses a random half of the items: a reference
is missed if too few of its target items are present.

`python docs/_ext/inspected.py` generates this page.
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
