"""One story of every system on its page, where things go wrong around it.

Consumers are late and die in their work; half of what can expire has expired and is not swept;
global indexes lag behind; the tables are on another server, ours or somebody else's.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from tests.peers.conftest import CREDENTIALS, ministack

from keyfold import AsyncDb
from keyfold.rows.item_writer import put
from keyfold.streams import AsyncConsumer, ConsumerOptions
from keyfold_demo.systems import System
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine
from keyfold_web.consumers import following
from keyfold_workbench.adopt.made_items import ItemMaker

from . import test_gg_core, test_inviter_page, test_search_room, test_sellers_page
from .conftest import served
from .town import ADA, BEN, SYSTEMS, serve

PATIENCE = 20_000
MADE = 40
OVER = {"N": "1700000000"}
LAG = (0.2, 2.0)
"""Seconds that a change takes to reach a global index."""


async def dying(db: AsyncDb) -> None:
    """Consumers that read a little at a time; each is killed wherever it is."""
    options = ConsumerOptions(batch=5, lease_seconds=1.0, poll_seconds=0.1)
    dice = random.Random(7)
    while True:
        task = asyncio.create_task(AsyncConsumer(db, options=options).run())
        try:
            # Longer than a lease: each gets what its predecessor held, and does some work.
            await asyncio.sleep(dice.uniform(1.5, 3.0))
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def killed(databases: list[AsyncDb]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(dying(db)) for db in databases]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def expire_half(system: System, path: Path) -> int:
    """Fill a file with made items, and let the time of half of those that can expire be over."""
    count = 0
    with system.design.open(str(path)) as db:
        put(db, list(ItemMaker(system.design, 0).make(MADE, {})), lambda _: None)
        for table in system.design.tables.values():
            kinds = {e.__spec__.type_name for e in table.entities if e.__spec__.ttl is not None}
            named, ttl = table.schema.type_attribute or "", table.schema.ttl
            items = db.client.call("Scan", {"TableName": table.name})["Items"]
            for item in [one for one in items if one.get(named, {}).get("S") in kinds][::2]:
                db.client.call("PutItem", {"TableName": table.name, "Item": item | {ttl: OVER}})
                count += 1
    return count


@asynccontextmanager
async def town(condition: str, folder: Path, address: str) -> AsyncIterator[Starlette]:
    async with AsyncExitStack() as stack:
        databases: list[AsyncDb] = []
        for system in SYSTEMS:
            backend: str | AsyncEmbeddedClient = address or ":memory:"
            if condition == "half expired":
                backend = str(folder / f"{system.name}.db")
                await asyncio.to_thread(expire_half, system, folder / f"{system.name}.db")
            if condition == "lagging indexes":
                backend = AsyncEmbeddedClient(Engine.open(":memory:", index_lag=LAG))
            opened = await system.design.open_async(backend, create_tables=True)
            databases.append(await stack.enter_async_context(opened))
        follow = killed if condition == "killed consumers" else following
        await stack.enter_async_context(follow(databases))
        yield await serve(databases)


@contextmanager
def another_server() -> Iterator[str]:
    """`keyfold serve`, in a process of its own."""
    command = [sys.executable, "-m", "keyfold", "serve", "--port", "0", "--data", ":memory:"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            said = server.stdout.readline()
            yield next(word for word in said.split() if word.startswith("http://"))
        finally:
            server.terminate()


CONDITIONS = [
    "killed consumers",
    "half expired",
    "lagging indexes",
    "another server",
    "somebody else's server",
]


@pytest.fixture(scope="module", params=CONDITIONS)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    condition, folder = request.param, tmp_path_factory.mktemp("tables")
    expect.set_options(timeout=PATIENCE)
    with ExitStack() as stack:
        address = ""
        if condition == "another server":
            address = stack.enter_context(another_server())
        if condition == "somebody else's server":
            environment = stack.enter_context(pytest.MonkeyPatch.context())
            for name, value in CREDENTIALS.items():
                environment.setenv(name, value)
            address = stack.enter_context(ministack(folder))
        yield stack.enter_context(served(lambda: town(condition, folder, address)))
    expect.set_options(timeout=5_000)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 390, "height": 800})
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def test_a_hangout_reaches_a_friend(page: Page, phone: Page, site: str) -> None:
    test_inviter_page.visit(page, site, "ada")
    test_inviter_page.visit(phone, site, "ben")
    test_inviter_page.plan(page, "Swim before work", group="Lake swimmers")
    phone.click("a.event >> text=Swim before work")
    phone.get_by_role("button", name="Going", exact=True).click()
    expect(page.locator("#main")).to_contain_text("Ben Okafor")


def test_a_room_is_shared_and_a_home_found(page: Page, phone: Page, site: str) -> None:
    test_search_room.sign_in(page, site, "ada")
    test_search_room.sign_in(phone, site, "ben")
    page.click("text=New room")
    page.fill("#room-title", "Our first home")
    page.click("text=Open it")
    page.fill("#member", "ben")
    page.click("text=Take in")
    phone.click(".rooms >> text=Our first home")
    page.click("text=Add a home")
    page.fill("#listing-title", "Bright flat")
    page.click("text=Pin it")
    expect(phone.locator("#board")).to_contain_text("Bright flat")


def test_a_post_is_followed_and_liked(page: Page, phone: Page, site: str) -> None:
    for one, who in ((page, ADA), (phone, BEN)):
        one.goto(f"{site}/tama-friends/app/")
        one.click("#who")
        one.click(f"#people [data-id={who.id}]")
        expect(one.locator("#who .clip")).to_have_text(who.name)
    page.goto(f"{site}/tama-friends/app/#/pets/ben")
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Unfollow", exact=True)).to_be_visible()
    phone.get_by_role("button", name="New picture").click()
    phone.fill("#text", "Look, Marta!")
    phone.get_by_role("button", name="Post", exact=True).click()
    expect(phone.locator("article", has_text="Look, Marta!")).to_be_visible()
    page.goto(f"{site}/tama-friends/app/#/")
    page.reload()
    post = page.locator("article", has_text="Look, Marta!")
    post.get_by_label("Like,").click()
    expect(post.get_by_label("Like, 1 so far")).to_be_visible()


def test_a_feed_has_what_the_followed_say(page: Page, phone: Page, site: str) -> None:
    test_gg_core.visit(page, site, "ada", "people")
    test_gg_core.visit(phone, site, "ben")
    page.fill("#find", "ben")
    page.get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Follow", exact=True).click()
    expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    page.get_by_role("link", name="Feed").click()
    expect(page.locator(".trail")).to_contain_text("Nothing yet")
    phone.fill("#said", "First tomato of the year!")
    phone.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator(".trail")).to_contain_text("First tomato")


def test_a_season_is_sold_together(page: Page, phone: Page, site: str) -> None:
    test_sellers_page.visit(page, site, "ada")
    test_sellers_page.visit(phone, site, "ben")
    test_sellers_page.make_catalog(page, "Cookies")
    test_sellers_page.start_season(page, "Ada’s stand", "Spring")
    page.get_by_role("link", name="Ada’s stand").click()
    page.get_by_role("button", name="Share", exact=True).click()
    page.fill("#helper-email", "ben@x.org")
    page.locator("#helper .btn.main").click()
    phone.get_by_role("link", name="Ada’s stand").click()
    phone.locator("a.season", has_text="Spring").click()
    test_sellers_page.take_order(phone, "Ms. Doe", 3)
    page.locator("a.season").click()
    expect(page.locator(".order b.num")).to_have_text("$16.50")
