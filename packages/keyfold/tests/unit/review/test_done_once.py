"""What a review reads or writes out is kept for the next that asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyfold.review.check.page import read_page
from keyfold.review.typed_module import TypedModule


def test_the_page_of_a_rule_is_read_once() -> None:
    read_page.cache_clear()
    assert read_page("K1") is read_page("K1")


def test_types_are_written_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of_a_shop.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("of_a_shop")
    module = TypedModule("of_a_shop", ())
    assert module.stale
    assert module.text is module.text
