"""A migration that moves items, in the studio: forward, refused, back, and to its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from .tasks import Counted, told
from .test_studio_elsewhere import running

OLD = """
from keyfold import Design, Entity, Key

design = Design("shop")
table = design.table("Orders", partition="orderId", sort=None, stream="NEW_AND_OLD_IMAGES")


class Order(Entity, table=table):
    order_id: str
    season_id: str
    total: int
    key = Key("{order_id}")
"""
NEW = """
from keyfold import Design, Entity, Key

design = Design("shop")
table = design.table("SeasonOrders")


class Order(Entity, table=table):
    order_id: str
    season_id: str
    total: int
    key = Key("SEASON#{season_id}", "ORDER#{order_id}")
"""
ORDERS = """
from shop import Order, design
with design.open("shop.db") as db:
    for number in range(60):
        db.create(Order(order_id=f"o{number}", season_id=f"s{number % 5}", total=number))
"""
PLAN = "0001_by_season"
SHOTS: tuple[tuple[str, int], ...] = (("light", 1280), ("dark", 390))


def keyfold(folder: Path, *command: str) -> None:
    subprocess.run([sys.executable, "-m", "keyfold", *command], cwd=folder, check=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A shop whose orders lie under their own id, and the plan that puts them under seasons."""
    (tmp_path / "shop.py").write_text(OLD)
    subprocess.run([sys.executable, "-c", ORDERS], cwd=tmp_path, check=True)
    keyfold(tmp_path, "migrations", "snapshot", "--design", "shop:design")
    (tmp_path / "shop.py").write_text(NEW)
    wanted = ("migrations", "plan", "by-season", "--design", "shop:design", "--backend", "shop.db")
    keyfold(tmp_path, *wanted)
    return tmp_path


@pytest.fixture
def page(browser: Browser, shop: Path) -> Iterator[Page]:
    expect.set_options(timeout=30_000)
    wanted = ("shop:design", "--backend", "shop.db", "--migration", PLAN, "--port", "0")
    with running(shop, "studio", *wanted) as process:
        assert process.stdout is not None
        start = next(line for line in process.stdout if line.startswith("Studio:")).split()[1]
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(30_000)
        made = context.new_page()
        made.goto(start)
        made.goto(start.partition("?")[0] + "s/shop/migrations")
        yield made
        context.close()


def phase(page: Page) -> Locator:
    return page.locator(".phases [aria-current=step]")


def go_on(page: Page, to: str) -> None:
    page.click(f"text=Continue to {to}")
    expect(phase(page)).to_contain_text(to)


def confirm(page: Page, button: str, typed: str = PLAN) -> None:
    form = page.locator("form", has=page.locator(f"button:has-text('{button}')"))
    form.locator("input[name=sure]").fill(typed)
    form.locator("button").click()


def test_a_migration_switches_goes_back_and_ends_with_what_is_refused_on_the_way(
    page: Page,
) -> None:
    where = page.url
    expect(phase(page)).to_contain_text("planned")
    page.click("summary:has-text('Steps')")
    expect(page.locator("details")).to_contain_text("SeasonOrders")
    for one in ("expand", "follow", "backfill", "verify"):
        go_on(page, one)
    expect(page.locator("main")).to_contain_text("60")

    # The application does not follow: the switch is not made, and the page says why.
    page.click("text=Continue to switch writes")
    expect(page.locator(".banner.warn")).to_contain_text("Deploy the application")
    expect(page.locator(".banner.warn")).to_contain_text("do not reach the new ones")
    expect(phase(page)).to_contain_text("verify")

    # Without it only for who types the migration's name.
    confirm(page, "Switch without routers", "yes")
    expect(page.locator("main")).to_contain_text(f"Type {PLAN} to confirm. Nothing was done.")
    page.goto(where)
    confirm(page, "Switch without routers")
    expect(phase(page)).to_contain_text("switch writes")
    expect(page.locator(".stats")).to_contain_text("new")

    # Back from there, with a confirmation too.
    confirm(page, "Roll back", "")
    expect(page.locator("main")).to_contain_text("Nothing was done.")
    page.goto(where)
    confirm(page, "Roll back")
    expect(phase(page)).to_contain_text("planned")

    # To the end; from there no way leads back, and none is offered.
    for one in ("expand", "follow", "backfill", "verify"):
        go_on(page, one)
    confirm(page, "Switch without routers")
    expect(phase(page)).to_contain_text("switch writes")
    go_on(page, "hold")
    confirm(page, "Continue to contract")
    expect(phase(page)).to_contain_text("contract")
    expect(page.locator("main form")).to_have_count(0)
    page.goto(where.replace("migrations", "data?table=SeasonOrders&pk=SEASON%23s3"))
    expect(page.locator(".rows .row")).to_have_count(12)


