"""Copies that a stream makes late take their place on a page, once, and by their time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from keyfold import AsyncDb
from keyfold_web.consumers import following

from .conftest import served
from .town import ADA, BEN, SYSTEMS, call, serve, visit


@asynccontextmanager
async def held(databases: list[AsyncDb], until: threading.Event) -> AsyncIterator[None]:
    """Consumers that do nothing before then."""

    async def follow() -> None:
        while not until.is_set():
            await asyncio.sleep(0.05)
        async with following(databases):
            await asyncio.Event().wait()

    task = asyncio.create_task(follow())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.fixture
def released() -> threading.Event:
    return threading.Event()


@pytest.fixture
def site(released: threading.Event) -> Iterator[str]:
    @asynccontextmanager
    async def town() -> AsyncIterator[Starlette]:
        async with AsyncExitStack() as stack:
            databases = [
                await stack.enter_async_context(await one.design.open_async(":memory:"))
                for one in SYSTEMS
            ]
            await stack.enter_async_context(held(databases, released))
            yield await serve(databases)

    with served(town) as address:
        yield address


def test_a_late_post_stands_below_what_is_newer(
    page: Page, site: str, released: threading.Event
) -> None:
    call(site, "tama-friends", ADA, "/users/ada/following", {"followeeId": "ben"})
    call(site, "tama-friends", BEN, "/posts", {"text": "The older one"})
    visit(page, site, "tama-friends", "ada")
    page.fill("#say", "The newer one")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.locator("article .words").first).to_have_text("The newer one")
    released.set()
    expect(page.locator("article .words")).to_have_text(["The newer one", "The older one"])
    expect(page.locator("#unread")).to_be_hidden()
    page.reload()
    expect(page.locator("article .words")).to_have_text(["The newer one", "The older one"])


def test_a_late_entry_stands_below_what_is_newer(
    page: Page, site: str, released: threading.Event
) -> None:
    call(site, "gg-core", ADA, "/following/ben", {})
    call(site, "gg-core", BEN, "/activities", {"previewText": "The older one"})
    visit(page, site, "gg-core", "ada", "feed")
    expect(page.locator("#entries > *").first).to_be_visible()
    page.fill("#said", "The newer one")
    page.click("#post button")
    expect(page.locator("#entries .words").first).to_have_text("The newer one")
    released.set()
    expect(page.locator("#entries .words")).to_have_text(["The newer one", "The older one"])
    page.reload()
    expect(page.locator("#entries .words")).to_have_text(["The newer one", "The older one"])


def test_late_news_are_counted_once_they_come(
    page: Page, site: str, released: threading.Event
) -> None:
    visit(page, site, "inviter", "ben")
    times = {"startsAt": "2100-01-03T10:00:00Z", "endsAt": "2100-01-03T11:00:00Z"}
    call(site, "inviter", ADA, "/hangouts", {"title": "Late news", **times, "userIds": ["ben"]})
    page.reload()
    expect(page.locator("#unread")).to_be_hidden()
    released.set()
    expect(page.locator("#unread")).to_have_text("1")
    expect(page.locator("article.hangout h3")).to_have_text("Late news")
