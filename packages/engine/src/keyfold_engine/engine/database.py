"""One open data file with all that its operations share."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from keyfold_engine.clock import Clock
from keyfold_engine.engine.backfill import Backfills
from keyfold_engine.engine.catalog import Catalog
from keyfold_engine.engine.commits import Commits
from keyfold_engine.engine.contributors import KeyCounts
from keyfold_engine.engine.delays import Delays
from keyfold_engine.engine.dialects import Dialect
from keyfold_engine.engine.faults import Heat
from keyfold_engine.engine.horizon import Horizon
from keyfold_engine.engine.lag import IndexLag
from keyfold_engine.engine.storage import StoredItem, translated
from keyfold_engine.engine.tables import TableDefinition

if TYPE_CHECKING:
    from pathlib import Path

    from keyfold_engine.engine.destinations import Deliveries
    from keyfold_engine.engine.replication.regions import Regions
    from keyfold_engine.engine.vectors.cache import VectorPartitions


class Database:
    """What an operation works with: the file, its tables, the clock, the index lag."""

    def __init__(
        self,
        path: str,
        *,
        clock: Clock,
        durability: str,
        lag: IndexLag,
        dialect: Dialect,
        region: str,
        account: str,
        stream_shards: int,
        heat: Heat | None,
        buckets: Path | None,
        delays: Delays,
        approximate: bool,
        kinesis: str | None,
        regions: Regions | None,
    ) -> None:
        self.clock = clock
        self.horizon = Horizon(clock)
        self.lag = lag
        self.dialect = dialect
        self.endpoint = "localhost:8000"
        self.region = region
        self.account = account
        self.stream_shards = stream_shards
        self.heat = heat
        self.buckets = buckets
        self.catalog = Catalog()
        self.delays = delays
        self._approximate = approximate
        self.regions = regions
        self.caller: ContextVar[str | None] = ContextVar("caller", default=None)
        # Whether resource policies may exist; determined on first use.
        self.has_policies = True
        self.policy_changes = 0
        self.commits = Commits(path, durability, self._forget)
        self.hot = self.commits.hot
        self.write = self.commits.write
        self.read = self.commits.read
        self.snapshot = self.commits.snapshot
        self.backfills = Backfills(self)
        self.key_counts = KeyCounts()
        self.deliveries = None if kinesis is None else self._deliveries(kinesis)
        try:
            self.backfills.resume()
        except apsw.Error as error:
            self.close()
            raise translated(error, path) from error

    @cached_property
    def vectors(self) -> VectorPartitions:
        """Recently searched parts of vector indexes; few databases have any."""
        from keyfold_engine.engine.vectors.cache import VectorPartitions

        return VectorPartitions(approximate=self._approximate)

    def _deliveries(self, target: str) -> Deliveries:
        from keyfold_engine.engine.destinations import Deliveries

        return Deliveries(self, target)

    def table(self, name: str) -> TableDefinition:
        """The table, for reading items."""
        known = self.catalog.cached(name)
        if known is not None:
            return known
        with self.read() as session:
            return self.catalog.get(session, name)

    def find(self, table: TableDefinition, place: bytes) -> StoredItem | None:
        """An item as the last commit left it."""
        if table.watched:
            self.key_counts.used(table, place)
        hot = self.hot
        if hot is not None and (kept := hot.find(table.id, place)) is not None:
            return kept
        session = self.commits.take()
        try:
            if hot is None:
                return session.find(table.id, place)
            marks = hot.marks()
            stored = session.find(table.id, place)
            if stored is not None:
                hot.keep(table.id, place, stored, marks)
            return stored
        finally:
            self.commits.put_back(session)

    def expect_policies(self) -> None:
        """A policy is made, perhaps by another process."""
        self.policy_changes += 1
        self.has_policies = True

    def _forget(self) -> None:
        self.catalog.forget()
        self.expect_policies()

    def arn(self, resource: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:{resource}"

    def close(self) -> None:
        self.backfills.stop()
        if self.deliveries is not None:
            self.deliveries.stop()
        self.commits.close()
