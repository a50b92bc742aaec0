"""Whatever people report on a page is decided on the page of moderators, and leaves a trail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from .conftest import served
from .town import NAMES, make_something, place_of, quiet_town, visit

SHOWN = {
    "inviter": "Night swim",
    "search-room": "Loft",
    "tama-friends": "Look what hatched",
    "gg-core": "Ran ten kilometres",
    "sellers": "Cookies of Ada",
}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served(quiet_town) as address:
        yield address


def press_report(page: Page, system: str) -> None:
    if system == "search-room":
        page.click(".home .title")
        page.locator("#details").get_by_role("button", name="Report").click()
    else:
        page.get_by_role("button", name="Report").first.click()
    if system == "tama-friends":
        page.select_option("#why-reason", "abuse")
        page.fill("#why-text", "Not nice at all")
    else:
        page.get_by_label("What is wrong?").fill("Not nice at all")
    page.get_by_role("button", name="Report it").click()
    expect(page.locator(".toast", has_text="A moderator will look at it")).to_be_visible()


@pytest.mark.parametrize("system", NAMES)
def test_a_report_is_decided_and_stands_in_the_trail(
    page: Page, browser: Browser, site: str, system: str
) -> None:
    made = make_something(site, system)
    ben = visit(page, site, system, "ben", place_of(system, made))
    expect(ben.get_by_role("link", name="Moderation")).to_have_count(0)
    press_report(ben, system)

    # On a phone: what it is, whose, who says what, and two ways to decide.
    phone = browser.new_page(viewport={"width": 390, "height": 800})
    noor = visit(phone, site, system, "noor")
    noor.get_by_role("link", name="Moderation").click()
    waiting = noor.locator(".reported", has_text=SHOWN[system])
    expect(waiting).to_contain_text("Ada Lang")
    expect(waiting).to_contain_text("Ben Okafor")
    expect(waiting).to_contain_text("Not nice at all")
    waiting.get_by_role("button", name="Suspend Ada Lang").click()
    noor.locator("#decision-reason").fill("Cool down")
    noor.locator("dialog[open] .btn.danger").click()
    expect(noor.locator("#trail")).to_contain_text("You suspended")
    waiting.get_by_role("button", name="Remove it").click()
    noor.locator("dialog[open] .btn.danger").click()
    expect(noor.locator("dialog[open] .err")).to_be_visible()
    noor.locator("#decision-reason").fill("Nobody wants this")
    noor.locator("dialog[open] .btn.danger").click()
    expect(waiting).to_have_count(0)
    expect(noor.locator("#trail")).to_contain_text("You removed")
    expect(noor.locator("#trail")).to_contain_text("Nobody wants this")

    # It is gone for whom it troubled.
    ben.reload()
    expect(ben.locator("#main")).not_to_contain_text(SHOWN[system])
    phone.close()


@pytest.mark.parametrize("system", NAMES)
def test_who_is_no_moderator_sees_no_reports(page: Page, site: str, system: str) -> None:
    visit(page, site, system, "ben", "moderation")
    expect(page.locator("#main")).to_contain_text("For moderators")
