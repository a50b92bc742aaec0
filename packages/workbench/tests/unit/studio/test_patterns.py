"""Patterns as forms: run, with what they sent and cost."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from .test_data import words

FEED = "/s/clubs/patterns/clubs_of_city"


def test_a_form_has_types_defaults_and_values_of_the_data(browser: TestClient) -> None:
    page = browser.get(FEED).text
    assert "city_id str" in words(page)
    assert "limit int = 20" in words(page)
    assert '<option value="rome">' in page
    assert 'value="paris"' in page


def test_a_run_shows_items_requests_units_budget_and_cost(browser: TestClient) -> None:
    page = words(browser.get(f"{FEED}?city_id=rome&limit=20&run=1").text)
    assert "Items 2 Requests 1 of 1 allowed Read units 0.5" in page
    assert "A million calls $0.06" in page
    assert '"KeyConditionExpression"' in page
    assert "CITY#rome" in page


def test_a_run_can_be_copied_as_python(browser: TestClient) -> None:
    page = words(browser.get(f"{FEED}?city_id=rome&limit=20&run=1").text)
    assert "clubs_of_city(db, city_id='rome', limit=20)" in page


def test_pages_follow_one_another(browser: TestClient) -> None:
    page = browser.get(f"{FEED}?city_id=rome&limit=1&run=1").text
    found = re.search(r'href="([^"]*after=[^"]*)" class="btn">Next page', page)
    assert found is not None
    following = browser.get(found[1].replace("&amp;", "&")).text
    assert "CLUB%23c2" in following


def test_a_pattern_opens_with_its_answer_to_come(browser: TestClient) -> None:
    page = browser.get(FEED).text
    assert '<div id="run" data-live class="stack">' in page
    assert "A million calls" not in page
    answered = browser.get(FEED, headers={"x-part": "run"}).text
    assert 'value="rome"' in answered, "of an item that it finds"
    assert "Items 2 Requests 1 of 1 allowed" in words(answered)
    assert "data-live" not in answered


def test_a_wrong_value_is_said_at_its_field_and_stays(browser: TestClient) -> None:
    page = browser.get(f"{FEED}?city_id=rome&limit=many&run=1").text
    assert 'aria-invalid="true"' in page
    assert 'value="many"' in page
    assert "valid integer" in page
    assert "A million calls" not in words(page)


def test_the_reasons_of_a_pattern_are_told(browser: TestClient) -> None:
    page = words(browser.get(FEED).text)
    assert "Reads Clubs, partition CITY# {city_id}" in page
    assert "carries 2 fields of Club: no canonical is read" in page
    assert "1 request, enforced when it runs" in page


def test_an_unknown_pattern_is_named(browser: TestClient) -> None:
    assert browser.get("/s/clubs/patterns/nope").status_code == 404


def test_names_values_and_numbers_of_a_request_are_told_apart(browser: TestClient) -> None:
    page = browser.get(f"{FEED}?city_id=rome&limit=20&run=1").text
    assert '<span class="k">Query</span>' in page
    assert '<span class="name">&quot;TableName&quot;</span>: <span class="s">' in page
    assert '<span class="n">20</span>' in page


def test_items_of_one_partition_are_told_by_their_sort_keys(browser: TestClient) -> None:
    page = words(browser.get(f"{FEED}?city_id=rome&limit=20&run=1").text)
    listed = page[page.index("Items sort order") : page.index("Requests, 1")]
    assert "CLUB# c1" in listed
    assert "CITY#" not in listed


def test_a_run_is_remembered_as_it_would_be_typed(browser: TestClient) -> None:
    page = browser.get(f"{FEED}?city_id=rome&limit=20&run=1").text
    assert "clubs_of_city(city_id=&quot;rome&quot;, limit=20)" in page
