"""Review and migrations as pages; backends that are away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold.errors import Unreachable
from keyfold.migrations import Migration, TableSchema, add
from keyfold_workbench.cost import loads
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import SCRIPT, TOKEN, design
from .test_data import words
from .test_edit import form, post

WORKLOAD = """
design: clubs
entities:
  CityClub: {items: 100000, bytes: 400, copies: 3, hottest: {city_id: 0.5}}
patterns:
  clubs_of_city: {rate: 50, page: 10}
"""


@pytest.fixture
def loaded(system: StudioSystem) -> StudioSystem:
    system.workload = loads(WORKLOAD, design.schema)
    return system


def total(page: str) -> float:
    found = re.search(r"Cost a month, on demand, [\w-]+ \$([\d,.]+)", words(page))
    assert found is not None
    return float(found[1].replace(",", ""))


def test_the_bill_stands_beside_the_findings(loaded: StudioSystem, browser: TestClient) -> None:
    page = browser.get("/s/clubs/review").text
    assert loaded.bill is not None
    assert total(page) == pytest.approx(loaded.bill.dollars, abs=0.005)
    assert "No hot key" in words(page)


@pytest.fixture
def busy(system: StudioSystem) -> None:
    system.workload = loads(WORKLOAD.replace("rate: 50", "rate: 50000"), design.schema)


@pytest.mark.usefixtures("busy")
def test_a_hot_key_is_shown_with_its_share(browser: TestClient) -> None:
    assert "of a partition" in words(browser.get("/s/clubs/review").text)


def test_pages_without_content_are_not_in_the_menu(
    system: StudioSystem, browser: TestClient
) -> None:
    assert ">Migrations<" not in browser.get("/s/clubs/map").text
    assert 'data-go="p"' in browser.get("/s/clubs/map").text
    system.schema = replace(system.schema, patterns=())
    assert 'data-go="p"' not in browser.get("/s/clubs/map").text


def test_findings_stand_beside_what_they_are_about_with_their_rule(browser: TestClient) -> None:
    page = browser.get("/s/clubs/review").text
    codes = re.findall(r'href="(/s/clubs/rules/\w+)"', page)
    assert codes
    rule = words(browser.get(codes[0]).text)
    assert "Wrong found" in rule
    assert "Right not found" in rule


def test_advice_is_before_and_after(loaded: StudioSystem, browser: TestClient) -> None:
    assert "Search for a better design" in words(browser.get("/s/clubs/review").text)
    assert "before and after" in words(browser.get("/s/clubs/review?advise=1").text)


def test_findings_of_an_entity_stand_on_its_page(system: StudioSystem, browser: TestClient) -> None:
    assert "Findings" not in words(browser.get("/s/clubs/data?entity=Club").text)
    found = replace(system.review.findings[0], subject="Club on Mine", message="that is wrong")
    system.review = replace(system.review, findings=(found,))
    page = words(browser.get("/s/clubs/data?entity=Club").text)
    assert "Findings" in page
    assert "that is wrong" in page
    assert "that is wrong" not in words(browser.get("/s/clubs/data?entity=Member").text)


def test_the_map_can_be_taken_along_as_svg(browser: TestClient) -> None:
    page = browser.get("/s/clubs/map").text
    pictures = re.findall(r'href="(/s/clubs/map/[^"]+\.svg)"', page)
    assert pictures == ["/s/clubs/map/entities.svg", "/s/clubs/map/keys-Clubs.svg"]
    for path in pictures:
        answer = browser.get(path)
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "CityClub" in "".join(ElementTree.fromstring(answer.text).itertext())
    assert browser.get("/s/clubs/map/keys-Nothing.svg").status_code == 404


def test_a_migration_goes_forward_and_back_with_confirmation(
    system: StudioSystem, browser: TestClient, db: Db
) -> None:
    assert "No migration here" in words(browser.get("/s/clubs/migrations").text)
    made = TableSchema("Added", partition="PK", sort=None)
    system.migrations = [Migration("add-a-table", [add(made)], description=SCRIPT)]
    page = browser.get("/s/clubs/migrations").text
    assert SCRIPT not in page
    assert "It creates tables and indexes; nobody reads them." in words(page)
    fields = form(page, "/s/clubs/migrations")
    page = post(browser, "/s/clubs/migrations", fields | {"act": "apply"}).text
    assert "Continue to follow" in words(page)
    assert "Added" in db.client.call("ListTables", {})["TableNames"]
    unsure = post(browser, "/s/clubs/migrations", fields | {"act": "rollback"})
    assert "Type add-a-table to confirm. Nothing was done." in words(unsure.text)
    sure = fields | {"act": "rollback", "sure": "add-a-table"}
    assert "Continue to expand" in words(post(browser, "/s/clubs/migrations", sure).text)
    assert "Added" not in db.client.call("ListTables", {})["TableNames"]


class Away:
    """A backend that does not answer."""

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        raise Unreachable("connection refused")

    def close(self) -> None: ...


def test_a_backend_that_is_away_leaves_the_pages_of_the_design(system: StudioSystem) -> None:
    system.client = Away()
    client = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://localhost")
    assert "away" in words(client.get(f"/?token={TOKEN}").text)
    for page in ("map", "review", "patterns", "data"):
        answer = client.get(f"/s/clubs/{page}")
        assert answer.status_code == 200, page
    for page in ("data?entity=Club", "streams", "patterns/clubs_of_city?city_id=x&run=1"):
        answer = client.get(f"/s/clubs/{page}")
        assert answer.status_code == 503, page
        assert "The backend does not answer" in words(answer.text)
        assert "Map" in words(answer.text)


def test_a_detail_that_cannot_be_read_says_so_in_its_place(system: StudioSystem) -> None:
    system.client = Away()
    client = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://localhost")
    client.get(f"/?token={TOKEN}")
    answer = client.get("/s/clubs/data?table=Clubs&pk=CLUB%23c1", headers={"x-part": "1"})
    assert answer.status_code == 503
    assert answer.text.startswith('<div class="banner bad"')
    assert "The backend does not answer" in words(answer.text)
