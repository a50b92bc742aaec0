"""What a stream makes late takes its place on a page, once."""

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
from .town import ADA, SYSTEMS, call, serve, visit


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


def test_an_invitation_does_not_wait_for_the_stream(page: Page, site: str) -> None:
    visit(page, site, "inviter", "ben")
    news = {"title": "Late news", "startTimestamp": "2100-01-03T10:00:00Z"}
    call(site, "inviter", ADA, "/hangouts", {**news, "invitedUsers": ["ben"]})
    page.reload()
    expect(page.locator("#calendar a b")).to_have_text("Late news")
