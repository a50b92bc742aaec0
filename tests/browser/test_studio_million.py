"""The studio on a table of a million items: found, listed, followed, edited, page by page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Browser, Page, expect

from keyfold_engine.engine import Engine

from .test_studio_elsewhere import running

ITEMS, TOGETHER, IN_ONE = 1_000_000, 50, 200_000
"""Items, those of a usual partition, and those of the largest."""
DESIGN = """
from keyfold import Design, Entity, Id, Key, Query

design = Design("fair")
table = design.table("Fair")


class Stand(Entity, table=table):
    hall_id: Id
    stand_id: Id
    title: str
    key = Key("HALL#{hall_id}", "STAND#{stand_id}")


@design.pattern(requests=1)
def stands(hall_id: str, limit: int = 20) -> Query[Stand]:
    return Stand.key.query(hall_id=hall_id).limit(limit)
"""


def batches() -> Iterator[tuple[str, bytes]]:
    for at in range(0, ITEMS, 25):
        puts = []
        for number in range(at, at + 25):
            hall = 0 if number < IN_ONE else number // TOGETHER
            names = {"PK": f"HALL#{hall:06d}", "SK": f"STAND#{number:07d}", "type": "Stand"}
            names |= {"hallId": f"{hall:06d}", "standId": f"{number:07d}", "title": f"No. {number}"}
            puts.append({"PutRequest": {"Item": {n: {"S": text} for n, text in names.items()}}})
        yield "BatchWriteItem", orjson.dumps({"RequestItems": {"Fair": puts}})


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    (tmp_path / "fair.py").write_text(DESIGN)
    key = [{"AttributeName": n, "KeyType": k} for n, k in (("PK", "HASH"), ("SK", "RANGE"))]
    with Engine.open(str(tmp_path / "fair.db"), durability="relaxed") as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Fair",
                "AttributeDefinitions": [
                    {"AttributeName": one["AttributeName"], "AttributeType": "S"} for one in key
                ],
                "KeySchema": key,
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        waiting = batches()
        while together := list(itertools.islice(waiting, 40)):
            engine.call_many_bytes(together)
    expect.set_options(timeout=60_000)
    wanted = ("fair:design", "--backend", "fair.db", "--port", "0")
    with running(tmp_path, "studio", *wanted) as process:
        assert process.stdout is not None
        start = next(line for line in process.stdout if line.startswith("Studio:")).split()[1]
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(60_000)
        made = context.new_page()
        made.goto(start)
        yield made
        context.close()


def test_a_million_items_are_found_listed_read_and_changed_page_by_page(page: Page) -> None:
    expect(page.locator("table.systems")).to_contain_text(f"{ITEMS:,}")
    page.click("table.systems >> text=fair")

    # Counts of entities are estimates, and say so.
    page.click(".side >> text=Data")
    expect(page.locator("main")).to_contain_text("~")
    page.click(".side .ents >> text=Stand")
    expect(page.locator(".rows .row")).to_have_count(100)

    # The largest partition comes in pages, and the next page goes on where this one ends.
    base = page.url.partition("/data")[0]
    page.goto(f"{base}/data?table=Fair&pk=HALL%23000000")
    rows = page.locator(".rows .row")
    first = rows.count()
    assert 0 < first <= 1000
    last = rows.nth(first - 1).locator(".key").first.inner_text()
    page.click("text=Next page")
    expect(rows.first.locator(".key").first).not_to_have_text("STAND#0000000")
    assert rows.first.locator(".key").first.inner_text() > last

    # An item from the middle, by its key; a pattern on its partition; and a change.
    page.keyboard.press("/")
    page.keyboard.type("HALL#014000")
    expect(page.locator(".live a").first).to_contain_text("HALL#014000")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("HALL%23014000"))
    expect(rows).to_have_count(TOGETHER)
    page.goto(f"{base}/patterns/stands?hall_id=014000&limit=20&run=1")
    expect(page.locator(".stats").first).to_contain_text("of 1 allowed")
    page.goto(f"{base}/edit?table=Fair&pk=HALL%23014000&sk=STAND%230700007")
    page.fill("#f-title", "Lamps")
    page.click("text=Show the plan")
    page.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent: 1 item")
