"""Curves over time as SVG, for light and dark themes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keyfold.review.docs.svg import Drawing

WIDTH, HEIGHT, LEFT = 560.0, 150.0, 64.0
COLOURS = ("--accent", "--warm", "--green", "--violet", "--soft")


@dataclass(frozen=True)
class Curve:
    """A name and evenly spaced values."""

    name: str
    values: tuple[float, ...]


def curves(title: str, lines: Sequence[Curve], days: float) -> str:
    """A chart with days on the x axis and values on the y axis."""
    drawing = Drawing(title)
    top = max((value for line in lines for value in line.values), default=0.0) or 1.0
    x = LEFT
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        drawing.parts.append(
            f'<rect x="{x:.1f}" y="0" width="12" height="12" rx="2" style="fill:var({colour})"/>'
        )
        drawing.text(x + 18, 10, line.name, "soft")
        x += 34 + 6.6 * len(line.name)
    base = 26.0
    for share in (0.0, 0.5, 1.0):
        y = base + HEIGHT * (1 - share)
        drawing.line(LEFT, y, LEFT + WIDTH, y)
        drawing.text(LEFT - 6, y + 4, _short(top * share), "soft", "end")
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        points = _points(line.values, top, base)
        drawing.parts.append(
            f'<polyline points="{points}" style="fill:none;stroke:var({colour});stroke-width:1.6"/>'
        )
    for day in range(0, round(days) + 1, max(1, round(days / 6))):
        at = LEFT + WIDTH * day / max(days, 1e-9)
        drawing.text(at, base + HEIGHT + 16, f"day {day}", "soft", "middle")
    drawing.grow(LEFT + WIDTH + 24, base + HEIGHT + 22)
    return drawing.render()


def _points(values: Sequence[float], top: float, base: float) -> str:
    most = 240
    every = max(1, -(-len(values) // most))
    held = [max(values[at : at + every]) for at in range(0, len(values), every)]
    step = WIDTH / max(1, len(held) - 1)
    return " ".join(
        f"{LEFT + step * at:.1f},{base + HEIGHT * (1 - value / top):.1f}"
        for at, value in enumerate(held)
    )


def _short(value: float) -> str:
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {mark}"
    return f"{value:.3g}"
