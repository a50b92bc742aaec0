"""Writes docs/parts.md and its picture: the parts and their packages, from the import contracts."""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "parts.md"
PICTURE = ROOT / "docs" / "images" / "parts.svg"

PAGE = """\
# The parts

Which part holds what, and who may import whom. A part imports only from the parts below it, and
inside a part a package only from the rows below its own. import-linter checks both with
`make check`; this page and its picture are made from its contracts by `python docs/_ext/parts.py`.

![The parts from top to bottom, with their packages](images/parts.svg)
"""
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2430}.part{fill:#f4f5f8;stroke:#c9cedb}"
    ".name{font-weight:600}.room{fill:#fff;stroke:#8b93a7}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e8ef}.part{fill:#1b1f2a;stroke:#3b4254}"
    ".room{fill:#262c3a;stroke:#6b7489}}"
)
WIDTH, NAME, ROW, GAP, LETTER = 860, 150, 34, 8, 7.2


def contracts() -> tuple[list[str], dict[str, list[list[str]]]]:
    """The parts, highest first, and for those with layers their rows of packages."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    written = settings["tool"]["importlinter"]["contracts"]
    layers = [one for one in written if one["type"] == "layers"]
    (between,) = (one["layers"] for one in layers if "containers" not in one)
    inside = {
        one["containers"][0]: [re.findall(r"\w+", row) for row in one["layers"]]
        for one in layers
        if "containers" in one
    }
    return between, inside


def picture() -> str:
    """Each part a frame; each row of packages a line in it."""
    parts, inside = contracts()
    drawn, top = [], 0
    for part in parts:
        rows = inside.get(part, [])
        height = max(1, len(rows)) * ROW + GAP
        drawn += [
            _box("part", 1, top + 1, WIDTH - 2, height - 2),
            f'<text class="name" x="14" y="{top + height / 2 + 4:g}">{escape(part)}</text>',
        ]
        for number, row in enumerate(rows):
            left, y = float(NAME), top + GAP / 2 + number * ROW + 3
            for package in row:
                width = len(package) * LETTER + 20
                drawn += [
                    _box("room", left, y, width, 28),
                    f'<text x="{left + 10:g}" y="{y + 18:g}">{escape(package)}</text>',
                ]
                left += width + GAP
        top += height + GAP
    view = f'viewBox="0 0 {WIDTH} {top - GAP}" width="{WIDTH}" height="{top - GAP}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} role="img">'
        f"<title>The parts of keyfold, highest first</title><style>{STYLE}</style>"
        f"{''.join(drawn)}</svg>\n"
    )


def _box(kind: str, x: float, y: float, width: float, height: float) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect class="{kind}" {place} rx="5"/>'


def main() -> None:
    PICTURE.parent.mkdir(exist_ok=True)
    TARGET.write_text(PAGE, "utf-8")
    PICTURE.write_text(picture(), "utf-8")


if __name__ == "__main__":
    main()
