"""The map of a design with sixty entities: all of it to be seen, found and followed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from .test_studio_elsewhere import running

HEAD = """
from typing import Annotated
from keyfold import Counter, Design, Entity, Id, Index, Key, On, Pointer

design = Design("large")
tables = [
    design.table(
        f"Table{n}",
        indexes=[Index("ByOwner", "opk", "osk"), Index("ByTime", "tpk", "tsk")],
        stream="NEW_AND_OLD_IMAGES",
    )
    for n in range(3)
]
"""
FAMILY = """
class {name}(Entity, table=tables[{table}]):
    {id}: Id
    owner_id: Id
    title: str
    reader_ids: set[str] = set()
    entries: Annotated[int, Counter("{name}Entry")] = 0
    key = Key("{upper}#{{{id}}}", "METADATA")
    by_owner = On("ByOwner", "OWNER#{{owner_id}}", "{upper}#{{{id}}}")

class {name}Entry(Entity, table=tables[{table}]):
    {id}: Id
    entry_id: Id
    at: str
    key = Key("{upper}#{{{id}}}", "ENTRY#{{at}}#{{entry_id}}")
    by_time = On("ByTime", "{upper}S", "{{at}}#{{entry_id}}")

class {name}Member(Entity, table=tables[{table}]):
    {id}: Id
    person_id: Id
    key = Key("{upper}#{{{id}}}", "MEMBER#{{person_id}}")
    by_owner = On("ByOwner", "PERSON#{{person_id}}", "{upper}#{{{id}}}")

class Reader{name}(Pointer[{name}], table=tables[{table}], each="reader_ids"):
    reader_id: Id
    {id}: Id
    title: str
    key = Key("READER#{{reader_id}}", "{upper}#{{{id}}}")
"""
NAMES = (
    "Album", "Booking", "Campaign", "Device", "Expedition", "Forum", "Garden", "Household",
    "Invoice", "Journey", "Kitchen", "Library", "Meeting", "Notebook", "Observatory",
)  # fmt: skip
OVERLAPPING = """() => {
    const all = [...document.querySelectorAll('.map .part, .map .lane > h2')];
    const boxes = all.map((one) => [one.textContent, one.getBoundingClientRect()]);
    return boxes.flatMap(([n, a], i) => boxes.slice(i + 1)
        .filter(([, b]) => a.left < b.right && b.left < a.right)
        .filter(([, b]) => a.top < b.bottom && b.top < a.bottom)
        .map(([m]) => `${n} / ${m}`));
}"""
CUT = """() => [...document.querySelectorAll('.map .node b, .map .node .key, .map header .key')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right >
        one.closest('.part').getBoundingClientRect().right)
    .map((one) => one.textContent)"""


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("large")
    families = (
        FAMILY.format(name=name, id=f"{name.lower()}_id", upper=name.upper(), table=number % 3)
        for number, name in enumerate(NAMES)
    )
    (folder / "large.py").write_text(HEAD + "\n".join(families))
    made = "from large import design\nwith design.open('large.db'): pass"
    subprocess.run([sys.executable, "-c", made], cwd=folder, check=True)
    wanted = ("large:design", "--backend", "large.db", "--port", "0")
    with running(folder, "studio", *wanted) as process:
        assert process.stdout is not None
        yield next(line for line in process.stdout if line.startswith("Studio:")).split()[1]


@pytest.fixture
def page(browser: Browser, start: str) -> Iterator[Page]:
    expect.set_options(timeout=30_000)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    made = context.new_page()
    made.goto(start)
    made.goto(start.partition("?")[0] + "s/large/map")
    yield made
    context.close()


def test_sixty_entities_stand_beside_one_another_at_every_width(page: Page) -> None:
    expect(page.locator(".map .node[id^=t-]")).to_have_count(60)
    for width in (390, 821, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERLAPPING) == [], width
        assert page.evaluate(CUT) == [], width
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), width


def test_indexes_stand_beside_their_table(page: Page) -> None:
    tops = page.locator(".map .lane").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().top)"
    )
    assert tops[0::2] == tops[1::2]
    expect(page.locator("h2", has_text="ByOwner of Table1")).to_be_visible()


def test_search_lights_what_is_meant_and_brings_it_into_view(page: Page) -> None:
    page.fill("[data-sift]", "observatory")
    chosen = page.locator(".map .lane:nth-of-type(odd) .node[data-name=Observatory]")
    expect(chosen).to_be_in_viewport()
    lit = page.locator(".map .node.lit").evaluate_all("all => all.map((e) => e.dataset.name)")
    assert sorted(lit) == ["Observatory", "Observatory", "ObservatoryEntry", "ReaderObservatory"]
    page.fill("[data-sift]", "entry")
    assert page.locator(".map .node.lit[data-name$=Entry]").count() >= 30
    page.fill("[data-sift]", "")
    expect(page.locator(".map.dim")).to_have_count(0)


def test_all_lines_can_be_drawn_and_the_whole_made_smaller(page: Page) -> None:
    lines = page.locator(".map .edge:visible")
    expect(lines).to_have_count(0)
    page.click("[data-lines=all]")
    assert lines.count() > 60
    height = page.locator(".map").bounding_box()
    for _ in range(4):
        page.click("[data-zoom=out]")
    smaller = page.locator(".map").bounding_box()
    assert height is not None
    assert smaller is not None
    assert smaller["height"] < height["height"] / 2
    assert page.evaluate(OVERLAPPING) == []


def test_axe_finds_nothing_serious_on_the_map(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
