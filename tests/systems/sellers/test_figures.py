"""The measured figures on their page are those of today."""

from __future__ import annotations

from pathlib import Path

from keyfold_systems.sellers import current, design, figures

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "sellers.md"


async def test_the_page_of_figures_shows_what_is_measured() -> None:
    before, _ = await figures.measured("current")
    after, _ = await figures.measured("proposed")
    text = PAGE.read_text("utf-8")
    assert figures.table(before, after) in text
    for costs in (before, after):
        reading, with_index, consistent = figures.shares(costs)
        assert f"{with_index} of {reading} reading operations" in text or (
            f"{with_index} of {reading} after" in text
        )
        assert f"{consistent} of {reading}" in text


def test_the_indexes_are_ten_before_and_six_after() -> None:
    assert figures.indexes(current.design.schema) == 10
    assert figures.indexes(design.design.schema) == 6
