"""Everybody finds their account behind their name: to change it, download it and delete it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import served
from .town import ADA, BEN, NAMES, call_with, make_something, quiet_town, sign_in, visit

NAME_FIELDS = {
    "inviter": "#own-name",
    "search-room": "#own-name",
    "tama-friends": "#profile-name",
    "gg-core": "#own-fullName",
    "sellers": "#given",
}


@pytest.fixture
def site() -> Iterator[str]:
    with served(quiet_town) as address:
        yield address


def open_account(page: Page, system: str) -> None:
    page.click("#who")
    page.click("#own")
    if system == "tama-friends":
        page.get_by_role("button", name="Settings").click()
        page.locator("#own-data").evaluate("one => { one.open = true; }")
    expect(page.get_by_role("button", name="Delete my account")).to_be_visible()


@pytest.mark.parametrize("system", NAMES)
def test_somebody_renames_themselves_downloads_their_data_and_leaves(
    page: Page, site: str, system: str
) -> None:
    make_something(site, system)
    # Who signs in again has a new profile, so what is left is read in an old session.
    old = sign_in(site, BEN)
    kept = partial(call_with, old, site, system, f"/people/{BEN.id}/data", None, "GET")
    assert kept()["items"] != []
    page.set_viewport_size({"width": 390, "height": 800})
    visit(page, site, system, "ben")
    open_account(page, system)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    assert [one["id"] for one in found] == []

    page.fill(NAME_FIELDS[system], "Benjamin O.")
    page.locator("form", has=page.locator(NAME_FIELDS[system])).locator(".btn.main").click()
    expect(page.locator("#who")).to_contain_text("Benjamin O.")
    if system == "tama-friends":
        open_account(page, system)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download my data").click()
    records = json.loads(saved.value.path().read_text("utf-8"))
    assert "Benjamin O." in json.dumps(records)

    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Delete my account").click()
    expect(page.locator("#who")).to_have_text("Sign in", timeout=20_000)
    assert kept()["items"] == []


def test_an_owner_hears_what_to_do_before_they_leave(page: Page, site: str) -> None:
    visit(page, site, "inviter", ADA.id)
    open_account(page, "inviter")
    page.once("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Delete my account").click()
    said = "Hand over or delete the groups you own first."
    expect(page.locator(".toast", has_text=said)).to_be_visible()
    expect(page.locator("#who")).to_contain_text("Ada Lang")
