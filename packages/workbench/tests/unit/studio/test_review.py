"""Review, partitions, migrations and trial as pages; backends that are away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from keyfold import Db
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold.errors import Unreachable
from keyfold.migrations import CreateTable, Migration, TableSchema
from keyfold_workbench.cost import loads
from keyfold_workbench.studio import Gate, StudioSystem, Trial, create_studio

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


def test_sliders_change_the_bill_and_what_follows(
    loaded: StudioSystem, browser: TestClient
) -> None:
    before = browser.get("/s/clubs/review").text
    assert "as the workload says" in words(before)
    part = browser.get("/s/clubs/review?traffic=10", headers={"x-part": "1"}).text
    assert part.startswith("<section")
    assert "against the workload" in words(part)
    assert total(part) > 5 * total(before)
    hot = words(browser.get("/s/clubs/review?traffic=20&sizes=20&pages=20").text)
    assert "of a partition" in hot


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


def test_partitions_show_size_largest_items_and_what_grows(browser: TestClient) -> None:
    page = words(browser.get("/s/clubs/partitions").text)
    assert "CLUB# c1 3" in page
    assert "Largest items" in page
    assert "Collections that grow Entity Most In Limit" in page


def test_heat_comes_from_the_workload(loaded: StudioSystem, browser: TestClient) -> None:
    page = words(browser.get("/s/clubs/partitions").text)
    assert "Heat as foreseen the busiest key of each, by the workload" in page


def test_heat_is_counted_by_the_engine_once_somebody_asks(browser: TestClient) -> None:
    page = browser.get("/s/clubs/partitions").text
    assert "Not counted yet" in words(page)
    page = post(browser, "/s/clubs/heat", form(page, "/s/clubs/heat") | {"act": "ENABLE"}).text
    for _ in range(3):
        browser.get("/s/clubs/data?table=Clubs&pk=CITY%23rome")
    page = browser.get("/s/clubs/partitions").text
    assert re.search(r"Clubs CITY# rome \d", words(page))
    page = post(browser, "/s/clubs/heat", form(page, "/s/clubs/heat") | {"act": "DISABLE"}).text
    assert "Not counted yet" in words(page)


def test_a_backend_elsewhere_says_that_it_does_not_count(
    system: StudioSystem, browser: TestClient, db: Db
) -> None:
    system.client = RecordedClient(db.client, ReadLimits(requests=10_000))
    assert "Not counted here" in words(browser.get("/s/clubs/partitions").text)


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


def test_a_service_is_tried_with_people_and_ids_that_exist(
    system: StudioSystem, browser: TestClient
) -> None:
    assert "No service here" in words(browser.get("/s/clubs/try").text)
    system.trial = Trial("/clubs/docs", "/clubs/graphql", "/sign-in", ["ada"])
    page = browser.get("/s/clubs/try").text
    assert 'href="/clubs/docs"' in page
    assert "Authorization: Bearer ada" in words(page)
    assert "club_id c1 c2" in words(page)


def test_a_migration_goes_forward_and_back_with_confirmation(
    system: StudioSystem, browser: TestClient, db: Db
) -> None:
    assert "No migration here" in words(browser.get("/s/clubs/migrations").text)
    made = TableSchema("Added", partition="PK", sort=None)
    system.migrations = [Migration("add-a-table", [CreateTable(made)], description=SCRIPT)]
    page = browser.get("/s/clubs/migrations").text
    assert SCRIPT not in page
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
    for page in ("map", "review", "patterns", "partitions", "try", "data"):
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
