"""Inputs that once broke something, or that reach far into the code, break nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_is_answered_or_refused(name: str) -> None:
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        try:
            TARGETS[name](path.read_bytes())
        except Exception as error:
            raise AssertionError(f"{path.name} breaks {name}") from error
