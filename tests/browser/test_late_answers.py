"""A slow server: pages say at once what they are, and late answers undo nothing that was done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from .conftest import served
from .town import ADA, BEN, NAMES, call, quiet_town, visit

TITLED = {
    "inviter": [
        "",
        "groups",
        "groups/any",
        "join/any",
        "hangouts/any",
        "news",
        "you",
        "moderation",
    ],
    "search-room": ["", "rooms/any", "join/any/any", "news", "you", "moderation"],
    "tama-friends": ["", "activity", "find", "you", "people/ada", "posts/any", "moderation"],
    "gg-core": ["feed", "rooms", "rooms/any", "goals", "people", "groups/any", "news", "you"],
    "sellers": ["", "catalogs", "stands/any", "seasons/any", "news", "you", "moderation"],
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
@pytest.mark.parametrize("system", NAMES)
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


def post_of_ben(page: Page, site: str, text: str) -> Any:
    """A post of Ben's that Ada has before her."""
    made = call(site, "tama-friends", BEN, "/posts", {"text": text})
    visit(page, site, "tama-friends", "ada", f"posts/{made['postId']}")
    expect(page.get_by_label("Like, 0 so far")).to_be_visible()
    return made["postId"]


def test_what_is_drawn_again_under_a_finger_is_still_pressed(page: Page, site: str) -> None:
    post = post_of_ben(page, site, "Press me")
    page.get_by_label("Like, 0 so far").hover()
    page.mouse.down()
    call(site, "tama-friends", BEN, f"/posts/{post}/likes", {})
    page.wait_for_timeout(500)
    page.mouse.up()
    expect(page.get_by_label("Like, 2 so far")).to_be_visible()


def test_what_is_drawn_again_keeps_the_focus(page: Page, site: str) -> None:
    post = post_of_ben(page, site, "Enter me")
    page.get_by_label("Like, 0 so far").focus()
    call(site, "tama-friends", BEN, f"/posts/{post}/likes", {})
    expect(page.get_by_label("Like, 1 so far")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Like, 2 so far")).to_be_visible()
    expect(page.get_by_label("Like, 2 so far")).to_be_focused()


def test_a_list_that_grows_keeps_the_focus(page: Page, site: str) -> None:
    visit(page, site, "tama-friends", "ben")
    page.fill("#say", "The first of two")
    page.get_by_role("button", name="Post", exact=True).click()
    like = page.locator("article", has_text="The first of two").get_by_label("Like,")
    like.focus()
    call(site, "tama-friends", BEN, "/users/ben/following", {"followeeId": "ada"})
    call(site, "tama-friends", ADA, "/posts", {"text": "Another above it"})
    expect(page.locator("article .words").first).to_have_text("Another above it")
    expect(like).to_be_focused()


def test_what_was_typed_stays_in_what_is_drawn_again(page: Page, site: str) -> None:
    goal = call(site, "gg-core", ADA, "/goals", {"title": "Learn to type"})["goalId"]
    visit(page, site, "gg-core", "ada", "goals")
    field = page.get_by_label("Another step towards Learn to type")
    field.press_sequentially("Half a ")
    call(site, "gg-core", ADA, f"/goals/{goal}/tasks", {"title": "From elsewhere"})
    expect(page.locator("#all-goals")).to_contain_text("From elsewhere")
    page.keyboard.type("step")
    expect(field).to_have_value("Half a step")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Half a step")).to_be_visible()
    expect(field).to_have_value("")


@pytest.mark.parametrize("late", ["home", "posts"])
def test_late_posts_undo_neither_a_post_nor_a_like(page: Page, site: str, late: str) -> None:
    visit(page, site, "tama-friends", "noor")
    pattern = f"**/users/noor/{late}?*"
    waiting: list[tuple[Route, APIResponse]] = []
    page.route(pattern, lambda one: waiting.append((one, one.fetch())))
    page.reload()
    with page.expect_response("**/posts"):
        page.fill("#say", f"Before the {late}")
        page.get_by_role("button", name="Post", exact=True).click()
    post = page.locator("article", has_text=f"Before the {late}")
    post.get_by_label("Like, 0 so far").click()
    expect(post.get_by_label("Like, 1 so far")).to_be_visible()
    # Read before the post was there, answered after it was liked.
    page.unroute(pattern)
    assert waiting
    for route, answer in waiting:
        route.fulfill(response=answer)
    page.wait_for_load_state("networkidle")
    expect(post.get_by_label("Like, 1 so far")).to_be_visible()
