"""The studio as a person uses it, on `keyfold demo` as people start it: one demo, one browser."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.browser.recording import Recording, webp
from tests.browser.tasks import Counted, told

from keyfold_engine.clients import connect

READY = "Data: "
PICTURES = Path(__file__).parents[2] / "docs" / "guide" / "images"
PAGES = ("map", "data", "patterns", "review", "streams", "migrations")
SYSTEMS = ("gg_core", "inviter", "search_room", "sellers", "tamafriends", "sellers-current")
EVERY = {
    "home": "/",
    **{page: f"/s/inviter/{page}" for page in PAGES},
    "partition": "/s/inviter/data?table=InviterTable&pk=GROUP%23g3",
    "pattern": "/s/inviter/patterns/group_feed?group_id=g3&limit=50&run=1",
    "edit": "/s/inviter/edit?table=InviterTable&pk=EVENT%23h12&sk=METADATA",
    "map-gg": "/s/gg_core/map",
    "order": "/s/sellers-current/edit?table=SellersOrders&pk=ORDER%23o-004-1-001",
    "feeds": "/s/gg_core/streams",
    "flag": "/s/gg_core/edit?table=gg_core&pk=PROMO%23lina.haas&sk=PROMO%23lina.haas",
    "migration": "/s/sellers-current/migrations?dry=1",
}
DRAWN = ("home", "map", "partition", "pattern", "edit", "review", "migration")
RECORDING_BYTES = 1_500_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses that the demo prints: its start page, and its DynamoDB endpoint."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyfold", "demo", "--port", "0", "--dynamodb-port", "0"],
        cwd=tmp_path_factory.mktemp("studio"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line)
            if line.startswith(READY):
                break
        rows = [line.split() for line in lines]
        (start,) = [row[-1] for row in rows if row[:2] == ["Start", "page"]]
        (dynamodb,) = [row[1] for row in rows if row[:1] == ["DynamoDB"]]
        yield start, dynamodb
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def start(demo: tuple[str, str]) -> str:
    """The start page's address."""
    return demo[0]


def write_past_the_design(dynamodb: str) -> None:
    """What a program without the design could do to a copy."""
    with closing(connect(dynamodb)) as client:
        copies = client.call(
            "Scan",
            {
                "TableName": "InviterTable",
                "FilterExpression": "begins_with(SK, :of) AND attribute_exists(title)",
                "ExpressionAttributeValues": {":of": {"S": "HANGOUT#"}},
            },
        )["Items"]
        client.call(
            "PutItem",
            {"TableName": "InviterTable", "Item": copies[0] | {"title": {"S": "(drifted)"}}},
        )


@pytest.fixture(scope="module")
def visitor(browser: Browser, start: str) -> Iterator[BrowserContext]:
    """Somebody who opened the printed address; whatever a page complains of fails the tests."""
    expect.set_options(timeout=30_000)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(start)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(visitor: BrowserContext, start: str) -> Iterator[Page]:
    complaints: list[str] = []
    made = visitor.new_page()
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    made.goto(base(start) + "/")
    yield made
    made.close()
    assert complaints == []


def base(start: str) -> str:
    return start.partition("/?token=")[0]


