"""Plots as plain SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.harness import Row

WIDTH, BAR, LEFT = 640, 26, 190


def bars(title: str, rows: Sequence[Row], unit: str = "µs per operation") -> str:
    """What each side takes, least first."""
    ordered = sorted(rows, key=lambda row: row.median)
    longest = max(row.median for row in ordered)
    height = 44 + BAR * len(ordered)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="24" font-weight="bold">{escape(title)}, {unit}</text>',
    ]
    for place, row in enumerate(ordered):
        top = 36 + place * BAR
        width = max(2.0, (WIDTH - LEFT - 90) * row.median / longest)
        colour = "#2b6cb0" if row.side.startswith("keyfold") else "#a0aec0"
        parts.append(f'<text x="12" y="{top + 14}">{escape(row.side)}</text>')
        parts.append(
            f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="18" fill="{colour}"/>'
        )
        label = f"{row.median:,.2f}" if row.median < 10 else f"{row.median:,.1f}"
        parts.append(f'<text x="{LEFT + width + 6:.1f}" y="{top + 14}">{label}</text>')
    return "\n".join([*parts, "</svg>", ""])
