"""A slow server: pages say at once what they are, and late answers undo nothing that was done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from .conftest import served
from .town import ADA, call, quiet_town, visit

TITLED = {
    "inviter": ["", "groups", "groups/any", "join/any", "hangouts/any"],
    "search-room": ["", "rooms", "rooms/any"],
    "tama-friends": ["", "liked", "mine", "pets/any", "posts/any"],
    "gg-core": ["", "goals", "people", "people/any", "groups/any"],
    "sellers": ["", "stands", "catalogs", "stands/any", "stands/any/seasons/any", "you"],
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(quiet_town) as address:
        yield address


def hold(page: Page, pattern: str, method: str = "GET") -> list[Route]:
    """Requests that wait in the list until somebody lets them go."""
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        if route.request.method == method and "/app/" not in route.request.url:
            waiting.append(route)
        else:
            route.fallback()

    page.route(pattern, keep)
    return waiting


@pytest.mark.parametrize("who", ["ada", "noor"])
@pytest.mark.parametrize("system", TITLED)
def test_every_place_has_its_heading_before_anything_is_loaded(
    page: Page, site: str, system: str, who: str
) -> None:
    visit(page, site, system, who)
    hold(page, f"**/{system}/**")
    for place in TITLED[system]:
        page.goto(f"{site}/{system}/app/#/{place}")
        expect(page.locator("h1:visible")).to_have_count(1)
        expect(page.locator("h1:visible")).not_to_have_text("")
        page.reload()
        expect(page.locator("h1:visible")).to_have_count(1)
        expect(page.locator("h1:visible")).not_to_have_text("")


def test_two_changes_of_place_at_once_draw_the_last_one_once(page: Page, site: str) -> None:
    visit(page, site, "tama-friends", "noor", "liked")
    expect(page.locator("h1")).to_have_text("Liked")
    page.evaluate(
        """() => { window.views = 0;
            new MutationObserver((seen) => seen.forEach((one) => one.addedNodes.forEach((node) => {
                if (node.id === 'view') views += 1; })))
                .observe(document, {subtree: true, childList: true});
            location.hash = '#/mine'; location.hash = '#/'; }"""
    )
    page.get_by_role("button", name="New picture").click()
    expect(page.locator("#compose")).to_be_visible()
    assert page.evaluate("views") == 1


LEFT = {
    "inviter": ["groups/any", "join/any", "hangouts/any"],
    "search-room": ["rooms/any"],
    "tama-friends": ["liked", "mine", "pets/ada", "posts/any"],
    "gg-core": ["goals", "rooms", "rooms/any", "people", "people/ben"],
    "sellers": ["catalogs", "stands/any", "stands/any/seasons/any", "you"],
}


@pytest.mark.parametrize("system", LEFT)
def test_the_late_answer_of_a_view_that_was_left_draws_nothing_over_the_next(
    page: Page, site: str, system: str
) -> None:
    visit(page, site, system, "ada")
    page.wait_for_load_state("networkidle")
    first = page.locator("h1:visible").inner_text()
    waiting: list[Route] = []
    held = False

    def keep(route: Route) -> None:
        if held and route.request.method == "GET" and "/app/" not in route.request.url:
            waiting.append(route)
        else:
            route.fallback()

    page.route(f"**/{system}/**", keep)
    for place in LEFT[system]:
        held = True
        page.goto(f"{site}/{system}/app/#/{place}")
        expect(page.locator("h1:visible")).not_to_have_text(first)
        while not waiting:
            page.wait_for_timeout(10)
        held = False
        page.goto(f"{site}/{system}/app/#/")
        expect(page.locator("h1:visible")).to_have_text(first)
        page.locator("h1:visible").evaluate("one => { one.dataset.mark = 'stays'; }")
        while waiting:
            waiting.pop().fallback()
            page.wait_for_timeout(100)
        expect(page.locator("h1:visible[data-mark=stays]")).to_have_count(1)


def test_a_room_that_was_left_reports_nothing(page: Page, site: str) -> None:
    room = call(site, "gg-core", ADA, "/rooms", {"members": ["ben"]})["roomId"]
    visit(page, site, "gg-core", "ada")
    waiting = hold(page, "**/messages?**")
    page.goto(f"{site}/gg-core/app/#/rooms/{room}")
    while not waiting:
        page.wait_for_timeout(10)
    page.goto(f"{site}/gg-core/app/#/goals")
    expect(page.locator("h1:visible")).to_have_text("Goals and quests")
    for late in waiting:
        late.fulfill(status=404, json={"status": 404, "detail": "It is gone."})
    page.wait_for_timeout(100)
    expect(page.get_by_role("button", name="Set a goal")).to_be_visible()
    expect(page.locator("#lost")).to_be_empty()