def test_a_migration_is_stopped_on_its_way_continued_and_rolled_back(page: Page) -> None:
    segments = page.locator(".panel", has=page.locator("h2", has_text="Segments"))
    log = page.locator(".log")

    def done() -> int:
        return int(page.locator(".stats dd").first.inner_text().split()[0])

    go_on(page, "expand")
    go_on(page, "follow")
    page.fill("input[name=rate]", "soon")
    page.click("text=Continue to backfill")
    expect(page.locator("main")).to_contain_text("Items a second must be a number, not 'soon'.")
    page.go_back()

    # One item a second: a minute for sixty, unless somebody stops it.
    page.fill("input[name=rate]", "1")
    page.click("text=Continue to backfill")
    expect(page.locator(".phases .now")).to_contain_text("backfill")
    expect(segments).to_contain_text("under way")
    expect(page.locator("main button:has-text('Continue')")).to_have_count(0)
    page.click("main button:has-text('Stop')")
    expect(log).to_contain_text("Stopped. Copied items are kept")
    expect(phase(page)).to_contain_text("follow")
    expect(segments.locator("tbody")).to_contain_text("stopped")
    assert 0 < done() < 60

    # It goes on where it was, at its own speed.
    page.click("text=Continue to backfill")
    expect(phase(page)).to_contain_text("backfill")
    expect(segments.locator("tbody")).not_to_contain_text("stopped")
    assert done() == 60
    expect(page.locator(".chart .line").first).to_be_attached()

    # Stopped once more, in the middle of comparing; then back, for who types the name.
    page.fill("input[name=rate]", "1")
    page.click("text=Continue to verify")
    expect(page.locator(".phases .now")).to_contain_text("verify")
    page.click("main button:has-text('Stop')")
    expect(page.locator("main button:has-text('Roll back')")).to_be_visible()
    expect(phase(page)).to_contain_text("backfill")
    confirm(page, "Roll back")
    expect(phase(page)).to_contain_text("planned")
    page.goto(page.url.partition("/migrations")[0] + "/data?table=SeasonOrders")
    expect(page.locator("main")).to_contain_text("The backend has no SeasonOrders.")


def test_the_page_of_a_migration_is_readable_on_a_phone_and_in_the_dark(page: Page) -> None:
    for one in ("expand", "follow", "backfill", "verify"):
        go_on(page, one)
    page.click("text=Continue to switch writes")
    expect(page.locator(".banner.warn")).to_be_visible()
    grave: list[str] = []
    for scheme, width in SHOTS:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        found = Axe().run(page).response["violations"]
        grave += [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    assert grave == []


def test_a_step_takes_the_clicks_and_requests_that_the_guide_says(page: Page) -> None:
    page.goto(page.url.replace("/migrations", "/map"))
    does = Counted(page)
    does.click(".side >> text=Migrations")
    does.click("text=Continue to expand")
    expect(phase(page)).to_contain_text("expand")
    assert does.taken() == told()["Take a step of a migration"]
