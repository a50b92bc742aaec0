"""Progress of a long job: a live line on a terminal, JSON lines elsewhere."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyfold.migrations import Progress

LINE_SECONDS = 5.0
"""Seconds between progress lines if standard error is not a terminal."""


def reporter() -> Callable[[Progress], None]:
    """The progress display for standard error."""
    return _show if sys.stderr.isatty() else _Lines()


def _show(progress: Progress) -> None:
    end = "\n" if progress.expected and progress.done >= progress.expected else ""
    print(f"\r{progress.words():<100}", end=end, file=sys.stderr, flush=True)


class _Lines:
    """Progress for a log: an occasional line of JSON per job."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        due = self._next.setdefault(progress.job, now + LINE_SECONDS)
        if now >= due:
            self._next[progress.job] = now + LINE_SECONDS
            print(json.dumps(progress.as_data()), file=sys.stderr, flush=True)
