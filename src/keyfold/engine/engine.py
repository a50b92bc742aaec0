"""The engine: DynamoDB in this process, on one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import apsw
import orjson

from keyfold.clock import Clock, SystemClock
from keyfold.engine import (
    backups,
    bodies,
    contributors,
    damage,
    dialects,
    leftovers,
    operations,
    shapes,
    snapshot,
    steps,
    storage,
    streams,
    transactions,
    ttl,
)
from keyfold.engine.answers import encoded
from keyfold.engine.capacity import named_as_asked
from keyfold.engine.commit_group import Result, bare
from keyfold.engine.contributors import Rule
from keyfold.engine.database import Database
from keyfold.engine.delays import Delays, DelaySetting
from keyfold.engine.destinations import check_target
from keyfold.engine.faults import Faults, Heat
from keyfold.engine.item_cache import HotItems, Marks
from keyfold.engine.lag import IndexLag, LagSetting
from keyfold.engine.lane import WouldStall, here, may_wait
from keyfold.engine.operations import Operation
from keyfold.engine.policies.principal import HOME_ACCOUNT, Principal
from keyfold.errors import (
    Corrupt,
    OperationError,
    RequestInvalid,
    SerializationError,
    TransportError,
)
from keyfold.values import Item

if TYPE_CHECKING:
    from keyfold.engine.replication.regions import Regions

P = ParamSpec("P")
T = TypeVar("T")

# Operations whose answer on the wire is nothing at all.
_WITHOUT_BODY = frozenset(("TagResource", "UntagResource"))

Durability = Literal["full", "relaxed", "memory"]
Dialect = str
"""`current`, `classic`, or the name of a region of Amazon's."""

_ABOUT_ITEMS = frozenset(
    ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
)


