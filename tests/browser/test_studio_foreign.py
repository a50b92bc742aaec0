"""The studio over a table of strangers: a drafted design, long ids, binaries, maps, scripts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from keyfold_engine.clients import Client, connect
from keyfold_workbench.adopt import item_sample
from keyfold_workbench.adopt.description import live_table
from keyfold_workbench.adopt.inspection import inspect
from keyfold_workbench.studio import Gate, create_studio
from keyfold_workbench.studio.process import StudioOptions, open_systems

from .conftest import served

TABLE: Final = "Helpdesk"
TENANTS: Final = tuple(f"{one}84e0c4b-92d7-4c1a-8a55-1b7f6a9cef3c" for one in range(3))
TENANT: Final = TENANTS[0]
ULID: Final = "01JDQKFBF5KZNWJ47TAN9ZT2{:02}"
LONG: Final = "path/" + "x" * 894
SUBJECTS: Final = ("Printer 🔥", "לא עובד", "محمد السيد", "Cannot log in", "a" * 300)
DIGITS: Final = "12345678901234567890123456789012345678"


def items() -> Iterator[dict[str, Any]]:
    """Tenants, tickets and documents, as an application that keyfold never saw writes them."""
    for tenant in TENANTS:
        yield {
            "PK": {"S": f"TENANT#{tenant}"},
            "SK": {"S": "PROFILE"},
            "entityType": {"S": "Tenant"},
            "tenantId": {"S": tenant},
            "name": {"S": "株式会社"},
            "balance": {"N": DIGITS},
            "logo": {"B": b64encode(b"\x89PNG\r\n\x1a\n" + bytes(200)).decode()},
            "settings": {"M": {"limits": {"L": [{"N": "1"}, {"M": {"deep": {"NULL": True}}}]}}},
        }
    for number in range(60):
        ulid = ULID.format(number)
        yield {
            "PK": {"S": f"TENANT#{TENANTS[number % 3]}"},
            "SK": {"S": f"TICKET#{ulid}"},
            "entityType": {"S": "Ticket"},
            "tenantId": {"S": TENANTS[number % 3]},
            "ticketId": {"S": ulid},
            "subject": {"S": SUBJECTS[number % len(SUBJECTS)]},
        }
    for number in range(10):
        yield {
            "PK": {"S": f"DOC#{LONG}{number}"},
            "SK": {"S": "META"},
            "entityType": {"S": "Document"},
            "docId": {"S": f"{LONG}{number}"},
            "title": {"S": f"Document {number}"},
        }


def fill(client: Client) -> None:
    key = [{"AttributeName": n, "KeyType": k} for n, k in (("PK", "HASH"), ("SK", "RANGE"))]
    types = [{"AttributeName": n, "AttributeType": "S"} for n in ("PK", "SK")]
    made = {"KeySchema": key, "AttributeDefinitions": types, "BillingMode": "PAY_PER_REQUEST"}
    client.call("CreateTable", {"TableName": TABLE, **made})
    for item in items():
        client.call("PutItem", {"TableName": TABLE, "Item": item})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("foreign")
    data, file = folder / "foreign.db", folder / "helpdesk.yaml"
    client = connect(str(data))
    fill(client)
    sample = item_sample.Sample(TABLE)
    item_sample.read(client, sample, 500)
    file.write_text(inspect(live_table(client, TABLE), sample).text(), encoding="utf-8")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        systems = open_systems(StudioOptions(target=str(file), backend=str(data)), client)
        yield create_studio(systems, Gate(token="a-token"))

    with served(opened) as address:
        yield address
    client.close()


PAGES: Final = (
    "/",
    "{s}/map",
    "{s}/data",
    "{s}/data?entity=Ticket",
    "{s}/data?entity=Document",
    "{s}/data?entity=Tenant",
    "{s}/data?table=Helpdesk&pk=TENANT%23" + TENANT,
    "{s}/patterns",
    "{s}/review",
    "{s}/streams",
)
CUT: Final = """() => [...document.querySelectorAll('main :is(a, button, h1, td, dd)')]
    .filter((one) => one.checkVisibility() && !one.closest('.scroll, pre, .tabs, .pick, .map'))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.textContent.slice(0, 60))"""
"""What leaves the window at its right."""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_any_key_and_value_fits(page: Page, site: str, width: int, theme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{site}/?token=a-token")
    for path in PAGES:
        page.goto(site + path.format(s="/s/Helpdesk"))
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(CUT) == [], path
        if width < 1920:  # Nothing but the width differs there.
            found = [one["id"] for one in Axe().run(page).response["violations"]]
            assert found == [], path


def test_an_id_is_short_in_lists_and_whole_beside_them(page: Page, site: str) -> None:
    page.goto(f"{site}/?token=a-token")
    page.goto(f"{site}/s/Helpdesk/data?entity=Ticket")
    first = page.locator(".rows .row").first
    assert first.locator(".v").first.get_attribute("title") in TENANTS
    assert first.locator(".name").inner_text() in SUBJECTS
    middle = first.locator(".mid").first
    assert middle.evaluate("(one) => getComputedStyle(one).fontSize") == "0px"
    whole = page.locator("#detail .dh .mid").first
    assert whole.evaluate("(one) => getComputedStyle(one).fontSize") == "12px"


def test_maps_are_trees_and_binaries_are_downloaded(page: Page, site: str) -> None:
    page.goto(f"{site}/?token=a-token")
    page.goto(f"{site}/s/Helpdesk/data?entity=Tenant")
    detail = page.locator("#detail")
    expect(detail).to_contain_text(DIGITS)
    expect(detail).to_contain_text("208 bytes, PNG by its first bytes")
    expect(detail).to_contain_text("89 50 4e 47")
    detail.get_by_text("limits", exact=True).click()
    detail.get_by_text("map, 1 field").last.click()
    expect(detail.get_by_text("null", exact=True)).to_be_visible()
    with page.expect_download() as download:
        detail.get_by_role("link", name="Download").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_pattern_is_open_with_its_answer(page: Page, site: str) -> None:
    page.goto(f"{site}/?token=a-token")
    page.goto(f"{site}/s/Helpdesk/patterns")
    page.locator(".pick a", has_text="ticket").first.click()
    expect(page.locator("#run")).to_contain_text("Read units")
    expect(page.locator("#run")).to_contain_text('"TableName"')


def test_a_filter_reads_on_and_adds_up(page: Page, site: str) -> None:
    page.goto(f"{site}/?token=a-token")
    page.goto(f"{site}/s/Helpdesk/data?entity=Ticket")
    page.fill("#value", "printer")
    page.keyboard.press("Enter")
    expect(page.locator(".looked")).to_contain_text("12 found. Looked at 73 of 73")
    expect(page.locator(".rows .row")).to_have_count(12)
