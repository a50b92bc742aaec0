"""Bar charts as SVG, for light and dark themes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyfold.review.docs.svg import Drawing, sans_width

WIDTH = 380.0
ROW = 24.0


@dataclass(frozen=True)
class Bar:
    """One bar: its parts are drawn one after another, each in its colour."""

    label: str
    parts: tuple[tuple[float, str], ...]
    value: str

    @property
    def length(self) -> float:
        return sum(part for part, _ in self.parts)


def bars(title: str, rows: Sequence[Bar], legend: Sequence[tuple[str, str]] = ()) -> str:
    """A bar chart; colours are `slot`, `warm`, `green` and `violet`."""
    drawing = Drawing(title)
    longest = max((row.length for row in rows), default=0.0) or 1.0
    scale = WIDTH / longest
    left = max((sans_width(row.label) for row in rows), default=0.0) + 10
    top = 0.0
    for name, colour in legend:
        drawing.box(left, 0, 12, 12, colour, r=2)
        drawing.text(left + 18, 10, name, "soft")
        left_of_next = left + 34 + sans_width(name)
        left, top = left_of_next, 26.0
    left = max((sans_width(row.label) for row in rows), default=0.0) + 10
    for number, row in enumerate(rows):
        y = top + number * ROW
        drawing.text(left - 10, y + 12, row.label, anchor="end")
        x = left
        for length, colour in row.parts:
            if length > 0:
                drawing.box(x, y + 1, max(length * scale, 1.0), 15, colour, r=2)
                x += length * scale
        drawing.text(x + 8, y + 12, row.value, "soft")
    return drawing.render()