def test_somebody_new_finds_follows_runs_changes_and_repairs(
    page: Page, demo: tuple[str, str]
) -> None:
    """From the start page by what it says alone: no address, key or id is known beforehand."""
    # Find an item.
    page.click(".steps >> text=Find an item")
    detail = page.locator("#detail")
    first = detail.locator(".dh .key").first.inner_text()
    page.locator(".rows .row").nth(3).click()
    expect(detail.locator(".dh .key").first).not_to_have_text(first)
    expect(detail).to_contain_text("All copies:")
    canonical = detail.locator(".dh .key").first.inner_text()

    # Follow it to a copy, and back.
    detail.locator(".jump", has_text="in the same transaction").first.click()
    expect(page.locator("#detail")).to_contain_text("Copied from")
    assert page.locator("h1").inner_text() != canonical
    page.locator("#detail h3", has_text="Canonical").locator(
        "xpath=following-sibling::a[1]"
    ).click()
    expect(page.locator("h1")).to_contain_text(canonical)

    # Run a pattern and see its cost.
    page.click(".brand")
    page.click(".steps >> text=Run a pattern, see its cost")
    page.click("button[name=run]")
    expect(page.locator(".stats").first).to_contain_text("of 1 allowed")
    expect(page.locator(".stats").first).to_contain_text("A million calls")
    page.click("role=tab[name=Python]")
    expect(page.locator("[role=tabpanel]:visible")).to_contain_text("answer = ")

    # Change a value with its plan in view.
    page.click(".brand")
    page.click(".steps >> text=Change a value with its plan in view")
    choose(page, 5)
    page.click("#detail >> text=Edit…")
    before = page.input_value("#f-title")
    page.fill("#f-title", "Long run by the river")
    page.click("text=Show the plan")
    plan = page.locator("section[aria-label=Plan]")
    expect(plan).to_contain_text("nothing has been sent")
    expect(plan.locator(".plan > li").first).to_contain_text("Long run by the river")
    expect(plan).to_contain_text("only if it exists, version =")
    page.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")
    page.click("text=Undo…")
    page.click("#send")
    page.click("text=Open the item")
    expect(page.locator("#detail")).to_contain_text(before)

    # A program without the design changes a copy; the drift is found and repaired.
    write_past_the_design(demo[1])
    page.click(".brand")
    page.click(".steps >> text=Verify copies, and repair what differs")
    page.click("text=Verify now")
    expect(page.locator(".drift > li")).to_have_count(1, timeout=30_000)
    expect(page.locator(".drift > li")).to_contain_text("(drifted)")
    page.click("#repair")
    expect(page.locator(".banner.ok")).to_contain_text("1 repaired", timeout=30_000)
    expect(page.locator("text=Consistent")).to_be_visible(timeout=30_000)


def test_tasks_take_the_clicks_and_requests_that_the_guide_says(
    page: Page, demo: tuple[str, str]
) -> None:
    page.goto(base(demo[0]) + "/s/inviter/map")
    does = Counted(page)
    taken: dict[str, tuple[int, int]] = {}

    does.click("[data-find]")
    page.fill("#find input", "h12")
    does.click("#find .live a")
    expect(page.locator("#detail")).to_contain_text("EVENT#h12")
    taken["Find an item by its id"] = does.taken()

    does.click("#detail >> text=Edit…")
    page.fill("#f-title", "Counted")
    does.click("text=Show the plan")
    does.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")
    taken["Change a value, with its plan"] = does.taken()

    does.click(".ents >> text=Hangout")
    does.click("summary:has-text('of a write')")
    expect(page.locator(".follows")).to_be_visible()
    taken["See what follows from a write"] = does.taken()

    does.click(".side >> text=Patterns")
    does.click(".pick a >> nth=1")
    expect(page.locator(".stats")).to_contain_text("Read units")
    taken["Run a pattern"] = does.taken()

    does.click(".side >> text=Streams and drift")
    expect(page.locator("#changes")).to_be_visible()
    taken["Watch changes as they happen"] = does.taken()

    write_past_the_design(demo[1])
    page.goto(base(demo[0]) + "/s/inviter/map")
    does.taken()
    does.click(".side >> text=Streams and drift")
    does.click("text=Verify now")
    expect(page.locator(".drift > li")).to_have_count(1, timeout=30_000)
    does.click("#repair")
    expect(page.locator("text=Consistent")).to_be_visible(timeout=30_000)
    taken["Find and repair what differs"] = does.taken()

    assert taken == {task: told()[task] for task in taken}


def test_a_key_that_somebody_knows_is_found_by_typing_it(page: Page) -> None:
    page.click("table.systems >> text=Inviter")
    page.wait_for_url("**/s/inviter/map")
    page.keyboard.press("/")
    page.keyboard.type("EVENT#h12")
    expect(page.locator(".live a").first).to_contain_text("h12")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("EVENT%23h12"))


