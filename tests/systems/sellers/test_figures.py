"""The measured figures on their page are those of today."""

from __future__ import annotations

import re
from pathlib import Path

from keyfold_systems.sellers import current, design, figures

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "sellers.md"


def without_times(page: str) -> str:
    return re.sub(r"[\d.]+ ms", "some ms", page)


async def test_the_page_of_figures_shows_what_is_measured() -> None:
    """Otherwise: python -m keyfold_systems.sellers.figures > docs/guide/sellers.md"""
    assert without_times(PAGE.read_text("utf-8")) == without_times(await figures.page())


def test_the_indexes_are_ten_before_and_six_after() -> None:
    assert figures.indexes(current.design.schema) == 10
    assert figures.indexes(design.design.schema) == 6
