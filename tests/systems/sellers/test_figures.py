"""The measured figures on their page are those of today."""

from __future__ import annotations

import re
from pathlib import Path

from keyfold.design.file import load
from keyfold_systems.sellers import figures, sample
from keyfold_systems.sellers.service import Sellers

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "sellers.md"
AS_WRITTEN = Path(figures.__file__).parent / "as_written.yaml"


def without_times(page: str) -> str:
    return re.sub(r"[\d.]+ ms", "some ms", page)


async def test_the_page_of_figures_shows_what_is_measured() -> None:
    """Otherwise: python -m keyfold_systems.sellers.figures > docs/guide/sellers.md"""
    assert without_times(PAGE.read_text("utf-8")) == without_times(await figures.page())


def test_the_page_has_every_read_of_the_service() -> None:
    reads = {name for name, one in Sellers.operations.items() if one.kind == "query"}
    measured = {name for name in sample.READS if "," not in name}
    assert len(measured) == 20
    # The document knows neither leaving nor moderators nor notices.
    assert reads - measured == {
        *("personalData", "reports", "audit", "suspended"),
        *("notifications", "unread"),
    }
    assert measured <= reads


def test_the_indexes_are_ten_before_and_five_after() -> None:
    assert len(figures.indexes(figures.BEFORE)) == 10
    assert len(figures.indexes(figures.AFTER)) == 5
    assert figures.indexes(figures.AFTER, local=True) == ["createdAt-index"] * 3


def test_the_documents_own_tables_have_ten_indexes_and_ten_patterns_on_them() -> None:
    written = load(AS_WRITTEN)
    assert [len(one.indexes) for one in written.tables] == [1, 1, 1, 1, 2, 2, 2]
    assert len(written.patterns) == 18
    assert sum(one.index is not None for one in written.patterns) == 10
