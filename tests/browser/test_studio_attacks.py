"""What a page of somebody else, and what stands in the data, can do to the studio: nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, expect

from .test_studio_elsewhere import running

MARKUP = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}</title>"
DESIGN = f"""
from keyfold import Design, Entity, Id, Key, Pointer, Query

MARKUP = {MARKUP!r}
design = Design("club", description=MARKUP)
table = design.table("Club", stream="NEW_AND_OLD_IMAGES")


class Club(Entity, table=table):
    club_id: Id
    name: str
    city_ids: set[str] = set()
    key = Key("CLUB#{{club_id}}", "CLUB")

Club.__doc__ = MARKUP


class CityClub(Pointer[Club], table=table, each="city_ids"):
    city_id: Id
    club_id: Id
    name: str
    key = Key("CITY#{{city_id}}", "CLUB#{{club_id}}")


@design.pattern(requests=1)
def clubs_of_city(city_id: str, limit: int = 20) -> Query[CityClub]:
    return CityClub.key.query(city_id=city_id).limit(limit)
"""
CLUBS = """
from club import MARKUP, Club, design
with design.open("club.db") as db:
    db.create(Club(club_id="c1", name=MARKUP, city_ids={MARKUP, "rome"}))
    ghost = {"PK": {"S": "CITY#" + MARKUP}, "SK": {"S": "CLUB#gone"}, "type": {"S": "CityClub"},
             "cityId": {"S": MARKUP}, "clubId": {"S": "gone"}, "name": {"S": MARKUP}}
    db.client.call("PutItem", {"TableName": "Club", "Item": ghost})
    stray = {"PK": {"S": MARKUP}, "SK": {"S": MARKUP}, MARKUP: {"S": MARKUP}}
    db.client.call("PutItem", {"TableName": "Club", "Item": stray})
"""
LURE = """<!doctype html><title>Lure</title><iframe src="{at}/"></iframe>
<script src="{at}/assets/studio.js" onload="window.loaded = true"></script>
<form method="post" action="{at}/s/club/repair"><input name="csrf" value="guess"></form>"""
READ = """async (at) => {
    const told = [];
    for (const more of [{}, {credentials: "include"}, {credentials: "include", mode: "no-cors"}])
        try { told.push((await (await fetch(at, more)).text()).length); } catch { told.push("no"); }
    return told;
}"""
OPENED = """async (at) => {
    const other = window.open(at);
    await new Promise((done) => setTimeout(done, 1000));
    try { return other.document.body.textContent; } catch { return "no"; }
}"""


@contextmanager
def lure(at: str) -> Iterator[int]:
    """A page of somebody else on another port of this machine."""

    class Lure(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(LURE.format(at=at).encode())

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Lure)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def club(tmp_path: Path) -> Path:
    (tmp_path / "club.py").write_text(DESIGN)
    subprocess.run([sys.executable, "-c", CLUBS], cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture
def start(club: Path) -> Iterator[str]:
    with running(club, "studio", "club:design", "--backend", "club.db", "--port", "0") as process:
        assert process.stdout is not None
        yield next(line for line in process.stdout if line.startswith("Studio:")).split()[1]


@pytest.fixture
def visitor(browser: Browser, start: str) -> Iterator[BrowserContext]:
    expect.set_options(timeout=30_000)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    context.new_page().goto(start)
    yield context
    context.close()


@pytest.fixture
def base(start: str) -> str:
    return start.partition("/?token=")[0]


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        # The same site on another port: the browser sends the cookie, the studio sees the origin.
        ("127.0.0.1", "This request came from another site."),
        # Another site: the browser keeps the cookie to itself.
        ("localhost", "Open the address that keyfold printed"),
    ],
)
def test_a_page_of_somebody_else_reads_nothing_frames_nothing_and_sends_nothing(
    visitor: BrowserContext, base: str, host: str, answer: str
) -> None:
    with lure(base) as port:
        page = visitor.new_page()
        page.goto(f"http://{host}:{port}/")
        assert "keyfold" not in page.frames[1].content()
        assert page.evaluate("window.loaded") is None
        assert page.evaluate(READ, f"{base}/") == ["no", "no", "no"]
        with visitor.expect_page():
            assert page.evaluate(OPENED, f"{base}/") == "no"
        page.evaluate("document.forms[0].submit()")
        expect(page.locator("main")).to_contain_text(answer)
    page.goto(f"{base}/s/club/data?table=Club&pk=CITY%23rome")
    expect(page.locator("#detail")).not_to_contain_text("(drifted)")


def test_the_token_leaves_the_address_and_is_not_kept_in_the_history(
    visitor: BrowserContext, start: str
) -> None:
    page = visitor.new_page()
    page.goto(start)
    assert "token" not in page.url
    page.click("table.systems >> text=club")
    page.go_back()
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == "", "no script reads the cookie"
    assert page.evaluate("JSON.stringify([localStorage, sessionStorage])") == "[{},{}]"


def test_markup_in_the_data_and_in_the_design_stays_text_on_every_page(
    visitor: BrowserContext, base: str
) -> None:
    page = visitor.new_page()
    wrong: list[str] = []

    def hear(one: Dialog) -> None:
        wrong.append(one.message)
        one.dismiss()

    page.on("dialog", hear)
    page.on("pageerror", lambda one: wrong.append(str(one)))
    page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)

    def is_text() -> None:
        assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
        assert page.evaluate("document.title").endswith("keyfold studio")

    page.goto(f"{base}/")
    is_text()
    for name in ("map", "data", "patterns", "review", "migrations"):
        page.goto(f"{base}/s/club/{name}")
        is_text()
    page.goto(f"{base}/s/club/data?entity=undeclared")
    expect(page.locator("#detail")).to_contain_text("{{7*7}}")
    is_text()
    page.goto(f"{base}/s/club/patterns/clubs_of_city")
    page.fill("[name=city_id]", MARKUP)
    page.click("button[name=run]")
    expect(page.locator("main table").first).to_contain_text("<script>alert(2)</script>")
    page.click("role=tab[name=Python]")
    is_text()
    page.keyboard.press("/")
    page.keyboard.type("c1")
    expect(page.locator(".live a").first).to_contain_text("c1")
    page.keyboard.press("Escape")
    page.goto(f"{base}/s/club/edit?table=Club&pk=CLUB%23c1&sk=CLUB")
    assert page.input_value("#f-name") == MARKUP
    page.fill("#f-name", f"{MARKUP} again")
    page.click("text=Show the plan")
    expect(page.locator("section[aria-label=Plan]")).to_contain_text("onerror=alert(1)")
    is_text()
    page.click("#send")
    expect(page.locator(".banner.ok")).to_contain_text("Sent:")
    is_text()
    page.goto(f"{base}/s/club/streams")
    page.click("text=Verify now")
    expect(page.locator(".drift > li").first).to_contain_text("onerror=alert(1)")
    is_text()
    assert wrong == []


def test_two_studios_are_open_in_one_browser(visitor: BrowserContext, club: Path) -> None:
    (page,) = visitor.pages
    first = page.url
    with running(club, "studio", "--backend", "club.db", "--port", "0") as process:
        assert process.stdout is not None
        printed = next(line for line in process.stdout if line.startswith("Studio:")).split()[1]
        other = visitor.new_page()
        other.goto(printed)
        expect(other.locator("table.systems")).to_contain_text("Club")
        page.goto(first)
        expect(page.locator("table.systems")).to_contain_text("club")
