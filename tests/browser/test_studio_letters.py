"""Dead letters in the studio: looked into, replayed while the fault is there and after, dropped."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from .test_studio_elsewhere import running

DESIGN = """
from pathlib import Path
from keyfold import Design, Entity, Id, Key

design = Design("library")
table = design.table("Library", stream="NEW_AND_OLD_IMAGES")


class Book(Entity, table=table):
    book_id: Id
    title: str
    key = Key("BOOK#{book_id}", "BOOK")


@design.on(Book, "modify", name="print-card")
def print_card(old: Book | None, new: Book | None, delivery: object) -> None:
    if not Path("paper").exists():
        raise RuntimeError("the printer has no <b>paper</b>")
    with Path("cards").open("a") as cards:
        cards.write(f"{old.title} is now {new.title}\\n")
"""
RENAMED = """
from keyfold.streams import Consumer
from library import Book, design
with design.open("library.db") as db:
    for number in range(2):
        db.create(Book(book_id=f"b{number}", title=f"Book {number}"))
        db.update(Book.key(book_id=f"b{number}"), title=f"Better book {number}")
    Consumer(db).drain()
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Two books whose new titles could not be printed."""
    (tmp_path / "library.py").write_text(DESIGN)
    subprocess.run([sys.executable, "-c", RENAMED], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def page(browser: Browser, library: Path) -> Iterator[Page]:
    expect.set_options(timeout=30_000)
    wanted = ("library:design", "--backend", "library.db", "--port", "0")
    with running(library, "studio", *wanted) as process:
        assert process.stdout is not None
        start = next(line for line in process.stdout if line.startswith("Studio:")).split()[1]
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(30_000)
        made = context.new_page()
        made.goto(start)
        yield made
        context.close()


def test_dead_letters_are_looked_into_replayed_and_dropped(page: Page, library: Path) -> None:
    page.click("table.systems >> text=library")
    page.click(".side >> text=Streams and drift")
    expect(page.locator(".stats div", has_text="Dead letters")).to_contain_text("2")
    letters = page.locator(".letters > li")
    expect(letters).to_have_count(2)

    # What failed, on which item, why, what had changed, and where the code stood.
    first = letters.filter(has_text="BOOK#b0")
    expect(first).to_contain_text("print-card")
    expect(first).to_contain_text("RuntimeError: the printer has no <b>paper</b>")
    expect(first.locator("del")).to_have_text("Book 0")
    expect(first.locator("ins")).to_have_text("Better book 0")
    first.locator("summary", has_text="Traceback").click()
    expect(first.locator("pre:visible")).to_contain_text("in print_card")
    first.locator("summary", has_text="Record").click()
    expect(first.locator("pre:visible").last).to_contain_text('"eventName": "MODIFY"')
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        found = Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.set_viewport_size({"width": 1280, "height": 900})

    # The way to the item, and back.
    first.locator("a").first.click()
    expect(page.locator("#detail")).to_contain_text("Better book 0")
    page.go_back()

    # Nothing has been mended: the replay fails as the first time did, and the letter stays.
    first.locator("button", has_text="Replay").click()
    expect(page.locator(".banner.bad")).to_contain_text("The replay failed: RuntimeError")
    expect(letters).to_have_count(2)
    assert not (library / "cards").exists()

    # Now there is paper.
    (library / "paper").touch()
    first.locator("button", has_text="Replay").click()
    expect(page.locator(".banner.ok")).to_have_text("Replayed 1 dead letter.")
    expect(letters).to_have_count(1)
    assert (library / "cards").read_text() == "Book 0 is now Better book 0\n"

    # The other one is dropped, after a second click.
    expect(letters.locator("button", has_text="Drop permanently")).to_be_hidden()
    letters.locator("summary", has_text="Drop…").click()
    letters.locator("button", has_text="Drop permanently").click()
    expect(page.locator(".banner.ok")).to_have_text("Dropped 1 dead letter.")
    expect(letters).to_have_count(0)
    expect(page.locator(".stats div", has_text="Dead letters")).to_contain_text("0")
    assert (library / "cards").read_text().count("\n") == 1
