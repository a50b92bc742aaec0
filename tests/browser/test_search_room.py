"""Search Room's page as a couple uses it: a board of homes, wishes, a score, words."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import APIResponse, Browser, Page, Route, expect
from starlette.applications import Starlette

from keyfold_systems.search_room.design import design
from keyfold_systems.search_room.service import SearchRoom
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served

PEOPLE = [Identity.of("mia", name="Mia Keller"), Identity.of("jonas", name="Jonas Haas")]


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db, following([db]):
            service = SearchRoom(db)
            for one in PEOPLE:
                await service.save_name(one.id, one.name)
            people = {service.name: PEOPLE}
            yield create_app([service], ApiSettings(development=True, people=people))

    with served(opened) as address:
        yield address


def sign_in(page: Page, site: str, who: str, place: str = "rooms", theme: str = "light") -> None:
    page.goto(f"{site}/search-room/app/?theme={theme}#/{place}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).not_to_have_text("Sign in")


def open_room(page: Page, name: str) -> str:
    page.get_by_role("button", name="New room").click()
    page.fill("#room-title", name)
    page.get_by_role("button", name="Open it").click()
    expect(page.locator("h1")).to_have_text(name)
    return page.url.rpartition("/")[2]


def pin(page: Page, title: str, price: int, rooms: float, place: str) -> None:
    page.get_by_role("button", name="Add a home").click()
    page.fill("#listing-title", title)
    page.fill("#listing-place", place)
    page.fill("#listing-price", str(price))
    page.fill("#listing-rooms", str(rooms))
    page.get_by_role("button", name="Pin it").click()
    expect(page.locator("#board")).to_contain_text(title)


def want(page: Page, price: int, rooms: float, places: str) -> None:
    page.get_by_role("button", name="What I want").click()
    page.fill("#want-price", str(price))
    page.fill("#want-rooms", str(rooms))
    page.fill("#want-places", places)
    page.locator("#want").get_by_role("button", name="Save").click()
    expect(page.locator("#want")).to_be_hidden()


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    wrong = [(one["id"], [n["html"] for n in one["nodes"]]) for one in found.response["violations"]]
    assert wrong == []


def test_a_couple_compares_homes_with_what_each_wants(
    page: Page, browser: Browser, site: str
) -> None:
    sign_in(page, site, "mia")
    room = open_room(page, "Our first home")
    page.fill("#member", "jonas")
    page.get_by_role("button", name="Take in").click()
    pin(page, "Bright flat", 2100, 3.5, "Bern")

    phone = browser.new_page(viewport={"width": 390, "height": 800})
    sign_in(phone, site, "jonas", f"rooms/{room}")
    want(page, 2500, 3, "Bern, Thun")
    want(phone, 1900, 3, "Bern")
    row = page.locator("#board tbody tr", has_text="Bright flat")
    expect(row.locator(".fit.yes")).to_have_count(5)
    expect(row.locator(".fit.no")).to_have_count(1)

    phone.get_by_role("button", name="I have seen Bright flat").click()
    expect(row.locator("select")).to_have_value("SEEN")
    row.locator("select").select_option("ACCEPTED")
    expect(phone.locator("#board select")).to_have_value("ACCEPTED")
    row.locator("select").select_option("VISIT_PLANNED")  # a wrong tap is undone
    expect(phone.locator("#board select")).to_have_value("VISIT_PLANNED")

    page.get_by_role("button", name="Compute the score").click()
    expect(phone.locator("#score .big")).to_contain_text("%")
    page.get_by_role("button", name="what suits all").click()
    expect(phone.locator("#combined")).to_contain_text(re.compile("up to 1.900"))
    phone.fill("#say", "Saturday at ten?")
    phone.get_by_role("button", name="Send").click()
    expect(page.locator("#talk")).to_contain_text("Saturday at ten?")

    # On a phone the board scrolls by itself, and says so.
    expect(phone.locator(".scroll-hint")).to_be_visible()
    wide = "one => one.scrollWidth > one.clientWidth"
    assert phone.locator("#board").evaluate(wide)
    fits(phone)
    fits(page)
    # The board is the first thing that one sees.
    page.get_by_role("link", name="Board").click()
    expect(page.locator("#board")).to_contain_text("Bright flat")
    phone.close()


def test_the_same_home_is_pinned_once(page: Page, site: str) -> None:
    sign_in(page, site, "mia")
    open_room(page, "Twice")
    pin(page, "Loft", 1800, 2.5, "Bern")
    for _ in range(2):
        page.get_by_role("button", name="Add a home").click()
        page.fill("#listing-title", "House")
        page.fill("#listing-id", "4001")
        page.get_by_role("button", name="Pin it").click()
        expect(page.locator("#board")).to_contain_text("House")
    expect(page.locator(".toast.bad")).to_contain_text("in the room already")
    page.locator("#pin [data-close]").click()


def test_an_owner_deletes_the_room(page: Page, site: str) -> None:
    sign_in(page, site, "mia", theme="dark")
    open_room(page, "Not for long")
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Delete the room").click()
    expect(page.locator("h1")).to_have_text("Rooms")
    expect(page.locator(".rooms")).not_to_contain_text("Not for long")
    fits(page)


def test_what_one_deletes_is_not_reported_as_lost(page: Page, site: str) -> None:
    sign_in(page, site, "mia")
    open_room(page, "Slow to go")
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/rooms/*", lambda route: hold(route, held))
    page.once("dialog", lambda asked: asked.accept())
    with page.expect_response(lambda answer: answer.status in {403, 404}):
        page.get_by_role("button", name="Delete the room").click()
    expect(page.locator("#lost")).to_be_empty()
    (late,) = held
    late[0].fulfill(response=late[1])
    expect(page.locator("h1")).to_have_text("Rooms")


def hold(route: Route, held: list[tuple[Route, APIResponse]]) -> None:
    """The room is deleted, and its page does not know it yet."""
    if route.request.method == "DELETE":
        held.append((route, route.fetch()))
    else:
        route.fallback()
