"""Lines over two logarithmic axes, as plain SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 70, 44, 40, 90
COLOURS = ("#a0aec0", "#2b6cb0", "#c05621")

Points = Sequence[tuple[float, float]]


def lines(title: str, across: str, up: str, series: Mapping[str, Points]) -> str:
    """One line a series, with its name at its end."""
    every = [point for points in series.values() for point in points]
    low_x, high_x = log10(min(x for x, _ in every)), log10(max(x for x, _ in every))
    low_y, high_y = floor(log10(min(y for _, y in every))), ceil(log10(max(y for _, y in every)))

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (log10(x) - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - (log10(y) - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="12" y="22" font-weight="bold" font-size="14">{escape(title)}</text>',
        f'<text x="{LEFT}" y="{HEIGHT - 8}">{escape(across)}</text>',
        f'<text x="12" y="{TOP - 2}" fill="#4a5568">{escape(up)}</text>',
    ]
    for power in range(low_y, high_y + 1):
        _, y = place(10**low_x, 10.0**power)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e2e8f0"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10**power:,}</text>')
    for x in sorted({x for x, _ in every}):
        at, _ = place(x, 10.0**low_y)
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:,.0f}</text>'
        )
    for colour, (name, points) in zip(COLOURS, series.items(), strict=False):
        path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in points)
        end_x, end_y = place(*points[-1])
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(
            f'<text x="{end_x + 6:.1f}" y="{end_y + 4:.1f}" fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
