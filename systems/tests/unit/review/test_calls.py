"""How much a check works: counts of calls, which may only fall."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest

from keyfold.design.file import load
from keyfold.review.check import check

DOCUMENTS = Path(__file__).parents[4] / "systems" / "src" / "keyfold_systems"

CALLS = {"inviter": 6_600, "gg_core": 33_000}
"""Of functions written in Python, in the second check of a document."""


def calls(name: str) -> Counter[str]:
    schema = load(DOCUMENTS / name / "as_written.yaml")
    check(schema)
    made: Counter[str] = Counter()

    def tell(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            made[frame.f_code.co_qualname] += 1

    sys.setprofile(tell)
    try:
        check(schema)
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="comprehensions are no calls there")
@pytest.mark.parametrize("name", CALLS)
def test_a_check_makes_no_more_calls_than_it_did(name: str) -> None:
    assert calls(name).total() <= CALLS[name]


def test_what_an_entity_holds_is_worked_out_once_for_each() -> None:
    schema = load(DOCUMENTS / "gg_core" / "as_written.yaml")
    made = calls("gg_core")
    assert made["KeySets._held_templates"] <= len(schema.entities)
    assert made["KeySets.all_attributes"] == 1
    assert made["KeySets.all_keys"] == 1
