"""The studio as a person uses it, on `keyfold demo` as people start it: one demo, one browser."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

UP_TO_DATE = "Copies, counters and events are up to date."
PICTURES = Path(__file__).parents[2] / "docs" / "guide" / "images"
PAGES = ("map", "data", "patterns", "review", "streams", "migrations", "partitions", "try")
SYSTEMS = ("gg_core", "inviter", "search_room", "sellers", "tamafriends")
EVERY = {
    "home": "/",
    **{page: f"/s/inviter/{page}" for page in PAGES},
    "partition": "/s/inviter/data?table=InviterTable&pk=GROUP%23g03",
    "pattern": "/s/inviter/patterns/group_feed?group_id=g03&limit=50&run=1",
    "edit": "/s/inviter/edit?table=InviterTable&pk=EVENT%23h042&sk=METADATA",
    "map-gg": "/s/gg_core/map",
}
DRAWN = ("home", "map", "partition", "pattern", "edit", "review")
AS_WEBP = """async (png) => {
    const picture = new Image();
    picture.src = png;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/webp", 0.86);
}"""


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that the demo prints."""
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
            if line.startswith(UP_TO_DATE):
                break
        (found,) = [line.split()[-1] for line in lines if line.strip().startswith("Start page")]
        yield found
    finally:
        process.terminate()
        process.communicate(timeout=60)


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


def test_somebody_new_finds_follows_runs_changes_and_repairs(page: Page) -> None:
    # Find an item: search for what it is called.
    page.click("table.systems >> text=Inviter")
    page.wait_for_url("**/s/inviter/map")
    page.keyboard.press("/")
    page.keyboard.type("EVENT#h042")
    expect(page.locator(".live a").first).to_contain_text("h042")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("EVENT%23h042"))
    page.click(".rows .row[data-kind=Hangout]")
    detail = page.locator("#detail")
    expect(detail).to_contain_text("All copies:")

    # Follow it to a copy, and back.
    detail.locator(".jump", has_text="HANGOUT#").first.click()
    expect(page.locator("#detail")).to_contain_text("Copied from Hangout")
    group = page.locator("h1").inner_text()
    assert group.startswith(("GROUP#", "USER#"))
    page.locator("#detail .jump", has_text="METADATA").first.click()
    expect(page.locator("h1")).to_contain_text("EVENT#h042")

    # Run a pattern and see its cost.
    page.click(".side >> text=Patterns")
    page.click(".pick >> text=group_feed")
    page.fill("#p-group_id", "g03")
    page.click("button[name=run]")
    expect(page.locator(".stats").first).to_contain_text("of 1 allowed")
    expect(page.locator(".stats").first).to_contain_text("A million calls")
    page.click("role=tab[name=boto3]")
    expect(page.locator("[role=tabpanel]:visible")).to_contain_text("client.query(")

    # Change a value with its plan in view.
    page.goto(page.url.partition("/s/")[0] + EVERY["edit"])
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

    # Cause a drift and repair it.
    page.click(".side >> text=Streams and drift")
    page.click("text=Cause a drift…")
    page.click("text=Send 1 UpdateItem")
    expect(page.locator("#detail")).to_contain_text("stale:")
    page.click(".side >> text=Streams and drift")
    page.click("text=Verify now")
    expect(page.locator(".drift > li")).to_have_count(1, timeout=30_000)
    expect(page.locator(".drift > li")).to_contain_text("(drifted)")
    page.click("#repair")
    expect(page.locator(".banner.ok")).to_contain_text("1 repaired", timeout=30_000)
    expect(page.locator("text=Consistent")).to_be_visible(timeout=30_000)


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


def test_sliders_move_the_bill_at_once(page: Page, start: str) -> None:
    page.goto(base(start) + "/s/inviter/review")
    before = page.locator(".sum b").inner_text()
    page.locator("#traffic").fill("10")
    expect(page.locator(".sum b")).not_to_have_text(before)
    assert "traffic=10" in page.url


def test_two_people_at_once_and_the_slower_one_sees_what_changed(
    browser: Browser, page: Page, start: str
) -> None:
    edit = "/s/inviter/edit?table=InviterTable&pk=EVENT%23h050&sk=METADATA"
    other = browser.new_context()
    theirs = other.new_page()
    theirs.goto(start)
    for one, place in ((page, "On the roof"), (theirs, "In the cellar")):
        one.goto(base(start) + edit)
        one.fill("#f-place", place)
        one.click("text=Show the plan")
    theirs.click("#send")
    expect(theirs.locator(".banner.ok")).to_contain_text("Sent:")
    page.click("#send")
    expect(page.locator("text=Somebody was faster")).to_be_visible()
    expect(page.locator("main")).to_contain_text("In the cellar")
    other.close()


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
    page.goto(base(start) + EVERY[name])
    if name == "edit":
        page.fill("#f-title", "Long run by the river")
        page.click("text=Show the plan")
    page.wait_for_load_state("networkidle")
    taken = base64.b64encode(page.screenshot()).decode()
    made = base64.b64decode(
        page.evaluate(AS_WEBP, f"data:image/png;base64,{taken}").partition(",")[2]
    )
    assert made[:4] + made[8:12] == b"RIFFWEBP"
    (folder / f"studio-{name}.webp").write_bytes(made)
