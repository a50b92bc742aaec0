"""One line on the terminal while a command works: how much is done, how fast, how long still."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

WIDTH: Final = 12
BETWEEN_SECONDS: Final = 0.1
T = TypeVar("T")


def progress_text(job: str, noun: str, done: int, total: int, seconds: float) -> str:
    """`load ▕███░░▏ 61,200/120,000 items · 4,700/s · 12 s left`."""
    rate = done / seconds if seconds > 0 else 0.0
    parts = [f"{job} {done:,} {noun}"]
    if total > 0 and done <= total:
        filled = WIDTH * done // total
        bar = "█" * filled + "░" * (WIDTH - filled)
        parts = [f"{job} ▕{bar}▏ {done:,}/{total:,} {noun}"]
    if rate:
        parts.append(f"{rate:,.0f}/s")
        if done < total:
            parts.append(f"{(total - done) / rate:,.0f} s left")
    return " · ".join(parts)


@contextmanager
def progress(
    job: str, noun: str, total: Callable[[], int] | int = 0
) -> Iterator[Callable[[int], None] | None]:
    """What to call with the number that is done; None where nobody looks on.

    The last line says what was done and how long it took.
    """
    if not sys.stderr.isatty():
        yield None
        return
    expected = total if isinstance(total, int) else total()
    started = shown = time.monotonic()
    reached = 0

    def show(done: int) -> None:
        nonlocal shown, reached
        now, reached = time.monotonic(), done
        if now - shown >= BETWEEN_SECONDS:
            shown = now
            print(f"\r{progress_text(job, noun, done, expected, now - started)}\x1b[K", end="",
                  file=sys.stderr, flush=True)  # fmt: skip

    try:
        yield show
    finally:
        seconds = time.monotonic() - started
        print(f"\r{job}: {reached:,} {noun} in {seconds:,.1f} s\x1b[K", file=sys.stderr, flush=True)


def counted(items: Iterable[T], show: Callable[[int], None] | None) -> Iterator[T]:
    """The same items; each that is taken counts as done."""
    for number, item in enumerate(items, 1):
        yield item
        if show is not None:
            show(number)
