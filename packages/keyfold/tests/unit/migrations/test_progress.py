"""What a long job says about itself, and how it keeps to its rate."""

from __future__ import annotations

import time

import pytest

from keyfold.migrations import Progress
from keyfold.migrations.progress import BatchSize, Throttle


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


def test_progress_tells_rate_and_remaining_time(fake: FakeTime) -> None:
    progress = Progress("backfill Orders", expected=1000, started=fake.monotonic())
    fake.sleep(10)
    progress.done = 250
    assert progress.rate == 25
    assert progress.remaining_seconds == 30
    words = progress.words()
    assert "25% 250 items, 25/s, 30 s left" in words
    assert words.startswith("backfill Orders: █████·")


def test_a_copy_writes_less_at_once_while_other_writes_wait_for_it() -> None:
    size = BatchSize()
    for seconds in (0.001, 0.002, 0.009):
        size.notice(seconds)
    assert size.actions == 100
    size.notice(0.04)
    assert size.actions == 50
    for _ in range(9):
        size.notice(0.04)
    assert 0 < size.actions < 25
    for _ in range(20):
        size.notice(0.001)
    assert size.actions == 100


def test_a_server_that_always_takes_long_is_not_waited_for() -> None:
    size = BatchSize()
    for _ in range(5):
        size.notice(0.08)
    assert size.actions == 100
