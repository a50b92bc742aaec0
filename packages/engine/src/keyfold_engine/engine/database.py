"""One open data file with all that its operations share."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from keyfold_engine.clock import Clock
from keyfold_engine.engine.backfill import Backfills
from keyfold_engine.engine.catalog import Catalog
from keyfold_engine.engine.commits import Commits
from keyfold_engine.engine.delays import Delays
from keyfold_engine.engine.dialects import Dialect
from keyfold_engine.engine.extensions import OtherRegions
from keyfold_engine.engine.faults import Heat
from keyfold_engine.engine.lag import IndexLag
from keyfold_engine.engine.moments import Horizon, Moments
from keyfold_engine.engine.storage import StoredItem, translated
from keyfold_engine.engine.tables import TableDefinition

if TYPE_CHECKING:
    from pathlib import Path

P = TypeVar("P")


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
        regions: OtherRegions | None,
    ) -> None:
        self.clock = clock
        self.horizon = Horizon(clock)
        self.moments = Moments(clock)
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
        self.regions = regions
        self.caller: ContextVar[str | None] = ContextVar("caller", default=None)
        # Whether resource policies may exist; determined on first use.
        self.has_policies = True
        self.policy_changes = 0
        self.commits = Commits(path, durability, self._forget)
        self.write = self.commits.write
        self.read = self.commits.read
        self.snapshot = self.commits.snapshot
        self.backfills = Backfills(self)
        self.parts: dict[type, Any] = {}
        """What features keep beside the file, by class."""
        self.closing: list[Callable[[], None]] = []
        """Called before the file is closed."""
        try:
            self.backfills.resume()
        except apsw.Error as error:
            self.close()
            raise translated(error, path) from error

    def part(self, kind: type[P]) -> P:
        """What a feature keeps beside the file, made when it is first asked for."""
        found: P | None = self.parts.get(kind)
        return self.parts.setdefault(kind, kind()) if found is None else found

    def table(self, name: str) -> TableDefinition:
        """The table, for reading items."""
        known = self.catalog.cached(name)
        if known is not None:
            return known
        with self.read() as session:
            return self.catalog.get(session, name)

    def named(self, name: str) -> TableDefinition:
        """The current table, with the error message of table operations."""
        with self.read() as session:
            return self.catalog.named(session, name)

    def find(self, table: TableDefinition, place: bytes) -> StoredItem | None:
        """An item as the last commit left it."""
        session = self.commits.take()
        try:
            return session.find(table.id, place)
        finally:
            self.commits.put_back(session)

    def expect_policies(self) -> None:
        """Something that restricts callers is made, perhaps by another process."""
        self.policy_changes += 1
        self.has_policies = True

    def _forget(self) -> None:
        self.catalog.forget()
        self.expect_policies()

    def arn(self, resource: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:{resource}"

    def close(self) -> None:
        self.backfills.stop()
        for stop in self.closing:
            stop()
        self.commits.close()
