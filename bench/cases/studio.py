"""The studio: what a click waits for, and what it asks of the backend, as the table grows."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import quantiles

from starlette.testclient import TestClient

from bench.cases.growth import filled
from bench.harness import Budget, Case, Outcome, Row
from bench.items import key
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold_workbench.adopt.inspection import observe
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

TOKEN = "bench"
GOAL_MILLISECONDS = 100
PAGES = ("map", "data", "data?entity={entity}", "data?table=bench&pk={pk}", "find?q={pk}",
         "patterns", "review")  # fmt: skip


def run(_stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    sizes = [10**4, 10**5, *([10**6, 10**7] if budget.full else [])]
    first = f"keyfold, {sizes[0]:,} items"
    outcome = Outcome("studio", "studio, a click", first, goal=f"p95 under {GOAL_MILLISECONDS} ms")
    worst = 0.0
    for size in sizes:
        with ExitStack() as stack:
            worst = max(worst, _clicks(stack, budget, outcome, size))
    for row in outcome.rows:
        row.ratio = row.median / outcome.rows[0].median
    outcome.met = worst < GOAL_MILLISECONDS
    yield outcome


def _clicks(stack: ExitStack, budget: Budget, outcome: Outcome, size: int) -> float:
    """Go through the pages of a table; the milliseconds that 95 of 100 clicks stay under."""
    client = RecordedClient(EmbeddedClient(filled(stack, size, key)), ReadLimits(10**9, 1e12, 1e9))
    schema = observe(client, "bench", sample=500)
    system = StudioSystem("bench", "bench", schema, client, "bench.db", writable=False)
    app = create_studio([system], Gate(token=TOKEN))
    browser = stack.enter_context(TestClient(app, base_url="http://localhost"))
    browser.get(f"/?token={TOKEN}")
    system.survey.tables(60.0)
    entity = schema.entities[0].name
    times: list[float] = []
    slowest = (0.0, "")
    requests: dict[str, int] = {}
    ends = time.monotonic() + max(2.0, 20 * budget.seconds)
    for number in itertools.count():
        page = PAGES[number % len(PAGES)]
        pk = key(number * 7919 % size)["PK"]["S"].replace("#", "%23")
        before, begun = len(client.requests), time.perf_counter()
        answer = browser.get(f"/s/bench/{page.format(entity=entity, pk=pk)}")
        times.append(1000 * (time.perf_counter() - begun))
        slowest = max(slowest, (times[-1], page))
        assert answer.status_code == 200, (page, answer.text)
        asked = len(client.requests) - before
        requests[page] = max(requests.get(page, 0), asked)
        if number > 3 * len(PAGES) and time.monotonic() > ends:
            break
    cuts = quantiles(times, n=100)
    name = f"keyfold, {size:,} items"
    outcome.rows.append(Row(name, 1000 * cuts[49], (cuts[74] - cuts[24]) / cuts[49]))
    for place in (50, 95, 99):
        outcome.figures[f"{size:,} items, p{place}"] = f"{cuts[place - 1]:.1f} ms"
    outcome.figures[f"{size:,} items, slowest"] = f"{slowest[1]}: {slowest[0]:.0f} ms"
    outcome.figures[f"{size:,} items, requests of a click at most"] = max(requests.values())
    return cuts[94]


CASES = [Case("studio", "The studio", run)]
