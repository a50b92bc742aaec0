"""A home that is live by server-sent events: each subscription begins when its own request does."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from playwright.sync_api import Page, Route, expect
from starlette.applications import Starlette

from keyfold import AsyncDb
from keyfold_web.app import ApiSettings, create_app
from keyfold_engine.clock import ManualClock, SystemClock
from keyfold.streams import AsyncConsumer
from keyfold_systems.tamafriends.design import design
from keyfold_systems.tamafriends.entities import home
from keyfold_systems.tamafriends.payloads import NewPost
from keyfold_systems.tamafriends.service import TamaFriends

from .conftest import served
from .test_late_copies import held
from .town import ADA, BEN, PEOPLE, call, settle_in, visit


async def read_often(db: AsyncDb, clock: ManualClock) -> None:
    """Ada looks at her home every minute, so that posts are copied to her."""
    await AsyncConsumer(db).drain()
    for _ in range(60):
        await home.page(db, "ada", limit=10)
        clock.advance(60)
    await AsyncConsumer(db).drain()


@pytest.fixture
def released() -> threading.Event:
    return threading.Event()


@pytest.fixture
def site(released: threading.Event) -> Iterator[str]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        clock = ManualClock(SystemClock().now())
        async with await design.open_async(":memory:", clock=clock) as db, held([db], released):
            service = TamaFriends(db)
            await settle_in(service, db)
            await service.follow("ada", "ben")
            await read_often(db, clock)
            await service.create_post(NewPost(text="Made before"), caller=BEN)
            people = {service.name: list(PEOPLE)}
            yield create_app([service], ApiSettings(development=True, people=people))

    with served(opened) as address:
        yield address


def test_a_copy_that_comes_before_its_subscription_is_shown(
    page: Page, site: str, released: threading.Event
) -> None:
    waiting: list[Route] = []

    def serve_events(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(" data-sockets", ""))

    def hold(route: Route) -> None:
        if "homeFilled" in (route.request.post_data or ""):
            waiting.append(route)
        else:
            route.fallback()

    page.route("**/app/", serve_events)
    page.route("**/graphql", hold)
    visit(page, site, "tama-friends", ADA.id)
    expect(page.locator("#view .empty")).to_contain_text("It is quiet here")
    released.set()
    while not call(site, "tama-friends", ADA, "/users/ada/home", None, "GET")["items"]:
        page.wait_for_timeout(50)
    expect(page.locator("#view .empty")).to_be_visible()
    for one in waiting:
        one.fallback()
    expect(page.locator("article .words")).to_have_text("Made before")
