"""The reports of cost and advice in a browser: charts whole, nothing beside the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from keyfold.cli import main

SYSTEMS = Path(__file__).parents[2] / "systems" / "src" / "keyfold_systems"
TARGETS = {
    "inviter": "design",
    "search_room": "design",
    "tamafriends": "design",
    "gg_core": "design",
    "sellers": "current",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reports")
    for name, module in TARGETS.items():
        target = f"keyfold_systems.{name}.{module}:design"
        load = str(SYSTEMS / name / "workload.yaml")
        for command in ("cost", "advise"):
            out = str(made / f"{name}-{command}.html")
            assert main([command, target, "-w", load, "--format", "html", "-o", out]) == 0
    return made


@pytest.fixture(
    scope="module",
    params=[f"{name}-{command}" for name in TARGETS for command in ("cost", "advise")],
)
def report(request: pytest.FixtureRequest, browser: Browser, folder: Path) -> Iterator[Page]:
    page = opened(browser, folder / f"{request.param}.html", 1400)
    yield page
    page.close()


def opened(browser: Browser, path: Path, width: int, scheme: str = "light") -> Page:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("requestfailed", lambda failed: problems.append(failed.url))
    page.goto(path.as_uri())
    assert problems == []
    return page


def test_nothing_stands_beside_the_page(report: Page) -> None:
    for width in (390, 820, 1400):
        report.set_viewport_size({"width": width, "height": 900})
        assert report.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


def test_charts_are_whole(report: Page) -> None:
    cut = report.evaluate(
        """() => [...document.querySelectorAll('svg.kf')].flatMap(svg => {
            const [x, y, width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
            return [...svg.querySelectorAll('text, rect')].filter(part => {
                const box = part.getBBox();
                return box.x < x || box.y < y || box.x + box.width > x + width + 1
                    || box.y + box.height > y + height + 1;
            }).map(part => part.textContent || part.outerHTML);
        })"""
    )
    assert cut == []


def test_labels_do_not_run_into_their_bars(report: Page) -> None:
    crossed = report.evaluate(
        """() => [...document.querySelectorAll('svg.kf')].flatMap(svg => {
            const bars = [...svg.querySelectorAll('rect')].map(r => r.getBBox());
            return [...svg.querySelectorAll('text')].filter(text => {
                const t = text.getBBox();
                return bars.some(b => t.x < b.x + b.width - 1 && t.x + t.width > b.x + 1
                    && t.y < b.y + b.height - 3 && t.y + t.height > b.y + 3);
            }).map(text => text.textContent);
        })"""
    )
    assert crossed == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_stand_under_each_other(browser: Browser, folder: Path, scheme: str) -> None:
    page = opened(browser, folder / "sellers-advise.html", 1400, scheme)
    ends = page.evaluate(
        """() => [...document.querySelector('#before-after table').rows]
            .map(row => Math.round(row.cells[1].getBoundingClientRect().right))"""
    )
    assert len(set(ends)) == 1
    assert page.locator("#before-after td.figure").count() > 20
    page.close()
