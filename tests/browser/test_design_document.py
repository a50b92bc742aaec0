"""The document of a design in a browser: nothing is cut, all can be read, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from keyfold.design.file import load
from keyfold.review import docs

SYSTEMS = Path(__file__).parents[2] / "systems" / "src" / "keyfold_systems"
NAMES = ("inviter", "search_room", "tamafriends", "gg_core", "sellers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    for name in NAMES:
        docs.write(docs.files(load(SYSTEMS / name / "as_written.yaml"), made / f"{name}.html"))
    return made


@pytest.fixture(params=NAMES)
def document(request: pytest.FixtureRequest, folder: Path) -> Path:
    return folder / f"{request.param}.html"


@pytest.fixture
def largest(folder: Path) -> Path:
    return folder / "gg_core.html"


def opened(browser: Browser, path: Path, scheme: str) -> Page:
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": 1400, "height": 1000},
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("requestfailed", lambda failed: problems.append(failed.url))
    page.goto(path.as_uri())
    assert problems == []
    return page


def test_texts_stay_inside_their_cards(browser: Browser, document: Path) -> None:
    page = opened(browser, document, "light")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg.kf')].flatMap(svg => {
            const cards = [...svg.querySelectorAll('rect.card')].map(r => r.getBBox());
            return [...svg.querySelectorAll('text')].filter(text => {
                const box = text.getBBox();
                const card = cards.find(c => box.x >= c.x && box.x < c.x + c.width
                    && box.y >= c.y && box.y < c.y + c.height);
                return card && box.x + box.width > card.x + card.width + 1;
            }).map(text => text.textContent);
        })"""
    )
    assert outside == []


def test_pictures_show_all_that_is_drawn(browser: Browser, document: Path) -> None:
    page = opened(browser, document, "light")
    cut = page.evaluate(
        """() => [...document.querySelectorAll('svg.kf')].filter(svg => {
            const box = svg.getBBox(), view = svg.viewBox.baseVal;
            return box.x < view.x || box.y < view.y
                || box.x + box.width > view.x + view.width + 1
                || box.y + box.height > view.y + view.height + 1;
        }).map(svg => svg.querySelector('title').textContent)"""
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_its_ground(browser: Browser, largest: Path, scheme: str) -> None:
    page = opened(browser, largest, scheme)
    faint = page.evaluate(
        """() => {
            const light = colour => {
                const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(v => {
                    const c = v / 255;
                    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = light(getComputedStyle(document.body).backgroundColor);
            return ['h1', 'td', 'th', 'p', 'nav li a', 'code .slot', 'figcaption'].filter(name => {
                const found = document.querySelector(name);
                if (!found) return false;
                const ink = light(getComputedStyle(found).color);
                const [dark, bright] = [ink, ground].sort((a, b) => a - b);
                return (bright + 0.05) / (dark + 0.05) < 4.5;
            });
        }"""
    )
    assert faint == []


def test_the_menu_leads_to_its_sections(browser: Browser, largest: Path) -> None:
    page = opened(browser, largest, "light")
    page.get_by_role("link", name="Findings", exact=True).click()
    expect(page.locator("#findings h2")).to_be_in_viewport()


def test_a_phone_need_not_scroll_sideways(browser: Browser, largest: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(largest.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_paper_no_name_is_broken_and_no_column_cut(browser: Browser, document: Path) -> None:
    page = opened(browser, document, "light")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 695, "height": 1000})  # A4 without its margins.
    wrong = page.evaluate(
        """() => {
            const cut = [...document.querySelectorAll('table')].filter(
                table => table.getBoundingClientRect().right > innerWidth + 1);
            const broken = [...document.querySelectorAll('#entities td:first-child code')].filter(
                name => name.getClientRects().length > 1);
            return [...cut, ...broken].map(one => one.textContent.slice(0, 60));
        }"""
    )
    assert wrong == []
