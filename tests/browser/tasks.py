"""What a task takes in the studio, counted as somebody does it, beside what the guide says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, Request

GUIDE: Final = Path(__file__).parents[2] / "docs" / "guide" / "studio.md"
ROW: Final = re.compile(r"^\| ([^|]+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def told() -> dict[str, tuple[int, int]]:
    """The clicks and requests of each task, as the guide's table has them."""
    rows = ROW.findall(GUIDE.read_text("utf-8"))
    return {task: (int(clicks), int(requests)) for task, clicks, requests in rows}


class Counted:
    """Clicks, and requests for pages and parts of them; live numbers are asked for without end."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.requests = page, 0, 0
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        self.requests += request.is_navigation_request() or request.headers.get("x-part") == "1"

    def click(self, selector: str) -> None:
        self.clicks += 1
        self.page.locator(selector).first.click()

    def taken(self) -> tuple[int, int]:
        """What was taken since the last time."""
        found = self.clicks, self.requests
        self.clicks = self.requests = 0
        return found
