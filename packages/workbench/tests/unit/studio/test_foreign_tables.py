"""Tables that keyfold did not write, with everything that DynamoDB can store in them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from starlette.testclient import TestClient

from keyfold.design.schema import TableSchema
from keyfold_engine.clients import Client, connect
from keyfold_workbench.studio import Gate, create_studio
from keyfold_workbench.studio.items import KnownItem
from keyfold_workbench.studio.process import StudioOptions, open_systems

SCRIPT = "<script>alert(1)</script>"
LONG = "x" * 390_000
DIGITS = "0.12345678901234567890123456789012345678"
NAMES = ("a/b", "ü€😀", "50%", "new\nline", "q?x=1&y#z", " ", "'\"", "..", "‮rtl", SCRIPT)


def create(client: Client, name: str, **keys: str) -> None:
    roles = zip(keys, ("HASH", "RANGE"), strict=False)
    client.call(
        "CreateTable",
        {
            "TableName": name,
            "KeySchema": [{"AttributeName": key, "KeyType": role} for key, role in roles],
            "AttributeDefinitions": [
                {"AttributeName": key, "AttributeType": kind} for key, kind in keys.items()
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )


def put(client: Client, table: str, **item: Any) -> None:
    client.call("PutItem", {"TableName": table, "Item": item})


@pytest.fixture
def browser() -> Iterator[TestClient]:
    with closing(connect(":memory:")) as client:
        create(client, "bytes", id="B", at="N")
        put(client, "bytes", id={"B": "AP8="}, at={"N": "1E-130"}, v={"N": DIGITS})
        put(client, "bytes", id={"B": "/+/+"}, at={"N": "-" + "9" * 38}, v={"NULL": True})
        deep = {"M": {SCRIPT: {"L": [{"B": "AAA="}, {"NULL": True}, {"BOOL": False}]}}}
        put(client, "bytes", id={"B": "/+/+"}, at={"N": "7"}, v=deep)
        create(client, "odd.Table-1", pk="S", sk="B")
        for name in NAMES:
            attributes = {
                SCRIPT: {"S": SCRIPT},
                "empty": {"S": ""},
                "binaries": {"BS": ["AA==", "AP8="]},
                "numbers": {"NS": ["1", "1E125"]},
                "texts": {"SS": ["a", SCRIPT]},
                "map": {"M": {}},
                "list": {"L": []},
            }
            put(client, "odd.Table-1", pk={"S": name}, sk={"B": "AA=="}, **attributes)
        create(client, "long", n="N")
        put(client, "long", n={"N": "1"}, title={"S": LONG})
        systems = open_systems(StudioOptions(target="", backend=":memory:"), client)
        studio = TestClient(
            create_studio(systems, Gate(token="t")), base_url="http://127.0.0.1:8090"
        )
        studio.get("/?token=t")
        yield studio


def test_every_link_leads_to_a_page_and_every_item_to_its_detail(browser: TestClient) -> None:
    """Whatever is in a key: each item is found again by the address that its row has."""
    seen, left, opened = {"/"}, ["/"], 0
    while left:
        where = left.pop()
        page = browser.get(where)
        assert page.status_code == 200, where
        assert SCRIPT not in page.text, where
        if "isk=" in where and "/data" in where:
            assert 'id="detail"' in page.text, where
            opened += 1
        links = {html.unescape(one) for one in re.findall(r'href="(/s/[^"]+)"', page.text)}
        left += links - seen
        seen |= links
    assert opened >= len(NAMES) + 3


def test_no_digit_of_a_number_is_lost(browser: TestClient) -> None:
    assert DIGITS in browser.get("/s/bytes/data?table=bytes&pk=AP8%3D").text


def test_a_long_value_is_cut_with_its_length_and_whole_in_the_wire_json(
    browser: TestClient,
) -> None:
    page = browser.get("/s/long/data?table=long&pk=1").text
    assert "… (390,000 characters)" in page
    assert page.count(LONG) == 1
    assert len(page) < len(LONG) + 40_000


def test_a_person_is_called_by_their_name_before_their_email() -> None:
    table = TableSchema("users", partition="id")
    wire = {"id": {"S": "u1"}, "email": {"S": "ada@example.com"}, "fullName": {"S": "Ada Lang"}}
    assert KnownItem(table, wire, None, False).title == "Ada Lang"
    del wire["fullName"]
    assert KnownItem(table, wire, None, False).title == "ada@example.com"
