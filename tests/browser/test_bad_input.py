"""What goes wrong at a page is said clearly, and nothing that was typed is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from .conftest import served
from .town import ADA, BEN, call, quiet_town, visit

MARKUP = "<img src=x onerror=alert(1)> & <b>Co</b>"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(quiet_town) as address:
        yield address


FORMS = {
    "inviter": ("groups", "New group", "#group-name", 200, "Create it"),
    "search-room": ("rooms", "New room", "#room-title", 120, "Open it"),
    "gg-core": ("goals", "Set a goal", "#goal-title", 200, "Set it"),
    "sellers": ("stands", "New stand", "#seller-name", 200, "Open it"),
}


@pytest.mark.parametrize("system", FORMS)
def test_nothing_blanks_and_too_much_are_refused_at_the_field(
    page: Page, site: str, system: str
) -> None:
    place, opens, field, most, sends = FORMS[system]
    visit(page, site, system, "ada", place)
    page.get_by_role("button", name=opens).click()
    said = page.locator(f".field:has({field}) .err")
    send = page.locator("dialog[open]").get_by_role("button", name=sends)
    send.click()
    expect(said).to_contain_text("fill out this field")
    expect(page.locator(field)).to_be_focused()
    page.fill(field, "   ")
    send.click()
    expect(said).to_contain_text("fill out this field")
    # What was pasted is there to be shortened.
    page.fill(field, "x" * (most + 5))
    send.click()
    expect(said).to_contain_text(f"At most {most} characters; these are {most + 5}.")
    assert len(page.input_value(field)) == most + 5


@pytest.mark.parametrize("system", FORMS)
def test_markup_is_words_and_a_double_click_sends_once(page: Page, site: str, system: str) -> None:
    place, opens, field, _, sends = FORMS[system]
    visit(page, site, system, "ben", place)
    page.get_by_role("button", name=opens).click()
    page.fill(field, MARKUP)
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    page.locator("dialog[open]").get_by_role("button", name=sends).dblclick()
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("#main")).to_contain_text(MARKUP)
    expect(page.locator("#main img[src=x]")).to_have_count(0)
    assert len(sent) == 1


def test_a_post_of_nothing_and_one_too_long_are_refused(page: Page, site: str) -> None:
    visit(page, site, "tama-friends", "ada")
    page.get_by_role("button", name="New picture").click()
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("#compose .err")).to_contain_text("fill out this field")
    page.fill("#text", "x" * 2001)
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("#compose .err")).to_contain_text("At most 2000 characters")
    page.fill("#text", MARKUP)
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article .words")).to_have_text(MARKUP)


LOST = {
    "inviter": ["hangouts/none", "groups/none"],
    "search-room": ["rooms/none"],
    "tama-friends": ["posts/none", "pets/nobody_at_all"],
    "gg-core": ["groups/none", "rooms/none", "people/none"],
    "sellers": ["stands/none", "stands/none/seasons/none"],
}


@pytest.mark.parametrize("system", LOST)
def test_what_is_not_there_is_said_and_no_empty_frame_is_left(
    page: Page, site: str, system: str
) -> None:
    visit(page, site, system, "ada")
    for place in [*LOST[system], "no/such/place"]:
        page.goto(f"{site}/{system}/app/#/{place}")
        expect(page.locator("#lost h1")).to_be_visible()
        # Whoever comes back to the address reads the same.
        page.reload()
        expect(page.locator("#lost h1")).to_be_visible()
        expect(page.locator("#lost p")).not_to_be_empty()
        expect(page).to_have_url(f"{site}/{system}/app/#/{place}")
    expect(page.locator("#lost p")).to_have_text("This page does not exist.")
    page.get_by_role("link", name="Back to start").click()
    expect(page.locator("#lost")).to_be_hidden()


def test_what_is_said_before_a_room_has_loaded_is_said_in_this_room(page: Page, site: str) -> None:
    """The first room is still on its way from the server when somebody writes in the second."""
    first, second = (
        call(site, "search-room", ADA, "/rooms", {"name": name, "searchType": "rent"})["roomId"]
        for name in ("First room", "Second room")
    )
    visit(page, site, "search-room", "ada", f"rooms/{first}")
    expect(page.locator("h1")).to_have_text("First room")
    slow: list[Route] = []
    page.route(f"**/search-room/rooms/{second}", lambda one: slow.append(one))
    page.goto(f"{site}/search-room/app/#/rooms/{second}")
    expect(page.locator("h1")).to_have_text("A room")
    page.fill("#say", "Only for the second")
    with page.expect_response("**/messages"):
        page.get_by_role("button", name="Send").click()
    page.unroute(f"**/search-room/rooms/{second}")
    for one in slow:
        one.continue_()
    expect(page.locator("#talk")).to_contain_text("Only for the second")
    expect(page.locator("h1")).to_have_text("Second room")
    page.goto(f"{site}/search-room/app/#/rooms/{first}")
    expect(page.locator("h1")).to_have_text("First room")
    expect(page.locator("#talk")).not_to_contain_text("Only for the second")


def test_the_way_back_leads_out_of_a_dialog(page: Page, site: str) -> None:
    visit(page, site, "inviter", "ada")
    page.get_by_role("link", name="Groups").click()
    page.get_by_role("button", name="New group").click()
    expect(page.locator("#name")).to_be_visible()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Calendar")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.get_by_role("link", name="Groups").click()
    expect(page.locator("h1")).to_have_text("Groups")


def test_while_the_connection_is_gone_words_stay_and_afterwards_all_is_there(
    browser: Browser, site: str
) -> None:
    context = browser.new_context()
    page = visit(context.new_page(), site, "tama-friends", "ben")
    page.get_by_role("button", name="New picture").click()
    context.set_offline(True)
    page.fill("#text", "Is anybody there?")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator(".toast.bad").first).to_contain_text("The server cannot be reached")
    assert page.input_value("#text") == "Is anybody there?"
    expect(page.get_by_role("button", name="Post", exact=True)).to_be_enabled()
    context.set_offline(False)
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article", has_text="Is anybody there?")).to_have_count(1)
    context.close()


def test_what_changed_while_nobody_was_connected_is_there_afterwards(page: Page, site: str) -> None:
    """The socket closes under the page, as when a train enters a tunnel."""
    page.add_init_script(
        """window.made = []; const Known = WebSocket;
        window.WebSocket = class extends Known {
          constructor(...all) { super(...all); window.made.push(this);
            if (window.tunnel) this.close(); } };"""
    )
    call(site, "gg-core", BEN, "/following/ada", {})
    visit(page, site, "gg-core", "ben")
    expect(page.locator(".trail")).to_contain_text("Nothing yet")
    page.evaluate("window.tunnel = true; window.made.forEach((one) => one.close())")
    expect(page.locator("#offline")).to_be_visible()
    call(site, "gg-core", ADA, "/activities", {"previewText": "Out of the tunnel"})
    page.evaluate("window.tunnel = false")
    expect(page.locator("#offline")).to_be_hidden(timeout=20_000)
    expect(page.locator(".trail")).to_contain_text("Out of the tunnel")


def test_signed_out_in_another_tab_the_words_stay_until_one_signs_in_again(
    browser: Browser, site: str
) -> None:
    context = browser.new_context()
    first = visit(context.new_page(), site, "tama-friends", "ada")
    first.get_by_role("button", name="New picture").click()
    second = context.new_page()
    second.goto(f"{site}/tama-friends/app/")
    expect(second.locator("#who .clip")).to_have_text("Ada Lang")
    first.fill("#text", "Half a sentence")
    second.click("#who")
    second.click("#sign-out")
    expect(second.locator(".welcome")).to_be_visible()
    expect(first.locator(".toast.bad")).to_contain_text("signed out in another tab")
    expect(first.locator("#who")).to_have_text("Sign in")
    first.get_by_role("button", name="Post", exact=True).click()
    expect(first.locator("#people")).to_be_visible()
    first.click("#people [data-id=ada]")
    expect(first.locator("#who .clip")).to_have_text("Ada Lang")
    assert first.input_value("#text") == "Half a sentence"
    first.get_by_role("button", name="Post", exact=True).click()
    expect(first.locator("article", has_text="Half a sentence")).to_have_count(1)
    context.close()
