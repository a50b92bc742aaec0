"""The first page: what is here, and what somebody should look at."""

from __future__ import annotations

from dataclasses import replace

from starlette.testclient import TestClient

from keyfold.review.check import Silenced
from keyfold_workbench.studio import StudioSystem

from .test_data import words


def test_findings_are_named_where_nothing_worse_is_and_the_worst_come_first(
    system: StudioSystem, browser: TestClient
) -> None:
    (some, *_) = system.review.findings
    found = (
        replace(some, severity="note", subject="Club", message="`one` thing"),
        replace(some, severity="note", subject="Member", message="another thing"),
        replace(some, severity="error", subject="Mine", message="a grave thing"),
    )
    system.review = replace(system.review, findings=found)
    page = words(browser.get("/").text)
    assert "Nothing to do" not in page
    assert "Club: one thing" in page, "backquotes mark code and are not shown"
    assert f"({some.code}), and 1 more" in page
    assert page.index("a grave thing") < page.index("one thing")


def test_home_says_what_may_be_changed(system: StudioSystem, browser: TestClient) -> None:
    assert "writable" in words(browser.get("/").text)
    system.writable = False
    assert "read-only" in words(browser.get("/").text)


def test_what_was_accepted_in_place_stands_beside_the_findings_with_its_reason(
    system: StudioSystem, browser: TestClient
) -> None:
    assert "Accepted in place" not in words(browser.get("/s/clubs/review").text)
    (some, *_) = system.review.findings
    silenced = Silenced(some, "a club has few members")
    system.review = replace(system.review, silenced=(silenced,))
    page = words(browser.get("/s/clubs/review").text)
    assert "Accepted in place 1" in page
    assert "“a club has few members”" in page


def test_the_search_finds_systems_patterns_and_entities_from_home(browser: TestClient) -> None:
    page = browser.get("/").text
    found = page[page.index('id="find"') :]
    assert '<a href="/s/clubs/map">' in found
    assert '<a href="/s/clubs/patterns/clubs_of_city">' in found
    assert '<a href="/s/clubs/data?entity=Member">' in found
