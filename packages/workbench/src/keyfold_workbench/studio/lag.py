"""Lag over time: samples while a page is open, and their chart."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from keyfold.errors import KeyfoldError
from keyfold_workbench.studio.markup import Child, Html, el
from keyfold_workbench.studio.parts import empty, panel

SPAN: Final = 300.0
"""Seconds shown."""
EVERY: Final = 0.9
"""Seconds between samples; an open page asks each second."""
SAMPLED: Final = 1.5 * EVERY
"""The maximum age of the last sample, while a page is open."""
GAP: Final = 4 * EVERY
"""After a longer gap between samples, no line is drawn."""
TOPS: Final = (0.2, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400)
LEFT, RIGHT, TOP, BOTTOM = 36.0, 426.0, 8.0, 130.0


@dataclass(frozen=True)
class LagSample:
    """Seconds of lag at a moment."""

    at: float
    seconds: float


class LagSamples:
    """The lag of the last minutes, sampled by the page that is open."""

    def __init__(self, measure: Callable[[], float | None]) -> None:
        self._measure = measure
        self._kept: deque[LagSample] = deque(maxlen=int(SPAN / EVERY) + 1)
        self._taken = float("-inf")

    def look(self) -> list[LagSample]:
        """The samples so far, with one of now; an unreachable backend leaves a gap."""
        now = time.monotonic()
        if now - self._taken >= EVERY:
            self._taken = now
            with suppress(KeyfoldError, OSError):
                if (seconds := self._measure()) is not None:
                    self._kept.append(LagSample(time.time(), seconds))
        return [one for one in [*self._kept] if one.at > time.time() - SPAN]


def lag_panel(title: str, samples: Sequence[LagSample]) -> Html:
    """The last minutes as a line."""
    if not samples:
        says = "It is measured while a stream is followed."
        return panel(title, empty("Nothing to measure yet", says), note="last 5 minutes")
    most = max(one.seconds for one in samples)
    note = f"last 5 minutes, at most {most:.1f} s"
    return panel(title, el("div.pad", _chart(samples, most)), note=note)


def _chart(samples: Sequence[LagSample], most: float) -> Html:
    top = next((one for one in TOPS if one >= most), most)
    now = time.time()

    def across(at: float) -> float:
        return RIGHT - (RIGHT - LEFT) * min(SPAN, now - at) / SPAN

    def down(seconds: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * seconds / top

    lines: list[Child] = []
    for run in _runs(samples):
        points = [f"{across(one.at):.1f} {down(one.seconds):.1f}" for one in run]
        line = "M" + "L".join(points)
        ends = f"L{across(run[-1].at):.1f} {BOTTOM}L{across(run[0].at):.1f} {BOTTOM}Z"
        lines += [el("path.area", d=line + ends), el("path.line", d=line)]
    ticks = [
        (
            el("path.grid", d=f"M{LEFT:.0f} {down(value):.1f}H{RIGHT:.0f}"),
            el("text", f"{value:g}", x=30, y=f"{down(value) + 4:.1f}", text_anchor="end"),
        )
        for value in (0, top / 2, top)
    ]
    last = samples[-1].seconds
    says = f"Seconds behind in the last five minutes: at most {most:.1f}, {last:.1f} now"
    return el(
        "svg.chart",
        ticks,
        lines,
        el("text", "5 min ago", x=LEFT, y=146),
        el("text", "now", x=RIGHT, y=146, text_anchor="end"),
        viewBox="0 0 430 150",
        width="100%",
        role="img",
        aria_label=says,
    )


def _runs(samples: Sequence[LagSample]) -> list[list[LagSample]]:
    """Runs of samples without a gap."""
    runs = [[samples[0]]]
    for before, after in pairwise(samples):
        if after.at - before.at > GAP:
            runs.append([])
        runs[-1].append(after)
    return runs
