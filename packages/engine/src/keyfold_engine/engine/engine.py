"""The engine: DynamoDB in this process, on one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal, cast

import apsw

from keyfold_engine.clock import Clock, SystemClock
from keyfold_engine.engine import damage, dialects
from keyfold_engine.engine.calls import Calls
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.delays import Delays, DelaySetting
from keyfold_engine.engine.faults import Faults, Heat
from keyfold_engine.engine.lag import IndexLag, LagSetting
from keyfold_engine.engine.principal import HOME_ACCOUNT, Principal
from keyfold_engine.errors import Corrupt, StorageError

if TYPE_CHECKING:
    from keyfold_engine.features.replicas.regions import Regions

Durability = Literal["full", "relaxed", "memory"]
Dialect = Literal["current", "classic"]
"""The wording of validation errors: today's, or the one before mid 2026."""


class Engine(Calls):
    """An embedded database with DynamoDB's operations. Safe to use from many threads."""

    @classmethod
    def open(
        cls,
        path: str | PathLike[str] = ":memory:",
        *,
        clock: Clock | None = None,
        durability: Durability = "full",
        index_lag: LagSetting = None,
        faults: Faults | None = None,
        dialect: Dialect = "current",
        region: str = "us-east-1",
        account: str = HOME_ACCOUNT,
        stream_shards: int = 1,
        buckets: str | PathLike[str] | None = None,
        delays: DelaySetting = "at once",
        kinesis: str | PathLike[str] | None = None,
        regions: Regions | None = None,
    ) -> Engine:
        """Open a data file, making it if it is not there.

        `index_lag` is a number of seconds, a range of them, or "held" until `release_indexes`.
        `buckets` is a directory whose directories stand for the S3 buckets of exports and imports.
        `delays` says how long it takes until changes of tables are complete: no time, "amazon", or
        seconds by phase. `kinesis` is where changes go to for tables with a Kinesis destination: a
        directory, or a server of this machine. `regions` opens an engine as one of several (see
        `Regions`).
        """
        if stream_shards < 1:
            raise ValueError(f"a stream has at least one shard: stream_shards={stream_shards}")
        clock = clock or SystemClock()
        if kinesis is not None:
            from keyfold_engine.features.kinesis.destinations import Deliveries, check_target

            check_target(fspath(kinesis))
        folder = None
        if buckets is not None:
            from pathlib import Path

            folder = Path(buckets)
        path = fspath(path)
        database = Database(
            path,
            clock=clock,
            durability=durability,
            lag=IndexLag(index_lag, clock),
            dialect=dialects.named(dialect),
            region=region,
            account=account,
            stream_shards=stream_shards,
            heat=Heat(clock) if faults is not None and faults.hot_keys else None,
            buckets=folder,
            delays=Delays(delays, clock),
            regions=regions,
        )
        if kinesis is not None:
            Deliveries(database, fspath(kinesis))
        return cls(database, faults)

    @property
    def endpoint(self) -> str:
        """The host and port that DescribeEndpoints returns."""
        return (self._database.regions or self._database).endpoint

    @endpoint.setter
    def endpoint(self, address: str) -> None:
        (self._database.regions or self._database).endpoint = address

    @property
    def _regions(self) -> Regions | None:
        return cast("Regions | None", self._database.regions)

    @property
    def has_regions(self) -> bool:
        """Whether it is one of several regions."""
        return self._database.regions is not None

    def of_caller(self, account: str, region: str) -> Engine:
        """The engine of a caller's account and region; this one if it is alone."""
        regions = self._regions
        if regions is None:
            return self
        if region not in regions.known:
            region = self._database.region
        if regions.accounts is not None and account != self._database.account:
            return regions.accounts.engine(account, region)
        return self if region == self._database.region else regions.engine(region)

    def open_engines(self) -> list[Engine]:
        """This engine, and the open engines of other regions and accounts."""
        regions = self._regions
        if regions is None:
            return [self]
        return (regions.accounts or regions).opened()

    @property
    def database(self) -> Database:
        """The engine's internals, for its own parts."""
        return self._database

    @property
    def path(self) -> str:
        """The data file, or `:memory:`."""
        return self._database.commits.path

    def is_restricted(self, caller: Principal) -> bool:
        """Whether policies may restrict callers; answered without the file."""
        return self._database.has_policies or caller.account != self._database.account

    @contextmanager
    def snapshot(self, table: str) -> Iterator[Iterator[bytes]]:
        """All items of a table at one moment, as JSON, regardless of later writes."""
        try:
            from keyfold_engine.features.backups import snapshot
        except OSError as error:
            # Without file handles, no module is read either.
            raise StorageError(f"{self.path} cannot be read: {error.strerror}") from error
        database = self._database
        try:
            with snapshot.take(database, lambda s: database.catalog.get(s, table)) as taken:
                yield taken.bodies()
        except (apsw.Error, Corrupt) as error:
            failure = self._public_error(error)
            if isinstance(failure, Corrupt):
                failure = damage.named(failure, {"TableName": table})
            raise failure from error

    def release_indexes(self) -> None:
        """Let global indexes see every change, whatever their lag."""
        self._database.lag.release()

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` after each commit of this process; calling the result ends that.

        Writers wait while it runs: it must be quick and must not call the engine.
        """
        return self._database.commits.on_commit(tell)

    def deliver(self) -> int:
        """Deliver waiting records to Kinesis destinations; returns how many."""
        from keyfold_engine.features.kinesis.destinations import Deliveries

        deliveries: Deliveries | None = self._database.parts.get(Deliveries)
        return 0 if deliveries is None else deliveries.deliver()

    def sweep(self) -> int:
        """Delete expired items and stream records older than a day."""
        from keyfold_engine.engine import sweep

        return sweep.all_of(self._database)

    def close(self) -> None:
        """Close the file; waits for work in progress."""
        self._database.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
