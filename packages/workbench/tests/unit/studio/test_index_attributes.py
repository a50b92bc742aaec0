"""An index whose keys are several attributes each, on every page that shows it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from keyfold import Db, Design, Entity, Id, Index, Key, On, Query
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

from .conftest import TOKEN
from .test_data import words
from .test_edit import form, post

design = Design("homes")
table = design.table(
    "Homes",
    indexes=[Index("ByPlace", ("country", "city"), ("rooms", "rent"), sort_type="N")],
    stream="NEW_AND_OLD_IMAGES",
)


class Home(Entity, table=table):
    """A home to let."""

    home_id: Id
    country: str
    city: str
    rooms: int
    rent: Decimal
    key = Key("HOME#{home_id}", "HOME")
    by_place = On("ByPlace", ("country", "city"), ("rooms", "rent"))


@design.pattern(requests=1)
def homes_in(country: str, city: str, rooms: int) -> Query[Home]:
    """Homes of a city with so many rooms, the cheapest first."""
    return Home.by_place.query(country=country, city=city, rooms=rooms).limit(20)


CITY = 'Bonn "#1"'
BONN = json.dumps(["de", CITY])
THERE = f"/s/homes/data?table=Homes&index=ByPlace&pk={quote(BONN)}"


@pytest.fixture
def homes() -> Iterator[Db]:
    with design.open(":memory:") as opened:
        for at, (rooms, rent) in enumerate(((2, 900), (2, 80), (3, 1000))):
            opened.create(
                Home(
                    home_id=f"h{at}",
                    country="de",
                    city=CITY,
                    rooms=rooms,
                    rent=Decimal(rent),
                )
            )
        yield opened


@pytest.fixture
def visitor(homes: Db) -> TestClient:
    system = StudioSystem(
        slug="homes",
        title="Homes",
        schema=design.schema,
        client=homes.client,
        place="homes.db",
        writable=True,
        design=design,
    )
    made = TestClient(create_studio([system], Gate(token=TOKEN)), base_url="http://127.0.0.1:8090")
    assert made.get(f"/?token={TOKEN}").status_code == 200
    return made


def test_a_partition_of_the_index_is_listed_by_its_numbers(visitor: TestClient) -> None:
    page = visitor.get(THERE)
    assert page.status_code == 200
    rows = re.findall(r'ipk=HOME%23(h\d)[^"]*" class="row', page.text)
    assert rows == ["h1", "h0", "h2"]
    assert "One partition of ByPlace" in words(page.text)
    assert f"de › {CITY}" in words(page.text), "the key is told by its values"


def test_rows_of_the_index_show_the_attributes_that_order_them(visitor: TestClient) -> None:
    page = words(visitor.get(THERE).text)
    assert page.index("2 › 80") < page.index("2 › 900") < page.index("3 › 1000")


def test_an_item_leads_to_its_place_in_the_index_and_back(visitor: TestClient) -> None:
    page = visitor.get("/s/homes/data?table=Homes&pk=HOME%23h1").text
    ways = [html.unescape(way) for way in re.findall(r'href="([^"]*index=ByPlace[^"]*)"', page)]
    assert ways
    for way in ways:
        there = visitor.get(way)
        assert there.status_code == 200
        assert "HOME%23h0" in there.text


def test_a_partition_key_that_is_not_of_this_index_is_refused_with_a_reason(
    visitor: TestClient,
) -> None:
    for wrong in ("de", '["de"]', '["de", "Bonn", "x"]', "[1", '{"a": 1}'):
        page = visitor.get(f"/s/homes/data?table=Homes&index=ByPlace&pk={quote(wrong)}")
        assert page.status_code == 404, wrong
        assert "country, city" in words(page.text), wrong


def test_the_index_is_found_from_a_partition_without_items(visitor: TestClient) -> None:
    page = visitor.get("/s/homes/data?table=Homes&pk=HOME%23none")
    assert page.status_code == 200
    for way in re.findall(r'href="([^"]*index=ByPlace[^"]*)"', page.text):
        assert visitor.get(html.unescape(way)).status_code == 200


def test_the_map_patterns_and_plans_know_each_attribute(visitor: TestClient) -> None:
    drawn = words(visitor.get("/s/homes/map").text)
    assert "ByPlace country, city / rooms, rent {country} › {city}" in drawn
    asked = f"country=de&city={quote(CITY)}&rooms=2&run=1"
    ran = words(visitor.get(f"/s/homes/patterns/homes_in?{asked}").text)
    assert "Items 2 Requests 1 of 1 allowed" in ran
    assert "HOME# h1" in ran
    edited = "/s/homes/edit?table=Homes&pk=HOME%23h1&sk=HOME"
    sent = form(visitor.get(edited).text, "/s/homes/plan") | {"f-rent": "85", "verb": "update"}
    planned = words(post(visitor, "/s/homes/plan", sent).text)
    assert "rent 80 → 85" in planned
    assert "1 indexes" in planned or "2 indexes" in planned
    for page in ("", "/review", "/streams", "/data", "/data?entity=Home"):
        assert visitor.get(f"/s/homes{page or '/map'}").status_code == 200, page
