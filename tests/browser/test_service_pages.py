"""A service's page for people, as two of them use it at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect
from starlette.applications import Starlette

from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app

from .board.service import Board, design
from .conftest import served

PEOPLE = {"board": [Identity.of("ada", name="Ada Lang"), Identity.of("ben", name="Ben Okafor")]}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db:
            yield create_app([Board(db)], ApiSettings(development=True, people=PEOPLE))

    with served(opened) as address:
        yield address


def sign_in(page: Page, who: str) -> None:
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who")).not_to_have_text("Sign in")


def pin(page: Page, text: str) -> None:
    page.locator("#title").click()
    page.keyboard.press("n")
    page.fill("#text", text)
    page.click("text=Pin it")


def test_what_one_person_writes_appears_on_the_page_of_another(
    page: Page, browser: Browser, site: str
) -> None:
    page.goto(f"{site}/")
    page.click("text=Use it")
    page.wait_for_url("**/board/app/**")
    sign_in(page, "ada")
    expect(page.locator("#who .clip")).to_have_text("Ada Lang")
    other = browser.new_page()
    other.goto(f"{site}/board/app/#/hall")
    expect(other.locator(".empty")).to_be_visible()

    pin(page, "Bring the ladder back")

    expect(other.locator("article")).to_have_text("ADadaBring the ladder back")
    page.get_by_label("Take down").click()
    expect(other.locator("article")).to_have_count(0)
    other.close()


def test_without_websockets_changes_come_as_server_sent_events(
    page: Page, browser: Browser, site: str
) -> None:
    def without_sockets(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(" data-sockets", ""))

    page.route("**/board/app/", without_sockets)
    page.goto(f"{site}/board/app/#/yard")
    expect(page.locator(".empty")).to_be_visible()
    other = browser.new_page()
    other.goto(f"{site}/board/app/#/yard")
    sign_in(other, "ben")
    pin(other, "Who has a drill?")
    expect(page.locator("article p")).to_have_text("Who has a drill?")
    other.close()


def test_the_explorer_listens_to_a_subscription(page: Page, browser: Browser, site: str) -> None:
    page.goto(f"{site}/board/graphql")
    page.locator("#schema button", has_text="noteChanged").click()
    page.fill("#variables", '{"boardId": "attic"}')
    page.click("#run")
    expect(page.locator("#answer")).to_have_text("Listening ...")
    other = browser.new_page()
    other.goto(f"{site}/board/app/#/attic")
    sign_in(other, "ben")
    pin(other, "Boxes in the attic")
    expect(page.locator("#answer")).to_contain_text("Boxes in the attic")
    other.close()


def test_an_error_stands_at_its_field_and_what_was_typed_stays(page: Page, site: str) -> None:
    page.goto(f"{site}/board/app/#/hall")
    sign_in(page, "ben")
    pin(page, "hi")
    expect(page.locator(".field:has(#text) .err")).to_contain_text("at least 3 characters")
    expect(page.locator("#text")).to_be_focused()
    assert page.input_value("#text") == "hi"
    page.fill("#text", "hi all")
    page.click("text=Pin it")
    expect(page.locator("#new")).to_be_hidden()
    expect(page.locator(".toast", has_text="Pinned")).to_be_visible()


def test_who_has_not_signed_in_is_asked_who_they_are(page: Page, site: str) -> None:
    page.goto(f"{site}/board/app/#/yard")
    pin(page, "A note of nobody")
    expect(page.locator("#people")).to_be_visible()


def test_a_page_takes_no_script_but_its_own(page: Page, site: str) -> None:
    answer = page.goto(f"{site}/board/app/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{site}/board/app/?theme={theme}#/hall")
    sign_in(page, "ada")
    expect(page.locator("#notes > *").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.response["violations"] == []
