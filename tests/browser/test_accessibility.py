"""Every place and every dialog of every system, for every sight, on a phone and on a desk.

And the main story of each by keyboard alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import served
from .town import ADA, BEN, NAMES, call, make_something, place_of, quiet_town, visit

PLACES: Final = {
    "inviter": ["", "groups"],
    "search-room": ["", "rooms"],
    "tama-friends": ["", "liked", "mine", "pets/ada"],
    "gg-core": ["", "rooms", "goals", "people", "people/ben"],
    "sellers": ["", "stands", "catalogs", "you"],
}
OPENED: Final = {
    "inviter": [("", "Plan a hangout"), ("groups", "New group")],
    "search-room": [("rooms", "New room")],
    "tama-friends": [("", "New picture")],
    "gg-core": [
        ("goals", "Set a goal"),
        ("goals", "Take on a quest"),
        ("people", "Found a group"),
    ],
    "sellers": [("stands", "New stand"), ("stands", "Use a code"), ("catalogs", "New catalog")],
}


CUT_OFF: Final = """() => [...document.querySelectorAll('#main :is(button, a.btn)')]
    .filter((one) => one.checkVisibility() && !one.closest('.scroll, .tabs'))
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.textContent)"""
"""Buttons of which a part is outside."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(quiet_town) as address:
        yield address


@pytest.fixture(scope="module")
def made(site: str) -> dict[str, Any]:
    return {system: make_something(site, system) for system in NAMES}


def check(page: Page, where: str) -> None:
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width, where
    assert page.evaluate(CUT_OFF) == [], where
    found = Axe().run(page).response["violations"]
    wrong = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]
    assert wrong == [], where


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1280, "dark")])
@pytest.mark.parametrize("system", NAMES)
def test_everybody_can_read_every_place(
    page: Page, site: str, made: dict[str, Any], system: str, width: int, theme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
    page.goto(f"{site}/{system}/app/")
    expect(page.locator(".welcome")).to_be_visible()
    check(page, "signed out")
    page.click("#who")
    check(page, "who are you?")
    page.keyboard.press("Escape")
    visit(page, site, system, "noor")
    for place in PLACES[system]:
        page.goto(f"{site}/{system}/app/#/{place}")
        page.wait_for_load_state("networkidle")
        check(page, place)
    for place, name in OPENED[system]:
        page.goto(f"{site}/{system}/app/#/{place}")
        page.get_by_role("button", name=name).click()
        expect(page.locator("dialog[open]")).to_be_visible()
        check(page, name)
        page.keyboard.press("Escape")
    # What Ada made, as Ben sees it.
    visit(page, site, system, "ben", place_of(system, made[system]))
    page.wait_for_load_state("networkidle")
    check(page, "what was made")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_whoever_owns_a_group_reaches_every_button(page: Page, site: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    town = call(site, "inviter", ADA, "/groups", {"name": f"Early birds at {width}"})["groupId"]
    call(site, "inviter", BEN, f"/groups/{town}/members", {})
    visit(page, site, "inviter", "ada", f"groups/{town}")
    expect(page.locator("#view").get_by_text("Ben Okafor")).to_be_visible()
    check(page, "inviter")


class Keys:
    """Somebody who has only a keyboard."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, name: str) -> None:
        """Tab to what is called so."""
        for _ in range(80):
            self.page.keyboard.press("Tab")
            called = self.page.evaluate(
                """() => { const one = document.activeElement;
                    const label = one.id && document.querySelector(`label[for="${one.id}"]`);
                    const read = one.cloneNode(true);
                    read.querySelectorAll('[aria-hidden=true]').forEach((each) => each.remove());
                    return [one.ariaLabel, label?.textContent, one.labels?.[0]?.textContent,
                        read.textContent].map((each) => (each || '').trim()); }"""
            )
            if any(each == name or each.startswith(name) for each in called if each):
                return
        raise AssertionError(f"Tab does not lead to {name}")

    def press(self, name: str) -> None:
        self.reach(name)
        self.page.keyboard.press("Enter")

    def type(self, name: str, text: str) -> None:
        self.reach(name)
        self.page.keyboard.type(text)


@pytest.fixture
def keys(page: Page) -> Keys:
    return Keys(page)


def enter(keys: Keys, site: str, system: str) -> None:
    keys.page.goto(f"{site}/{system}/app/")
    expect(keys.page.locator(".welcome")).to_be_visible()
    keys.press("Sign in")
    keys.press("Ada Lang")
    expect(keys.page.locator("#who .clip")).to_have_text("Ada Lang")


def test_a_hangout_is_planned_and_answered_by_keyboard(keys: Keys, site: str) -> None:
    enter(keys, site, "inviter")
    keys.page.keyboard.press("n")
    expect(keys.page.locator("#plan")).to_be_visible()
    keys.page.keyboard.type("Keyboard swim")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("h1")).to_have_text("Keyboard swim")
    keys.press("Maybe")
    expect(keys.page.locator("#tally")).to_contain_text("1maybe")


def test_a_room_is_opened_and_a_home_added_by_keyboard(keys: Keys, site: str) -> None:
    enter(keys, site, "search-room")
    keys.press("Rooms")
    keys.press("New room")
    keys.page.keyboard.type("Keyboard flat")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("h1")).to_have_text("Keyboard flat")
    keys.press("Add a home")
    keys.page.keyboard.type("Attic")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("#board tbody th")).to_contain_text("Attic")
    keys.press("I have seen Attic")
    expect(keys.page.get_by_label("Status of Attic")).to_have_value("SEEN")


def test_a_post_is_written_and_liked_by_keyboard(keys: Keys, site: str) -> None:
    enter(keys, site, "tama-friends")
    keys.press("New picture")
    keys.type("What happened?", "All by keys")
    keys.press("Post")
    post = keys.page.locator("article", has_text="All by keys")
    expect(post).to_be_visible()
    keys.press("Like, 0 so far")
    expect(post.get_by_label("Like, 1 so far")).to_be_visible()


def test_a_goal_is_set_and_a_step_done_by_keyboard(keys: Keys, site: str) -> None:
    enter(keys, site, "gg-core")
    keys.press("Goals")
    keys.press("Set a goal")
    keys.page.keyboard.type("Type blindly")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator(".goal")).to_contain_text("Type blindly")
    keys.type("Another step towards Type blindly", "First row")
    keys.page.keyboard.press("Enter")
    step = keys.page.get_by_label("First row")
    expect(step).to_be_visible()
    keys.reach("First row")
    keys.page.keyboard.press("Space")
    expect(step).to_be_disabled()


def test_a_stand_is_opened_and_an_order_taken_by_keyboard(keys: Keys, site: str) -> None:
    enter(keys, site, "sellers")
    keys.press("Stands")
    keys.press("New stand")
    keys.page.keyboard.type("Keyboard stand")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("h1")).to_have_text("Keyboard stand")
    make_something(site, "sellers")
    keys.press("New season")
    expect(keys.page.locator("#season")).to_be_visible()
    keys.page.keyboard.type("Autumn")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("h1")).to_have_text("Autumn")
    keys.press("More Thin mint")
    keys.type("Who orders?", "Ms. Doe")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator(".order")).to_contain_text("Ms. Doe")
