"""The studio's first paint in Chromium, beside a page that has nothing but a word in it; and for
each page, what the server does for it: processor time, requests to the backend, bytes.
"""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bench.cases.growth import filled
from bench.harness import Budget, Case, Outcome, Row
from bench.items import TABLE, key
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_workbench.adopt.inspection import observe
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

ITEMS: Final = 10**4
GOAL_MILLISECONDS: Final = 300
TOKEN: Final = "bench"
PLACE: Final = {"table": TABLE["TableName"], "pk": key(7)["PK"]["S"]}
PAGES: Final = {
    "home": "",
    "map": "s/bench/map",
    "data": "s/bench/data",
    "partition": f"s/bench/data?{urlencode(PLACE)}",
    "item": f"s/bench/data?{urlencode({**PLACE, 'isk': key(7)['SK']['S']})}",
    "patterns": "s/bench/patterns",
    "review": "s/bench/review",
}
PAINTED: Final = """() => new Promise((done) => {
    const told = () => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        if (paint) done(paint.startTime); else requestAnimationFrame(told);
    };
    told();
})"""

CLICKED: Final = """(place) => new Promise((done) => {
    const begun = performance.now();
    new MutationObserver((_, self) => {
        self.disconnect();
        requestAnimationFrame(() => done(performance.now() - begun));
    }).observe(document.querySelector('#detail'), { childList: true, subtree: true });
    document.querySelectorAll('.rows .row')[place].click();
})"""


class CountedClient:
    """A client that counts its requests."""

    def __init__(self, client: EmbeddedClient) -> None:
        self._client, self.requests = client, 0

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self.requests += 1
        return self._client.call(operation, request)

    def close(self) -> None:
        self._client.close()


@dataclass
class Watched:
    """An application that notes what each of its answers took."""

    app: ASGIApp
    client: CountedClient
    taken: dict[str, list[tuple[float, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Seconds of processor time, requests and bytes, by address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        bytes_sent = 0

        async def count(message: Message) -> None:
            nonlocal bytes_sent
            bytes_sent += len(message.get("body", b""))
            await send(message)

        before = time.process_time(), self.client.requests
        await self.app(scope, receive, count)
        used, asked = time.process_time() - before[0], self.client.requests - before[1]
        query = scope["query_string"].decode()
        self.taken[scope["path"] + (f"?{query}" if query else "")].append((used, asked, bytes_sent))


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    outcome = Outcome(
        "paint", "studio, first paint", "one word", goal=f"p95 under {GOAL_MILLISECONDS} ms"
    )
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        outcome.missing.append("chromium")
        yield outcome
        return
    from playwright.sync_api import sync_playwright

    client = CountedClient(EmbeddedClient(filled(stack, ITEMS, key)))
    schema = observe(client, "bench", sample=500)
    system = StudioSystem("bench", "bench", schema, client, "bench.db", writable=False)
    system.survey.tables(60.0)
    watched = Watched(create_studio([system], Gate(token=TOKEN)), client)
    where = stack.enter_context(_served(watched))
    playwright = stack.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
    stack.callback(browser.close)
    page = browser.new_page()
    page.goto(f"{where}/studio/?token={TOKEN}")
    addresses = {("one word", name): f"{where}/word" for name in PAGES} | {
        ("keyfold", name): f"{where}/studio/{one}" for name, one in PAGES.items()
    }
    times: dict[tuple[str, str], list[float]] = {one: [] for one in addresses}
    for number in range(-1, 2 * budget.rounds):
        for one, address in addresses.items():
            page.goto(address)
            if number >= 0:  # the first round fills the browser's cache
                times[one].append(page.evaluate(PAINTED))
    page.goto(addresses["keyfold", "partition"])
    clicks = [page.evaluate(CLICKED, 1 + turn % 20) for turn in range(4 * budget.rounds)]
    outcome.figures["click on a row"] = _percentiles(clicks)
    for side in ("one word", "keyfold"):
        cuts = quantiles((t for (of, _), all_ in times.items() if of == side for t in all_), n=100)
        outcome.rows.append(Row(side, 1000 * cuts[49], (cuts[74] - cuts[24]) / cuts[49]))
        for place in (50, 95, 99):
            outcome.figures[f"{side}, p{place}"] = f"{cuts[place - 1]:.0f} ms"
        outcome.met = cuts[94] < GOAL_MILLISECONDS
    for name in PAGES:
        parts = urlsplit(addresses["keyfold", name])
        address = parts.path + (f"?{parts.query}" if parts.query else "")
        outcome.figures[f"page {name}"] = _said(times["keyfold", name], watched.taken[address])
    for row in outcome.rows:
        row.ratio = row.median / outcome.rows[0].median
    yield outcome


def _said(painted: list[float], taken: list[tuple[float, int, int]]) -> str:
    used, asked, sent = (median(numbers) for numbers in zip(*taken, strict=True))
    return (
        f"{_percentiles(painted)}; {1000 * used:.1f} ms of processor time, {asked:.0f} requests, "
        f"{sent / 1000:.0f} KB"
    )


def _percentiles(milliseconds: list[float]) -> str:
    cuts = quantiles(milliseconds, n=20)
    return f"p50 {cuts[9]:.0f} ms, p95 {cuts[18]:.0f} ms"


@contextmanager
def _served(studio: ASGIApp) -> Iterator[str]:
    """The studio and the page of one word, on a thread of their own."""

    async def word(_request: object) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>word</title>word")

    app = Starlette(routes=[Route("/word", word), Mount("/studio", studio)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


CASES = [Case("paint", "The studio's first paint", run)]
