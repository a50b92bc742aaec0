"""The simulation as a page of the studio."""

from __future__ import annotations

from starlette.testclient import TestClient

from keyfold_workbench.cost import loads
from keyfold_workbench.studio import StudioSystem

from .conftest import design
from .test_data import words

WORKLOAD = """
design: clubs
users: 10000
entities:
  CityClub: {items: 100000, bytes: 400, copies: 3, hottest: {city_id: 0.5}}
patterns:
  clubs_of_city: {rate: 50, page: 10}
"""


def test_the_page_says_what_breaks_first_and_what_was_tried(
    system: StudioSystem, browser: TestClient
) -> None:
    system.workload = loads(WORKLOAD, design.schema)
    page = words(browser.get("/s/clubs/scale?users=100000000").text)
    assert "At 10^8 users" in page
    assert "key range" in page
    assert "warm throughput for the peaks no help" in page
    calm = words(browser.get("/s/clubs/scale?users=10000").text)
    assert "No call is refused" in calm


def test_without_users_the_page_asks_for_them(system: StudioSystem, browser: TestClient) -> None:
    assert "users: 20000" in words(browser.get("/s/clubs/scale").text)
