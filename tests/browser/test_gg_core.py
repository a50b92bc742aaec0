"""gg_core's own page: a feed, goals and quests, rooms, as two people use it at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold.streams import AsyncConsumer
from keyfold_systems.gg_core.demo import USERS, fill
from keyfold_systems.gg_core.design import design
from keyfold_systems.gg_core.service import GgCore
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served

APP = "/gg-core/app/"
PLACES = {
    "#/": ".step >> nth=0",
    "#/goals": ".goal >> nth=0",
    "#/people": ".rows a >> nth=0",
    "#/rooms": ".rows a >> nth=0",
    "#/people/lina.haas": ".step >> nth=0",
    "#/groups/early": ".rows a >> nth=0",
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    people = [Identity.of(id, *groups, name=name) for id, name, groups in USERS]
    people.append(Identity.of("cem", name="Cem Kaya"))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db:
            await fill(db)
            await AsyncConsumer(db).drain()
            async with following([db]):
                service = GgCore(db)
                settings = ApiSettings(development=True, people={service.name: people})
                yield create_app([service], settings)

    with served(opened) as address:
        yield address


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    yield page
    page.close()


def visit(page: Page, site: str, who: str, place: str = "") -> None:
    page.goto(f"{site}{APP}")
    page.click("#who")
    page.click(f"#people [data-id={who}]")
    expect(page.locator("#who .clip")).not_to_have_text("Sign in")
    page.goto(f"{site}{APP}#/{place}")


def test_a_post_comes_to_who_follows_as_it_happens(page: Page, phone: Page, site: str) -> None:
    visit(page, site, "ada")
    expect(page.locator(".step").first).to_be_visible()
    visit(phone, site, "ben")
    phone.fill("#said", "Up before the sun")
    phone.get_by_role("button", name="Post", exact=True).click()
    expect(phone.locator(".step").first).to_contain_text("Up before the sun")
    new = page.locator(".step", has_text="Up before the sun")
    expect(new).to_contain_text("Ben Okafor")
    expect(new.locator(".tag")).to_have_count(0)


def test_the_feed_shows_who_is_promoted(page: Page, site: str) -> None:
    visit(page, site, "ada")
    expect(page.locator(".step.copied .tag").first).to_have_text("promoted")
    expect(page.locator(".step:not(.copied)").first).to_be_visible()


def test_somebody_new_begins_follows_and_joins(page: Page, site: str) -> None:
    visit(page, site, "cem")
    page.get_by_label("Email").fill("cem@example.com")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("h1")).to_have_text("People and groups")
    page.get_by_label("Find somebody by nickname").fill("@lina.haas")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    page.goto(f"{site}{APP}#/groups/books")
    expect(page.locator("#view")).to_contain_text("For members")
    page.get_by_role("button", name="Join").click()
    expect(page.locator("#view")).to_contain_text("Cem Kaya")
    page.goto(f"{site}{APP}#/")
    expect(page.locator(".step", has_text="Read 24 books")).to_be_visible()


def test_a_quest_is_claimed_once_its_tasks_are_done(page: Page, site: str) -> None:
    visit(page, site, "ben", "goals")
    quest = page.locator(".quest", has_text="Three things this month")
    quest.get_by_role("button", name="Claim").click()
    expect(page.locator(".toast.bad")).to_contain_text("of 3 tasks are done")
    for step in ("Lesson 2", "Order a coffee without English"):
        page.get_by_label(step).check()
        expect(page.get_by_label(step)).to_be_disabled()
    page.get_by_label("Another step towards Speak Italian").fill("Lesson 3")
    page.get_by_role("button", name="Add").click()
    page.get_by_label("Lesson 3").check()
    expect(page.get_by_label("Lesson 3")).to_be_disabled()
    quest.get_by_role("button", name="Claim").click()
    expect(quest.locator(".tag")).to_have_text("completed")


def test_two_people_write_to_each_other(page: Page, phone: Page, site: str) -> None:
    for screen, who in ((page, "ada"), (phone, "ben")):
        visit(screen, site, who, "rooms")
        screen.locator(".rows a").first.click()
        expect(screen.locator(".said").first).to_be_visible()
    page.get_by_placeholder("Write something").fill("At the bridge")
    page.get_by_role("button", name="Send").click()
    for screen in (page, phone):
        expect(screen.locator(".said").last).to_contain_text("At the bridge")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{site}{APP}?theme={theme}")
    visit(page, site, "ada")
    for place, shown in PLACES.items():
        page.goto(f"{site}{APP}?theme={theme}{place}")
        expect(page.locator(shown)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert [one["id"] for one in found.response["violations"]] == []
