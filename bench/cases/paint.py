"""The studio's first paint in Chromium, beside a page that has nothing but a word in it."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import quantiles
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from bench.cases.growth import filled
from bench.harness import Budget, Case, Outcome, Row
from bench.items import key
from keyfold.adopt.inspection import observe
from keyfold.clients.embedded import EmbeddedClient
from keyfold.studio import Gate, StudioSystem, create_studio

ITEMS: Final = 10**4
GOAL_MILLISECONDS: Final = 300
TOKEN: Final = "bench"
PAGES: Final = ("", "s/bench/map", "s/bench/data", "s/bench/patterns", "s/bench/review")
PAINTED: Final = """() => new Promise((done) => {
    const told = () => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        if (paint) done(paint.startTime); else requestAnimationFrame(told);
    };
    told();
})"""


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

    client = EmbeddedClient(filled(stack, ITEMS, key))
    schema = observe(client, "bench", sample=500)
    system = StudioSystem("bench", "bench", schema, client, "bench.db", writable=False)
    system.survey.tables(60.0)
    where = stack.enter_context(_served(create_studio([system], Gate(token=TOKEN))))
    playwright = stack.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
    stack.callback(browser.close)
    page = browser.new_page()
    page.goto(f"{where}/studio/?token={TOKEN}")
    addresses = {"one word": [f"{where}/word"] * len(PAGES)}
    addresses["keyfold"] = [f"{where}/studio/{one}" for one in PAGES]
    times: dict[str, list[float]] = {side: [] for side in addresses}
    for number in range(-1, 2 * budget.rounds):
        for side, pages in addresses.items():
            for one in pages:
                page.goto(one)
                if number >= 0:  # the first round fills the browser's cache
                    times[side].append(page.evaluate(PAINTED))
    for side, taken in times.items():
        cuts = quantiles(taken, n=100)
        outcome.rows.append(Row(side, 1000 * cuts[49], (cuts[74] - cuts[24]) / cuts[49]))
        for place in (50, 95, 99):
            outcome.figures[f"{side}, p{place}"] = f"{cuts[place - 1]:.0f} ms"
        outcome.met = cuts[94] < GOAL_MILLISECONDS
    for row in outcome.rows:
        row.ratio = row.median / outcome.rows[0].median
    yield outcome


@contextmanager
def _served(studio: Starlette) -> Iterator[str]:
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
