"""A browser that can reach nothing but this machine."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright
from starlette.applications import Starlette

STOP_SECONDS = 60


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def served(opened: Callable[[], AbstractAsyncContextManager[Starlette]]) -> Iterator[str]:
    """Where an application is, while a thread of its own serves it."""
    listener = socket.create_server(("127.0.0.1", 0))
    servers: list[uvicorn.Server] = []
    begun = threading.Event()

    async def serve() -> None:
        async with opened() as app:
            # Chromium opens connections before it needs them; one that comes while the server
            # stops is never used, and the server would wait for it.
            settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
            servers.append(uvicorn.Server(settings))
            begun.set()
            await servers[0].serve(sockets=[listener])

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            begun.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    begun.wait()
    assert servers, "the application could not be opened; its error is above"
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    servers[0].should_exit = True
    thread.join(STOP_SECONDS)
    assert not thread.is_alive(), "the application does not stop"
    listener.close()


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """A page of a site; its errors, and requests to anywhere else, fail the test."""
    complaints: list[str] = []
    page = browser.new_page()

    def guard(route: Route) -> None:
        if route.request.url.startswith((site, "data:", "blob:")):
            route.continue_()
        else:
            complaints.append(f"asked for {route.request.url}")
            route.abort()

    def hear(said: ConsoleMessage) -> None:
        # The browser notes each refusal, also those that a page expects and shows.
        if said.type == "error" and "the server responded with a status of 4" not in said.text:
            complaints.append(said.text)

    page.route("**/*", guard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", hear)
    yield page
    page.close()
    assert complaints == []
