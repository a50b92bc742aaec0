"""What a long job says about itself, and how it keeps to its rate."""

from __future__ import annotations

import time

import pytest

from keyfold.migrations import Progress
from keyfold.migrations.progress import Throttle


class FakeTime:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(time, "monotonic", fake.monotonic)
    monkeypatch.setattr(time, "sleep", fake.sleep)
    return fake


def test_a_rate_is_kept_over_all_pages(fake: FakeTime) -> None:
    limit = Throttle(100)
    for _ in range(11):
        limit.wait(50)
    assert fake.now == pytest.approx(105.0)


def test_without_a_rate_nothing_waits(fake: FakeTime) -> None:
    Throttle().wait(1_000_000)
    assert fake.now == 100.0


def test_progress_tells_rate_remaining_time_and_cost(fake: FakeTime) -> None:
    progress = Progress("backfill Orders", expected=1000, started=fake.monotonic())
    fake.sleep(10)
    progress.done, progress.write_units, progress.read_units = 250, 1_000_000, 2_000_000
    assert progress.rate == 25
    assert progress.remaining_seconds == 30
    assert progress.cost == pytest.approx(0.875)
    words = progress.words()
    assert "25% 250 items, 25/s, 30 s left, $0.8750" in words
    assert words.startswith("backfill Orders: █████·")
