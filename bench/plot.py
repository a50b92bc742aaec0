"""Plots as plain SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


COLOURS = ("#a0aec0", "#718096", "#90cdf4", "#2c5282", "#c05621")


def groups(title: str, values: Mapping[str, Mapping[str, float]], most: float = 2.5) -> str:
    """For each group a bar for each name, from nothing to `most`, with a line at one."""
    names = list(next(iter(values.values())))
    height = 60 + len(values) * (len(names) * 9 + 10)
    scale = (WIDTH - LEFT - 60) / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="20" font-weight="bold" font-size="13">{escape(title)}</text>',
    ]
    for place, name in enumerate(names):
        x = 12 + place * 120
        parts.append(f'<rect x="{x}" y="30" width="9" height="9" fill="{COLOURS[place]}"/>')
        parts.append(f'<text x="{x + 13}" y="38">{escape(name)}</text>')
    top = 52
    for group, shares in values.items():
        parts.append(f'<text x="12" y="{top + len(names) * 5}">{escape(group)}</text>')
        for place, name in enumerate(names):
            value, y = shares[name], top + place * 9
            width = min(value, most) * scale
            colour = COLOURS[place]
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="7" fill="{colour}"/>'
            )
            label = f"{value:.2f}"
            parts.append(
                f'<text x="{LEFT + width + 4:.1f}" y="{y + 7}" font-size="8">{label}</text>'
            )
        top += len(names) * 9 + 10
    one = LEFT + scale
    parts.append(f'<path d="M{one:.1f} 46V{top}" stroke="#c53030" stroke-dasharray="4 3"/>')
    return "\n".join([*parts, "</svg>", ""])
