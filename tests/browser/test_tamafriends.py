"""TamaFriends as its people use it: one at a desk, one on a phone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from keyfold.streams import AsyncConsumer
from keyfold_systems.tamafriends.demo import OWNERS, fill
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.service import TamaFriends
from keyfold_web import Identity
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.consumers import following

from .conftest import served

APP = "/tama-friends/app/"
PLACES = {
    "#/": "article >> nth=0",
    "#/liked": "article >> nth=0",
    "#/mine": ".portrait",
    "#/pets/omar": ".portrait",
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    people = [Identity.of(id, name=name) for id, name, *_ in OWNERS]
    people.append(Identity.of("mia", name="Mia Kern"))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with await design.open_async(":memory:") as db:
            await fill(db)
            await AsyncConsumer(db).drain()
            async with following([db]):
                service = TamaFriends(db)
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
    page.goto(f"{site}{APP}{place}")


def test_a_new_pet_moves_in_follows_posts_and_is_liked(page: Page, phone: Page, site: str) -> None:
    visit(page, site, "mia")
    fields = {
        "Name of your pet": "Pip",
        "Your name": "Mia Kern",
        "Handle": "mia",
        "User name": "mia.kern",
        "Email": "mia@example.com",
    }
    for label, value in fields.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("Kind").select_option("bird")
    page.get_by_role("button", name="Move in").click()
    expect(page.locator(".empty")).to_contain_text("Follow a pet")

    page.goto(f"{site}{APP}#/pets/yuki")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    page.goto(f"{site}{APP}#/")
    expect(page.locator("article").first).to_contain_text("Mochi")

    page.get_by_role("button", name="New picture").click()
    page.get_by_label("What happened?").fill("First flight, into the curtain")
    page.locator("#compose").get_by_text("Night").click()
    page.get_by_role("button", name="Post", exact=True).click()
    card = page.locator("article", has_text="First flight")
    expect(card.get_by_alt_text("Pip, a bird: night")).to_be_visible()

    visit(phone, site, "yuki", "#/pets/mia")
    post = phone.locator("article", has_text="First flight")
    post.get_by_label("Like, 0 so far").click()
    expect(post.get_by_label("Like, 1 so far")).to_be_visible()
    post.get_by_role("link", name="0 comments").click()
    phone.get_by_label("Comment", exact=True).fill("Ours does exactly that")
    phone.get_by_role("button", name="Send").click()
    expect(phone.locator(".talked")).to_contain_text("Ours does exactly that")
    expect(phone.get_by_role("button", name="Delete picture")).to_have_count(0)


def test_what_is_drawn_again_keeps_the_focus(page: Page, site: str) -> None:
    visit(page, site, "omar")
    expect(page.locator("article").nth(3)).to_be_visible()
    heart = page.locator("article").nth(3).locator(".heart")
    before = heart.get_attribute("aria-pressed")
    heart.focus()
    page.keyboard.press("Enter")
    expect(heart).not_to_have_attribute("aria-pressed", before or "")
    expect(heart).to_be_focused()


def test_the_author_deletes_a_picture(page: Page, site: str) -> None:
    visit(page, site, "sven", "#/mine")
    card = page.locator("article").first
    words = card.locator(".words").inner_text()
    card.locator(".screen").click()
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Delete picture").click()
    expect(page.locator(".portrait")).to_be_visible()
    expect(page.locator("article", has_text=words)).to_have_count(0)


def test_a_wall_is_shown_page_by_page(page: Page, site: str) -> None:
    visit(page, site, "lena")
    cards = page.locator("article")
    expect(cards.first).to_be_visible()
    while page.get_by_role("button", name="Show more").is_visible():
        page.get_by_role("button", name="Show more").click()
        page.wait_for_load_state("networkidle")
    texts = cards.locator(".words").all_inner_texts()
    assert len(texts) == len(set(texts))
    assert texts


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everybody_can_read_it_on_a_phone_and_on_a_desk(
    page: Page, site: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{site}{APP}?theme={theme}#/")
    visit(page, site, "yuki")
    for place, shown in PLACES.items():
        page.goto(f"{site}{APP}?theme={theme}{place}")
        expect(page.locator(shown)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
        assert found.response["violations"] == []
