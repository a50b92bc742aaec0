"""Pictures of a page, one after the other, as one animated SVG without scripts."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from playwright.sync_api import Locator, Page

AS_WEBP = """async ([png, quality]) => {
    const picture = new Image();
    picture.src = png;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/webp", quality);
}"""
CAPTION_HEIGHT = 44
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'


def webp(page: Page, quality: float = 0.86) -> str:
    """What the page shows, as a data address."""
    png = base64.b64encode(page.screenshot()).decode()
    made: str = page.evaluate(AS_WEBP, [f"data:image/png;base64,{png}", quality])
    return made


@dataclass
class Recording:
    """Frames that each stay for some seconds; a ring shows where the visitor clicks."""

    page: Page
    quality: float = 0.7
    frames: list[tuple[str, float, str, tuple[float, float] | None]] = field(default_factory=list)

    def show(self, caption: str, seconds: float = 1.6) -> None:
        self._add(caption, seconds, None)

    def click(self, target: Locator, caption: str, seconds: float = 1.4) -> None:
        """Show where, then click there."""
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box, "nothing to click on"
        middle = (box["x"] + min(box["width"] / 2, 60), box["y"] + box["height"] / 2)
        self._add(caption, seconds, middle)
        target.click()

    def _add(self, caption: str, seconds: float, at: tuple[float, float] | None) -> None:
        self.page.wait_for_load_state("networkidle")
        self.frames.append((webp(self.page, self.quality), seconds, caption, at))

    @property
    def seconds(self) -> float:
        return sum(frame[1] for frame in self.frames)

    def svg(self) -> str:
        size = self.page.viewport_size
        assert size
        width, height = size["width"], size["height"] + CAPTION_HEIGHT
        rules, pictures, begin = [], [], 0.0
        for number, (picture, seconds, caption, at) in enumerate(self.frames):
            first, last = 100 * begin / self.seconds, 100 * (begin + seconds) / self.seconds
            hidden = f"0%{{opacity:{int(not number)}}}"
            rules.append(
                f"@keyframes f{number}{{{hidden}{first:.3f}%,{last - 0.001:.3f}%{{opacity:1}}"
                f"{last:.3f}%,100%{{opacity:0}}}}"
                f"#f{number}{{animation:f{number} {self.seconds:.1f}s step-end infinite}}"
            )
            ring = f'<circle cx="{at[0]:.0f}" cy="{at[1]:.0f}" r="18"/>' if at else ""
            pictures.append(
                f'<g id="f{number}" class="frame">'
                f'<image width="{width}" height="{size["height"]}" href="{picture}"/>{ring}'
                f'<text x="{width / 2:.0f}" y="{height - 15}">{escape(caption)}</text></g>'
            )
            begin += seconds
        style = (
            ".frame{opacity:0}circle{fill:#4146c433;stroke:#4146c4;stroke-width:3}"
            f"text{{font:600 20px {FONT};fill:#1a1b1f;text-anchor:middle}}"
            "@media (prefers-reduced-motion:reduce){.frame{animation:none!important}"
            f"#f{len(self.frames) - 1}{{opacity:1}}}}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
            f"<style>{''.join(rules)}{style}</style>"
            f'<rect width="{width}" height="{height}" fill="#f7f7f4"/>{"".join(pictures)}</svg>\n'
        )
