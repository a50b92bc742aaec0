"""What a migration will take: it is run on a page of each table, in memory, and multiplied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from keyfold.errors import KeyfoldError
from keyfold.migrations.backend import Backend
from keyfold.migrations.migration import Migration, Phase
from keyfold.migrations.progress import duration
from keyfold.migrations.runner import Migrator
from keyfold.migrations.state import SUPPORT
from keyfold.migrations.table_scan import PAGE, ScanPace
from keyfold.prices import prices
from keyfold.runtime.flow import run_by
from keyfold.runtime.tables import create_request
from keyfold.runtime.walk import write_batches
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clients.recorder import ReadLimits, RecordedClient
from keyfold_engine.engine import Engine
from keyfold_engine.operations import READS, WRITES

_PHASES: Final[tuple[Phase, ...]] = ("backfill", "verify")
"""Those that go through all items."""


@dataclass(frozen=True)
class PhaseEstimate:
    """What one phase will take."""

    phase: Phase
    items: int
    requests: int
    read_units: float
    write_units: float
    problem: str = ""
    """Why it would end, as far as the page shows."""

    @property
    def cost(self) -> float:
        """Dollars, on demand."""
        asked = prices()
        return (self.read_units * asked.read + self.write_units * asked.write) / 1e6

    def words(self, rate: float = 0.0) -> str:
        took = f", {duration(self.items / rate)} at {rate:,.0f} items a second" if rate else ""
        return (
            f"{self.phase}: {self.items:,} items, about {self.requests:,} requests, "
            f"{self.read_units:,.0f} read units, {self.write_units:,.0f} write units, "
            f"${self.cost:,.2f} on demand{took}{'; ' if self.problem else ''}{self.problem}"
        )


def estimate(migration: Migration, backend: Backend) -> Iterator[PhaseEstimate]:
    """The cost of the phases that go through all items. Writes nothing."""
    known = backend.with_names_of(migration.tables)
    with closing(Engine.open(":memory:")) as engine:
        client = RecordedClient(EmbeddedClient(engine), ReadLimits(1 << 60, inf, inf), writes=True)
        trial = Backend(client).with_names_of(migration.tables)
        found, items = 0, 0
        for table in migration.touched:
            sampled, there = _copy_page(known, trial, table)
            if table in migration.sources:
                found, items = found + sampled, items + there
        share = items / found if found else 0.0
        migrator = Migrator(migration, trial, pace=ScanPace(segments=1))
        problem = ""
        for phase in _PHASES if migration.sources else ():
            client.requests.clear()
            try:
                migrator.apply(phase)
            except KeyfoldError as refused:
                problem = str(refused)
            yield _estimated(phase, items, share, client, problem)
            if problem:
                return


def _copy_page(known: Backend, trial: Backend, table: str) -> tuple[int, int]:
    """Take a page of a table into the trial; how many items that are, of how many."""
    live = known.live(table)
    if live is None:
        return 0, 0
    request = {"TableName": known.physical(table), "Limit": PAGE}
    page = known.call("Scan", request)["Items"]
    name = trial.physical(table)
    trial.call("CreateTable", create_request(replace(live, stream=None), name))
    run_by(trial.call, write_batches((name, {"PutRequest": {"Item": item}}) for item in page))
    described = known.describe(table) or {}
    return len(page), max(int(described.get("ItemCount", 0)), len(page))


def _estimated(
    phase: Phase, items: int, share: float, client: RecordedClient, problem: str
) -> PhaseEstimate:
    """What the page took, without what the migration notes about itself, times its share."""
    sent = [
        one
        for one in client.requests
        if one.operation in READS | WRITES
        and not str(one.request.get("TableName", "")).endswith(SUPPORT.name)
    ]
    read, written = (
        sum(one.units for one in sent if one.operation in kind) * share for kind in (READS, WRITES)
    )
    return PhaseEstimate(phase, items, round(len(sent) * share), read, written, problem)
