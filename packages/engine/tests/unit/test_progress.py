"""The line that shows how far long work is."""

from __future__ import annotations

import sys

import pytest

from keyfold_engine.commands._progress import counted, progress, progress_text


def test_it_says_share_rate_and_rest() -> None:
    shown = progress_text("load", "items", 61_200, 120_000, 13.0)
    assert shown == "load ▕██████░░░░░░▏ 61,200/120,000 items · 4,708/s · 12 s left"


def test_without_a_total_it_says_what_is_done() -> None:
    assert progress_text("load", "rows", 500, 0, 2.0) == "load 500 rows · 250/s"


def test_more_than_expected_is_no_share() -> None:
    assert progress_text("dump", "items", 12, 10, 1.0) == "dump 12 items · 12/s"


def test_nobody_looks_on_and_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("load", "items", 3) as show:
        assert show is None
        assert list(counted("abc", show)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_the_last_line_says_how_much_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("load", "items", 3) as show:
        assert list(counted("abc", show)) == ["a", "b", "c"]
    assert "load: 3 items in 0.0 s" in capsys.readouterr().err
