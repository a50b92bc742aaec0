"""A short soak: after storms a server has the memory, the handles and the answers of before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("SOAK_SECONDS", "12"))


def test_a_server_is_after_storms_what_it_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench import soak, storms

    short = [storm for storm in storms.STORMS if "100,000" not in storm.name]
    verdict = soak.run(SECONDS, short, items=4_000)
    assert verdict.complaints() == []
    assert any("unfinished" in moment.storm for moment in verdict.moments)
    # The log of the file is bounded too.
    assert max(moment.log_mb for moment in verdict.moments) < 200
    assert soak.curves(verdict.moments).count("<polyline") == 5
