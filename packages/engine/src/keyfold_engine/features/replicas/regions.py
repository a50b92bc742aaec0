"""The engines of several regions in one process, and the changes between them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keyfold_engine.clock import Clock, SystemClock
from keyfold_engine.engine.capacity import tables_of
from keyfold_engine.engine.lag import NEVER, Lag, LagSetting
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import parameter_invalid
from keyfold_engine.features.replicas import changes
from keyfold_engine.features.replicas.replicated_table import replicas_of

if TYPE_CHECKING:
    from keyfold_engine.engine.database import Database
    from keyfold_engine.engine.engine import Engine
    from keyfold_engine.engine.extensions import Operation
    from keyfold_engine.features.replicas.accounts import Accounts

# The regions in which a replica can be created.
KNOWN = tuple(
    """
    af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1
    ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5
    ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1 eu-central-1 eu-central-2
    eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1
    me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2
    """.split()  # noqa: SIM905
)
# The parts of an UpdateTable that apply to the other regions too.
_EVERYWHERE = frozenset(
    (
        "AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexUpdates",
        "ProvisionedThroughput", "SSESpecification", "TimeToLiveSpecification",
        "VectorIndexUpdates",
    )
)  # fmt: skip
_NEVER_STRONG = frozenset(("transact_write_items", "execute_transaction", "update_time_to_live"))
_PER_DELIVERY = 100
Run = Callable[["Operation", dict[str, Any]], dict[str, Any]]
_IDLE_SECONDS = 0.5
_PENDING_SECONDS = 0.02


class Regions:
    """Regions of one account, each with its own engine; replicas follow each other.

    `lag` is the delay of changes to other regions: seconds, a range, or "held" until `release`.
    Without it, a thread delivers changes as they come, and `settle` waits for them. `scales_writes`
    treats provisioned tables as auto-scaled, which replicas require.
    """

    def __init__(
        self,
        path: str | PathLike[str] = ":memory:",
        *,
        lag: LagSetting = None,
        scales_writes: bool = False,
        clock: Clock | None = None,
        accounts: Accounts | None = None,
        **options: Any,
    ) -> None:
        """`accounts` contains its own account."""
        self._path, self._options = fspath(path), options
        self.accounts = accounts
        self._clock = clock or SystemClock()
        self._lag = Lag(lag)
        self.scales_writes = scales_writes
        self.endpoint = "localhost:8000"
        self._engines: dict[str, Engine] = {}
        self._isolated: set[str] = set()
        self._lock = threading.RLock()
        self._strong = threading.RLock()
        self._news, self._stopping = threading.Event(), threading.Event()
        self._following = threading.local()
        self._thread = threading.Thread(target=self._run, name="keyfold-regions", daemon=True)
        self._thread.start()

    known = KNOWN

    def engine(self, region: str) -> Engine:
        """The engine of a region, opened on first use."""
        from keyfold_engine.engine.engine import Engine

        if region not in KNOWN:
            raise ValueError(f"unknown region {region!r}; use one of {', '.join(KNOWN)}")
        with self._lock:
            if region not in self._engines:
                engine = Engine.open(
                    self._path_of(region),
                    clock=self._clock,
                    region=region,
                    regions=self,
                    **self._options,
                )
                engine.on_commit(self._news.set)
                self._engines[region] = engine
            return self._engines[region]

    def opened(self) -> list[Engine]:
        """The open engines."""
        return list(self._engines.values())

    def database(self, region: str) -> Database:
        return self.engine(region).database

    def settle(self) -> int:
        """Deliver every change that is due; returns how many."""
        return self._deliver_all(released=False)

    def release(self) -> int:
        """Deliver every change now, whatever its lag; returns how many."""
        return self._deliver_all(released=True)

    def _deliver_all(self, *, released: bool) -> int:
        with self._lock:
            return sum(iter(partial(self._deliver, released=released), 0))

    def isolate(self, region: str) -> None:
        """Cut a region off: no changes leave or arrive until it rejoins."""
        with self._lock:
            self._isolated.add(region)

    def rejoin(self, region: str) -> None:
        with self._lock:
            self._isolated.discard(region)
        self._news.set()

    def close(self) -> None:
        """Close all engines; waiting changes are delivered when they are opened again."""
        self._stopping.set()
        self._news.set()
        self._thread.join()
        with self._lock:
            for engine in self._engines.values():
                engine.close()
            self._engines.clear()

    def __enter__(self) -> Regions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Called by the engines.

    def due(self, now: float) -> float:
        """When a change made now arrives elsewhere."""
        return now + self._lag.delay()

    def run_in_step(
        self, database: Database, run: Run, work: Operation, request: dict[str, Any]
    ) -> dict[str, Any]:
        """Execute a request of one region, in step with the others if its table requires it."""
        table = _table(database, request)
        if table is None or not replicas_of(table):
            return run(work, request)
        if table.definition.get("Consistency") == "STRONG" and work.__name__ in _NEVER_STRONG:
            raise parameter_invalid(
                "Transactions and time to live are not "
                "supported for global tables with MultiRegionConsistency set to STRONG."
            )
        if work.__name__ == "update_table" and request.get("StreamSpecification") is not None:
            raise parameter_invalid("Disabling Stream is not allowed for a Global Table replica.")
        with self.in_step(table):
            answer = run(work, request)
        if work.__name__ in ("update_table", "update_time_to_live"):
            self._follow(table, work, request)
        return answer

    def _follow(self, table: TableDefinition, work: Operation, request: dict[str, Any]) -> None:
        """Apply the shared settings of a global table to the other regions."""
        shared = {name: value for name, value in request.items() if name in _EVERYWHERE}
        if not shared.keys() - {"AttributeDefinitions"}:
            return
        with self.following():
            for region in replicas_of(table):
                work(self.database(region), {**shared, "TableName": table.name})

    @property
    def is_following(self) -> bool:
        """Whether this thread applies in one region what happened in another."""
        return getattr(self._following, "is_set", False)

    @contextmanager
    def following(self) -> Iterator[None]:
        self._following.is_set = True
        try:
            yield
        finally:
            self._following.is_set = False

    @contextmanager
    def in_step(self, table: TableDefinition) -> Iterator[None]:
        """Wraps work on a table that must be identical in all regions at any moment."""
        is_strong = table.definition.get("Consistency") == "STRONG" and not self.is_following
        with self._strong if is_strong else nullcontext():
            if is_strong:
                self.release()
            yield
            if is_strong:
                self.release()

    def _path_of(self, region: str) -> str:
        if self._path == ":memory:":
            return self._path
        path = Path(self._path)
        return str(path.with_name(f"{path.stem}.{region}{path.suffix}"))

    def _deliver(self, *, released: bool) -> int:
        """Deliver a batch from each region to each other."""
        now, moved = self._clock.now(), 0
        for source, engine in list(self._engines.items()):
            for target in list(self._engines):
                if target != source and not self._isolated & {source, target}:
                    moved += self._carry(engine.database, target, NEVER if released else now)
        return moved

    def _carry(self, source: Database, target: str, until: float) -> int:
        with source.read() as session:
            found = changes.waiting(session, target, _PER_DELIVERY)
        due = [(order, change) for order, change in found if _is_due(change, until)]
        with self.following():
            for _order, change in due:
                changes.apply(self.database(target), change)
        if due:
            source.write(partial(_drop, target, [order for order, _ in due]))
        return len(due)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._news.wait(_IDLE_SECONDS)
            self._news.clear()
            if not self._stopping.is_set() and self._engines:
                self.settle()
            self._stopping.wait(_PENDING_SECONDS)


def _is_due(change: dict[str, Any], until: float) -> bool:
    # JSON has no infinity: a held change has no due time.
    due = change["Due"]
    return until == NEVER or (due is not None and due <= until)


def _drop(target: str, orders: list[str], session: Session) -> None:
    for order in orders:
        session.drop_document(changes.kind_for(target), order)


def _table(database: Database, request: dict[str, Any]) -> TableDefinition | None:
    """The first table that a request names, if it is known."""
    with database.read() as session:
        found = (database.catalog.find(session, name) for name in tables_of(request))
        return next(filter(None, found), None)