def test_try_as_a_user_runs_an_operation_as_it_stands(page: Page, start: str) -> None:
    page.goto(f"{base(start).removesuffix('/studio')}/inviter/docs")
    page.wait_for_load_state()
    with page.expect_navigation():
        page.select_option("#who", "ada")
    page.goto(f"{page.url.partition('#')[0]}#/users/groups")
    page.reload()
    operation = page.locator("[id^=operations-][id$=-groups]").first
    operation.locator("button.execute").click()
    assert operation.locator("input").first.input_value() == "ada"
    expect(operation.locator(".live-responses-table")).to_contain_text("200")
    page.click(".crumbs a")
    page.wait_for_url("**/studio/")


def test_every_page_of_every_system_opens_and_nothing_scrolls_sideways(
    page: Page, start: str
) -> None:
    wide: list[str] = []
    for system in SYSTEMS:
        for name in PAGES:
            answer = page.goto(f"{base(start)}/s/{system}/{name}")
            assert answer is not None
            assert answer.status == 200, (system, name)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{system}/{name}")
    for width in (390, 821, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        for name, path in EVERY.items():
            page.goto(base(start) + path)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(f"{name} at {width}")
    assert wide == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(page: Page, start: str, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    grave: list[str] = []
    for name, path in EVERY.items():
        page.goto(base(start) + path)
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                grave.append(f"{name}: {one['id']}: {one['nodes'][0]['html'][:120]}")
    assert grave == []


def test_the_keyboard_alone_leads_through_a_partition(page: Page, start: str) -> None:
    page.goto(base(start) + EVERY["partition"])
    page.locator(".rows .row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    chosen = page.locator(".rows .row").nth(2)
    expect(chosen).to_have_attribute("aria-current", "true")
    key = chosen.locator(".key").inner_text()
    expect(page.locator("#detail .dh")).to_contain_text(key)
    assert f"isk={key.replace('#', '%23')}" in page.url
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") in ("light", "dark")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/s/inviter/map")


def test_the_map_shows_one_entity_zooms_and_leads_to_its_data(page: Page, start: str) -> None:
    page.goto(base(start) + EVERY["map-gg"])
    overlapping = page.evaluate(
        """() => { const all = [...document.querySelectorAll('.map .part')]
            .map(p => p.getBoundingClientRect());
        return all.some((a, i) => all.some((b, j) => i < j && a.left < b.right && b.left < a.right
            && a.top < b.bottom && b.top < a.bottom)); }"""
    )
    assert not overlapping
    page.fill("[data-sift]", "quest")
    expect(page.locator(".map.dim")).to_be_visible()
    page.click("[data-zoom=in]")
    assert "zoom=1.25" in page.url
    page.click("#t-0")
    page.wait_for_url("**/data?entity=*")


def test_two_people_at_once_and_the_slower_one_sees_what_changed(
    browser: Browser, page: Page, start: str
) -> None:
    edit = "/s/inviter/edit?table=InviterTable&pk=EVENT%23h05&sk=METADATA"
    other = browser.new_context()
    theirs = other.new_page()
    theirs.goto(start)
    for one, place in ((page, "On the roof"), (theirs, "In the cellar")):
        one.goto(base(start) + edit)
        one.fill("#f-location", place)
        one.click("text=Show the plan")
    theirs.click("#send")
    expect(theirs.locator(".banner.ok")).to_contain_text("Sent:")
    page.click("#send")
    expect(page.locator("text=Changed meanwhile")).to_be_visible()
    expect(page.locator("main")).to_contain_text("In the cellar")
    other.close()


def test_sets_lists_and_ticks_are_given_in_boxes_of_their_own(page: Page, start: str) -> None:
    page.goto(base(start) + "/s/inviter/edit?table=InviterTable&pk=EVENT%23h06&sk=METADATA")
    groups = page.locator("fieldset", has=page.locator("legend", has_text="associated_groups"))
    before = groups.locator("input").count()
    page.fill("#f-location", "At the lake")
    groups.locator("input").last.fill("g0")
    expect(groups.locator("input")).to_have_count(before + 1)
    page.click("text=Show the plan")
    plan = page.locator("section[aria-label=Plan]")
    expect(plan).to_contain_text("GROUP#g0")
    expect(plan.locator(".plan > li").first).to_contain_text("associatedGroups")
    added = groups.locator(".one", has=page.locator("input[value=g0]"))
    added.locator("[data-gone]").click()
    page.click("text=Show the plan")
    expect(plan).not_to_contain_text("GROUP#g0")
    page.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")
    page.click("text=Undo…")
    page.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")

    page.goto(base(start) + EVERY["flag"])
    page.uncheck("#f-fanout_enabled")
    page.click("text=Show the plan")
    expect(plan.locator(".plan > li").first).to_contain_text("fanoutEnabled")

    # A list of models is a table of boxes; a row comes and goes.
    page.goto(base(start) + EVERY["order"])
    rows = page.locator(".lines tbody tr")
    number = rows.count()
    rows.last.locator("input").first.fill("mint")
    expect(rows).to_have_count(number + 1)
    rows.nth(0).locator("[data-gone]").click()
    expect(rows).to_have_count(number)


def test_the_lag_of_a_write_is_drawn_while_somebody_looks(page: Page, start: str) -> None:
    page.goto(base(start) + "/s/inviter/streams")
    line = page.locator(".chart .line").last
    first = line.get_attribute("d") or ""
    expect(line).not_to_have_attribute("d", first)
    assert page.url.endswith("/s/inviter/streams"), "the page is not loaded again"


def test_the_focus_stays_in_a_part_that_is_drawn_again(page: Page, start: str) -> None:
    page.goto(base(start) + "/s/inviter/streams")
    page.locator("#keepers .scroll").first.focus()
    page.evaluate("document.querySelector('#keepers').dataset.before = 'yes'")
    expect(page.locator("#keepers[data-before]")).to_have_count(0)
    assert page.evaluate("document.activeElement.closest('#keepers') !== null")


def test_the_demo_migrates_orders_while_customers_order_and_goes_back(
    page: Page, start: str
) -> None:
    page.click("table.systems >> text=Sellers before")
    page.click(".side >> text=Migrations")
    phase = page.locator(".phases [aria-current=step]")
    for plan, shown in (("sellers-seasons", "SEASON#"), ("sellers-orders", "ORDER#")):
        page.click(f".plans >> text={plan}")
        expect(page.locator("h1")).to_contain_text(plan)
        page.click("text=Dry run")
        expect(page.locator("main")).to_contain_text("nothing has been written")
        expect(page.locator("main")).to_contain_text(shown)
        for to in ("expand", "follow", "backfill", "verify"):
            page.click(f"text=Continue to {to}")
            expect(phase).to_contain_text(to)
        expect(page.locator(".log")).to_contain_text("0 differ")
    expect(page.locator(".chart .line").first).to_be_attached()
    # The application of tomorrow reports, and the switch finds nobody who does not follow.
    router = page.locator(".panel", has=page.locator("h2", has_text="Routers seen"))
    expect(router.locator("tbody tr")).to_have_count(1)
    for _ in range(20):
        page.click("text=Continue to switch writes")
        page.wait_for_load_state()
        if "switch writes" in phase.inner_text():
            break
        expect(page.locator(".banner.warn")).to_contain_text("still writes")
        page.wait_for_timeout(1000)
    expect(phase).to_contain_text("switch writes")
    back = page.locator("form", has=page.locator("button:has-text('Roll back')"))
    back.locator("input[name=sure]").fill("sellers-orders")
    back.locator("button").click()
    expect(phase).to_contain_text("planned", timeout=60_000)
    expect(page.locator(".banner.bad")).to_have_count(0)


def test_on_a_phone_the_detail_takes_the_place_of_the_list(page: Page, start: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(base(start) + EVERY["partition"])
    page.locator(".rows .row").nth(1).click()
    expect(page.locator(".detail")).to_be_visible()
    expect(page.locator(".rows")).to_be_hidden()
    page.go_back()
    expect(page.locator(".rows")).to_be_visible()


PAINTED = """() => new Promise((done) => {
    const told = () => {
        const [page] = performance.getEntriesByType('navigation');
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        if (!paint) return requestAnimationFrame(told);
        const before = [page, ...performance.getEntriesByType('resource')]
            .filter((one) => one.startTime < paint.startTime);
        done({ at: paint.startTime, names: before.map((one) => new URL(one.name).pathname),
               bytes: before.reduce((sum, one) => sum + one.encodedBodySize, 0),
               transferred: before.reduce((sum, one) => sum + one.transferSize, 0) });
    };
    told();
})"""


@pytest.mark.parametrize("name", ["home", "map", "partition", "pattern", "review"])
def test_a_page_is_painted_after_four_requests_and_few_bytes(
    page: Page, start: str, name: str
) -> None:
    page.goto(base(start) + EVERY[name])
    painted = page.evaluate(PAINTED)
    own = [one for one in painted["names"] if not one.endswith((".css", ".js"))]
    assert len(own) == 1, "the page itself; nothing else is asked for before it is seen"
    assert len(painted["names"]) <= 4
    assert painted["bytes"] < 250_000
    page.goto(base(start) + EVERY[name])
    again = page.evaluate(PAINTED)
    assert again["transferred"] < painted["bytes"], "style and script are asked for once"
    print(f"first paint of {name}: {painted['at']:.0f} ms, again {again['at']:.0f} ms")


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_of_the_guide_can_be_taken(
    page: Page, start: str, name: str, tmp_path: Path
) -> None:
    """With STUDIO_PICTURES=1 the pictures in the documentation are made anew."""
    folder = PICTURES if os.environ.get("STUDIO_PICTURES") else tmp_path
    page.evaluate("localStorage.clear()")  # the look that another test chose
    page.goto(base(start) + EVERY[name])
    if name == "edit":
        page.fill("#f-title", "Long run by the river")
        page.click("text=Show the plan")
    page.wait_for_load_state("networkidle")
    made = base64.b64decode(webp(page).partition(",")[2])
    assert made[:4] + made[8:12] == b"RIFFWEBP"
    (folder / f"studio-{name}.webp").write_bytes(made)


def choose(page: Page, place: int) -> None:
    """A row of a list, until its item stands beside it."""
    row = page.locator(".rows .row").nth(place)
    key = re.search(r"[?&]ipk=([^&]+)", row.get_attribute("href") or "")
    assert key
    row.click()
    edit = page.locator("#detail >> text=Edit…")
    expect(edit).to_have_attribute("href", re.compile(rf"[?&]pk={re.escape(key[1])}(&|$)"))


def test_a_recording_of_an_edit_and_a_repair_can_be_made(
    page: Page, demo: tuple[str, str], tmp_path: Path
) -> None:
    """With STUDIO_PICTURES=1 the recording in the documentation is made anew."""
    folder = PICTURES if os.environ.get("STUDIO_PICTURES") else tmp_path
    page.evaluate("localStorage.clear()")
    page.set_viewport_size({"width": 1120, "height": 700})
    taken = Recording(page)
    taken.click(
        page.locator(".steps >> text=Change a value with its plan in view"), "Change a value"
    )
    choose(page, 5)
    taken.click(page.locator("#detail >> text=Edit…"), "An item, with every copy of it")
    page.fill("#f-title", "Long run by the river")
    taken.click(page.locator("text=Show the plan"), "A new title")
    page.locator("section[aria-label=Plan]").scroll_into_view_if_needed()
    taken.show("The plan: one transaction, with the copies", 2.6)
    taken.click(page.locator("#send"), "Sent exactly as shown")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")
    taken.show("The item and its copies changed together", 2.2)

    write_past_the_design(demo[1])
    page.click(".brand")
    taken.click(
        page.locator(".steps >> text=Verify copies, and repair what differs"),
        "Another program changes one copy by itself",
    )
    taken.click(page.locator("text=Verify now"), "Verify recomputes every copy")
    expect(page.locator(".drift > li")).to_have_count(1, timeout=30_000)
    taken.click(page.locator("#repair"), "The copy that differs, and what is expected", 2.6)
    expect(page.locator("text=Consistent")).to_be_visible(timeout=30_000)
    taken.show("Repaired", 2.4)

    made = taken.svg()
    assert 15 < taken.seconds < 25
    assert len(made) <= RECORDING_BYTES
    (folder / "studio.svg").write_text(made, "utf-8")
