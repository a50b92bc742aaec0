"""Drawing: boxes, arrows and key templates as SVG, for light and dark themes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

STYLE = """
.kf{--ink:#1c2030;--soft:#667085;--line:#c9ced8;--card:#fff;--ground:#f5f6f9;--accent:#3b5bdb;
--warm:#b35309;--green:#0f7b53;--violet:#7048c8}
@media (prefers-color-scheme:dark){.kf{--ink:#e8eaf0;--soft:#98a1b3;--line:#3a4152;--card:#1d212c;
--ground:#151821;--accent:#8da2fb;--warm:#f0a35e;--green:#5bcf9d;--violet:#b79cf2}}
@media print{.kf{--ink:#1c2030;--soft:#667085;--line:#c9ced8;--card:#fff;--ground:#f5f6f9;
--accent:#3b5bdb;--warm:#b35309;--green:#0f7b53;--violet:#7048c8}}
.kf text{font:12px ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink)}
.kf .mono{font:11.5px ui-monospace,"SF Mono",Menlo,Consolas,monospace}
.kf .name{font-weight:650;font-size:13px}.kf .soft{fill:var(--soft)}.kf .slot{fill:var(--accent)}
.kf .warm{fill:var(--warm)}.kf .green{fill:var(--green)}.kf .violet{fill:var(--violet)}
.kf .card{fill:var(--card);stroke:var(--line)}.kf .ground{fill:var(--ground);stroke:var(--line)}
.kf .frame{fill:none;stroke:var(--accent);stroke-dasharray:5 4}
.kf .edge{fill:none;stroke:var(--soft);stroke-width:1.3}
.kf .copy{stroke:var(--violet);stroke-dasharray:5 4}.kf .count{stroke:var(--green)}
.kf .rule{stroke:var(--line)}
"""
COLOURS = 8
_HUES = (
    ("#5c5f66", "#9a9ea7"),
    ("#1a3bb0", "#8fb0f4"),
    ("#6a2e05", "#ea7c2c"),
    ("#067973", "#62dfda"),
    ("#92085c", "#c07dac"),
    ("#565f02", "#c5cb30"),
    ("#7844cc", "#9d82f3"),
    ("#2d6a47", "#b2efa3"),
    ("#b81430", "#f49a92"),
)
"""For light and dark: grey, and the colours of entities."""


def _hues(theme: int) -> str:
    return "".join(f".kf .e{number}{{--e:{hue[theme]}}}" for number, hue in enumerate(_HUES))


CHIPS = (
    ".kf .chip{stroke:var(--e);fill:var(--e)}.kf .chip.hollow{fill:none}"
    ".kf .letters{font-size:10px;font-weight:700;fill:var(--card)}"
    ".kf .letters.hollow{fill:var(--e)}.kf .place{fill:none;stroke:var(--line);stroke-width:1.3}"
    f"{_hues(0)}@media screen and (prefers-color-scheme:dark){{{_hues(1)}}}\n"
)
MONO = 6.95
SANS = 6.6
_TEMPLATE = re.compile(r"(\{[^{}]*\})")


def mono_width(text: str) -> float:
    return len(text) * MONO


def sans_width(text: str) -> float:
    return len(text) * SANS


@dataclass
class Drawing:
    """A picture that grows with what is put on it."""

    title: str
    parts: list[str] = field(default_factory=list)
    style: str = STYLE
    width: float = 0
    height: float = 0
    left: float = 0

    def grow(self, right: float, bottom: float) -> None:
        self.width, self.height = max(self.width, right), max(self.height, bottom)

    def box(
        self, x: float, y: float, width: float, height: float, kind: str = "card", r: int = 8
    ) -> None:
        self.grow(x + width, y + height)
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="{r}"/>'
        )

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        place = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{place}>{escape(text)}</text>'
        )
        wide = mono_width(text) if "mono" in kind else sans_width(text)
        self.grow(x + (wide if anchor == "start" else 0), y + 4)

    def template(self, x: float, y: float, text: str) -> None:
        """A key, its values in another colour."""
        spans = "".join(
            f'<tspan class="slot">{escape(part)}</tspan>' if part.startswith("{") else escape(part)
            for part in _TEMPLATE.split(text)
            if part
        )
        self.parts.append(f'<text class="mono" x="{x:.1f}" y="{y:.1f}">{spans}</text>')
        self.grow(x + mono_width(text), y + 4)

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.parts.append(
            f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )

    def arrow(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        kind: str = "",
        *,
        through: float | None = None,
        head: bool = True,
    ) -> None:
        """A curve from one side to another, which may come straight `through` something first."""
        bend = max(24.0, abs(x2 - x1) / 2) * (1 if x2 >= x1 else -1)
        back = -bend
        if abs(x2 - x1) < 1:
            bend = back = 46.0
        self.grow(max(x1, x2) + (bend if bend == back else 0), max(y1, y2) + 2)
        start = f"M{x1 if through is None else through:.1f},{y1:.1f} H{x1:.1f}"
        curve = f"C{x1 + bend:.1f},{y1:.1f} {x2 + back:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
        end = f' marker-end="url(#kf-{kind or "plain"})"' if head else ""
        self.parts.append(f'<path class="edge {kind}" d="{start} {curve}"{end}/>')

    def chip(self, x: float, middle: float, name: str, colour: int, hollow: bool) -> None:
        """A mark of two letters for an entity; a copy's is hollow."""
        self.style = STYLE + CHIPS
        letters = "".join(c for c in name if c.isupper())[:2]
        letters = letters if len(letters) > 1 else name[:2]
        kind = f"e{colour}{' hollow' if hollow else ''}"
        self.parts.append(
            f'<rect class="chip {kind}" x="{x:.1f}" y="{middle - 7:.1f}" width="22" height="14" '
            f'rx="3"/><text class="letters {kind}" x="{x + 11:.1f}" y="{middle + 3.5:.1f}" '
            f'text-anchor="middle">{escape(letters)}</text>'
        )

    def bracket(self, x: float, start: float, end: float, kind: str) -> None:
        """An arrow that leaves the left side and comes back to it, above or below."""
        self.left = min(self.left, x - 4)
        self.parts.append(
            f'<path class="edge {kind}" d="M0,{start:.1f} H{x:.1f} V{end:.1f} H-1" '
            f'marker-end="url(#kf-{kind})"/>'
        )

    def place(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """From an item to its entry in an index."""
        bend = (x2 - x1) / 2
        self.parts.append(
            f'<path class="place" d="M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} '
            f'{x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"/>'
        )

    def render(self) -> str:
        pad = 12
        wide, high = self.width - self.left + 2 * pad, self.height + 2 * pad
        heads = "".join(
            f'<marker id="kf-{name}" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0,0.6 L7.4,4 L0,7.4 z" '
            f'style="fill:var({colour})"/></marker>'
            for name, colour in (("plain", "--soft"), ("copy", "--violet"), ("count", "--green"))
        )
        return (
            f'<svg class="kf" xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="{self.left - pad:.0f} {-pad} {wide:.0f} {high:.0f}" width="{wide:.0f}" '
            f'height="{high:.0f}"><title>{escape(self.title)}</title><style>{self.style}</style>'
            f"<defs>{heads}</defs>{''.join(self.parts)}</svg>\n"
        )