class Engine:
    """An embedded database with DynamoDB's operations. Safe to use from many threads."""

    def __init__(self, database: Database, faults: Faults | None) -> None:
        self._database = database
        self._faults = faults

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
        hot: HotItems | None = None,
        delays: DelaySetting = "at once",
        kinesis: str | PathLike[str] | None = None,
        regions: Regions | None = None,
    ) -> Engine:
        """Open a data file, making it if it is not there.

        `index_lag` is a number of seconds, a range of them, or "held" until `release_indexes`.
        `buckets` is a directory whose directories stand for the S3 buckets of exports and imports.
        `hot` keeps items in memory: only for a file that nobody else writes to than the processes
        that share its marks. `delays` says how long it takes until changes of tables are complete:
        no time, "amazon", or seconds by phase. `kinesis` is where changes go to for tables with a
        Kinesis destination: a directory, or a server of this machine. `regions` opens an engine as
        one of several (see `Regions`).
        """
        if stream_shards < 1:
            raise ValueError(f"a stream has at least one shard: stream_shards={stream_shards}")
        clock = clock or SystemClock()
        if kinesis is not None:
            check_target(fspath(kinesis))
        path = fspath(path)
        if path == ":memory:":
            hot = HotItems(Marks())
        return cls(
            Database(
                path,
                clock=clock,
                durability=durability,
                lag=IndexLag(index_lag, clock),
                dialect=dialects.named(dialect),
                region=region,
                account=account,
                stream_shards=stream_shards,
                heat=Heat(clock) if faults is not None and faults.hot_keys else None,
                buckets=None if buckets is None else Path(buckets),
                hot=hot,
                delays=Delays(delays, clock),
                kinesis=None if kinesis is None else fspath(kinesis),
                regions=regions,
            ),
            faults,
        )

    @property
    def endpoint(self) -> str:
        """Where DescribeEndpoints says that this database is asked: a host and a port."""
        return (self._database.regions or self._database).endpoint

    @endpoint.setter
    def endpoint(self, address: str) -> None:
        (self._database.regions or self._database).endpoint = address

    @property
    def has_regions(self) -> bool:
        """Whether it is one of several regions."""
        return self._database.regions is not None

    def of_caller(self, account: str, region: str) -> Engine:
        """The engine of a caller's account and region; this one, if it is alone."""
        regions = self._database.regions
        if regions is None:
            return self
        if region not in regions.known:
            region = self._database.region
        if regions.accounts is not None and account != self._database.account:
            return regions.accounts.engine(account, region)
        return self if region == self._database.region else regions.engine(region)

    def company(self) -> list[Engine]:
        """This engine, and those of the other regions and accounts that are open beside it."""
        regions = self._database.regions
        if regions is None:
            return [self]
        return (regions.accounts or regions).opened()

    @property
    def database(self) -> Database:
        """What its operations work with; for the parts of the engine itself."""
        return self._database

    @property
    def path(self) -> str:
        """The data file, or `:memory:`."""
        return self._database.commits.path

    def call(
        self, operation: str, request: Mapping[str, Any], *, caller: str | None = None
    ) -> dict[str, Any]:
        """Carry out one operation: wire-shaped request in, wire-shaped answer out.

        `caller` is the ARN of who asks, if resource policies are to be asked whether he may.
        """
        # Through bytes, so that stored items are decoded once and nothing is shared.
        try:
            checked = self._checked(operation, request)
            with self._as(Principal(caller) if caller is not None else None, operation, checked):
                found = self._answer(operation, checked)
            answer: dict[str, Any] = orjson.loads(encoded(found))
        except (UnicodeEncodeError, orjson.JSONEncodeError):
            raise SerializationError("The request has text that is not valid Unicode") from None
        return answer

    def call_bytes(self, operation: str, body: bytes) -> bytes:
        """The same with JSON bytes; stored items are spliced into the answer as they are."""
        request = self._read(operation, body)
        if len(body) <= bodies.LARGE or not bodies.has_many(body):
            return self._encoded(operation, request)
        try:
            return self._encoded(operation, request)
        finally:
            # Only what is about items can have that many members and be kept by nobody.
            if operation in _ABOUT_ITEMS:
                bodies.dispose(request)

    def call_bytes_as(self, caller: Principal, operation: str, body: bytes) -> bytes:
        """The same for somebody whom resource policies may keep from it."""
        request = self._read(operation, body)
        with self._as(caller, operation, request):
            return self._encoded(operation, request)

    def is_restricted(self, caller: Principal) -> bool:
        """Whether policies may keep somebody from something: answered without the file."""
        return self._database.has_policies or caller.account != self._database.account

    def call_many_bytes(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]:
        """Several calls, each on its own as ever, whose writes share one commit."""
        if len(calls) == 1:
            return [_outcome(self.call_bytes, *calls[0])]
        # What needs no file is done before others have to wait for it.
        requests = [_outcome(self._read, *call) for call in calls]
        try:
            self._database.commits.start()
        except Exception as error:
            return _same_for_each(self._public_error(error), len(calls))
        return self._run_in_transaction(calls, requests)()

    def start_many_bytes(
        self, calls: Sequence[tuple[str, bytes]]
    ) -> Callable[[], list[Result]] | None:
        """The same but for the commit, which the result makes, in whatever thread it is called.

        None if others would have to be waited for. Until the commit is made, others wait for it.
        """
        commits = self._database.commits
        if self._faults is not None or not commits.is_free():
            return None
        requests = [_outcome(self._read, *call) for call in calls]
        try:
            if not commits.start_at_once():
                return None
        except Exception as error:
            return partial(_same_for_each, self._public_error(error), len(calls))
        return self._run_in_transaction(calls, requests)

    @contextmanager
    def snapshot(self, table: str) -> Iterator[Iterator[bytes]]:
        """All items of a table as of one moment, as JSON, whatever is written meanwhile."""
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
        """Call `tell` after each commit of this process, until the result is called.

        It is called while others wait to write: it has to be quick and may not call the engine.
        """
        return self._database.commits.on_commit(tell)

    def contributors(
        self, table: str, rule: Rule = "PKC", *, index: str = "", most: int = 10
    ) -> list[tuple[Item, int]]:
        """The keys that were used most (PKC, SKC) or throttled (PKT, SKT) in this process.

        Counted for tables and indexes whose contributor insights are enabled.
        """
        return contributors.top(self._database, table, rule, index, most)

    def deliver(self) -> int:
        """Deliver to Kinesis destinations what waits for it; how many records that were."""
        deliveries = self._database.deliveries
        return 0 if deliveries is None else deliveries.deliver()

    def sweep(self) -> int:
        """Delete items whose time to live is over and stream records past their day."""
        database = self._database
        steps.finish(database, partial(streams.trim, database))
        steps.finish(database, partial(backups.trim, database))
        database.write(lambda session: transactions.correct(database, session))
        deleted = ttl.sweep(database)
        steps.finish(database, leftovers.clear_some)
        return deleted

    def close(self) -> None:
        """Close the file; waits for work under way."""
        self._database.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _as(
        self, caller: Principal | None, operation: str, request: dict[str, Any]
    ) -> Iterator[None]:
        """Carry out what somebody asks for, if he may."""
        if caller is None:
            yield
            return
        # Policies are for signed callers: most processes never have one.
        from keyfold.engine.policies import store

        store.authorize(self._database, caller, operation, request)
        token = self._database.caller.set(caller.principal)
        try:
            yield
        finally:
            self._database.caller.reset(token)

    def _run_in_transaction(
        self, calls: Sequence[tuple[str, bytes]], requests: Sequence[dict[str, Any] | Exception]
    ) -> Callable[[], list[Result]]:
        """Carry out calls in a transaction that has begun; the rest commits it and has results."""
        commits = self._database.commits
        results: list[Result] = []
        try:
            for (operation, _), request in zip(calls, requests, strict=True):
                if here.lane is not None:
                    here.lane.begin()
                if isinstance(request, Exception):
                    results.append(request)
                else:
                    results.append(_outcome(self._encoded, operation, request))
        except BaseException as error:
            commits.abandon()
            if not isinstance(error, Exception):
                raise
            if isinstance(error, Corrupt) and len(calls) > 1:
                return partial(self._one_by_one, calls)
            return partial(_same_for_each, self._public_error(error), len(calls))
        commits.gathered()

        def finished() -> list[Result]:
            try:
                commits.finish()
            except Exception as error:
                return _same_for_each(self._public_error(error), len(calls))
            return results

        return finished

    def _one_by_one(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]:
        """Calls of which one met damage: the others are not to suffer from it."""
        results: list[Result] = []
        for call in calls:
            try:
                results.append(self.call_bytes(*call))
            except Exception as error:
                results.append(bare(error))
        return results

    def _public_error(self, error: Exception) -> Exception:
        """What callers are told of an error of the file."""
        if isinstance(error, apsw.BusyError) and not may_wait():
            return WouldStall()
        if isinstance(error, apsw.Error):
            return storage.translated(error, self._database.commits.path)
        return error

    def _read(self, operation: str, body: bytes) -> dict[str, Any]:
        try:
            request = orjson.loads(body) if len(body) <= bodies.LARGE else bodies.read(body)
        except ValueError:
            raise SerializationError from None
        dialect = self._database.dialect
        try:
            return shapes.check(operation, request, dialect, body)
        except RequestInvalid as error:
            raise dialect.error_in_words(operation, error, request) from None

    def _checked(self, operation: str, request: Any) -> dict[str, Any]:
        dialect = self._database.dialect
        try:
            return shapes.check(operation, request, dialect)
        except RequestInvalid as error:
            raise dialect.error_in_words(operation, error, request) from None

    def _encoded(self, operation: str, request: dict[str, Any]) -> bytes:
        answer = self._answer(operation, request)
        return b"" if operation in _WITHOUT_BODY else encoded(answer)

    def _answer(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request whose shape was checked."""
        work = operations.named(operation)
        try:
            if self._faults is None and self._database.regions is None:
                return self._run(work, request)
            if self._faults is not None:
                return self._faults.around(
                    operation, request, partial(self._attempt, work), self._database.arn
                )
            return self._attempt(work, request)
        except RequestInvalid as error:
            raise self._database.dialect.error_in_words(operation, error, request) from None

    def _attempt(self, work: Operation, request: dict[str, Any]) -> dict[str, Any]:
        regions = self._database.regions
        if regions is not None and not regions.is_following:
            # Most engines are alone, and start without this.
            from keyfold.engine.replication import group

            return group.run_in_step(self._database, regions, self._run, work, request)
        return self._run(work, request)

    def _run(
        self, work: Operation, request: dict[str, Any], *, is_second: bool = False
    ) -> dict[str, Any]:
        try:
            answer = work(self._database, request)
        except (apsw.Error, storage.SchemaMoved) as error:
            failure = self._public_error(error)
            if isinstance(failure, storage.SchemaMoved) and not is_second:
                # Another process changed the table; once more, with what it is now.
                self._database.catalog.forget()
                return self._run(work, request, is_second=True)
            if isinstance(failure, Corrupt):
                failure = damage.named(failure, request)
            raise failure from error
        except Corrupt as error:
            raise damage.named(error, request) from error
        if "ReturnConsumedCapacity" in request:
            named_as_asked(answer, request)
        return answer


def _same_for_each(error: Exception, calls: int) -> list[Result]:
    return [error] * calls


def _outcome(step: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | Exception:
    """What a step of one call came to, without harm to the others."""
    try:
        return step(*given, **named)
    except (OperationError, TransportError, WouldStall) as error:
        return bare(error)
