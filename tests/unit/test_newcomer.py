"""The answers to a newcomer's first questions are where their names say."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.parts import ROOT

QUESTIONS = tomllib.loads((Path(__file__).parent / "newcomer_questions.toml").read_text())


def test_what_a_newcomer_asks_is_where_its_name_says() -> None:
    asked = QUESTIONS["question"]
    assert len(asked) == 25
    assert [each for each in asked if not (ROOT / each["path"]).is_file()] == []
