"""The observations of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.grant import Reason
from keyfold_workbench.simulate.traffic import Kind


@dataclass(frozen=True)
class FirstThrottle:
    """The first throttle of one kind at one place."""

    at: float
    """Seconds after the first midnight."""
    store: Store
    kind: Kind
    reason: Reason
    key: str
    wanted: float
    """Units per second demanded of the tightest partition, or of the whole store."""
    limit: float
    partitions: int
    through: Store | None = None
    """The index that throttles its table."""
    calls: tuple[str, ...] = ()

    @property
    def place(self) -> Store:
        return self.through or self.store


@dataclass
class CallOutcome:
    """All calls of one pattern or write."""

    calls: float = 0.0
    lost: float = 0.0
    sends: float = 0.0
    throttled_seconds: float = 0.0
    worst: float = 0.0
    """The largest share of attempts refused in one step."""
    worst_at: float = 0.0

    @property
    def lost_share(self) -> float:
        return self.lost / self.calls if self.calls else 0.0


@dataclass
class StoreOutcome:
    """Units and partitions of one table or index."""

    read_units: float = 0.0
    write_units: float = 0.0
    refused_read: float = 0.0
    refused_write: float = 0.0
    peak_read: float = 0.0
    peak_write: float = 0.0
    hottest: float = 0.0
    """The largest demand on a partition as a share of its limit."""
    hottest_key: str = ""
    partitions: int = 0
    splits: int = 0
    bytes: float = 0.0
    capacity_read: float = 0.0
    capacity_write: float = 0.0
    """Provisioned unit-seconds."""
    buffered: float = 0.0
    """The most units that waited for this index."""


@dataclass
class QueueOutcome:
    """A table's stream: how far its consumers fell behind."""

    lag: float = 0.0
    lost: float = 0.0
    records: float = 0.0


@dataclass
class ContentionOutcome:
    """Transactions on the hottest item."""

    key: str = ""
    cancelled: float = 0.0
    """The largest share that was refused."""
    rate: float = 0.0
    lost: float = 0.0
    at: float = 0.0


@dataclass
class RunOutcome:
    """Everything a run observed."""

    seconds: float = 0.0
    steps: int = 0
    firsts: list[FirstThrottle] = field(default_factory=list)
    calls: dict[str, CallOutcome] = field(default_factory=dict)
    stores: dict[Store, StoreOutcome] = field(default_factory=dict)
    queues: dict[str, QueueOutcome] = field(default_factory=dict)
    contentions: dict[str, ContentionOutcome] = field(default_factory=dict)

    @property
    def first(self) -> FirstThrottle | None:
        return min(self.firsts, key=lambda each: each.at, default=None)

    @property
    def lost(self) -> float:
        return sum(each.lost for each in self.calls.values())

    @property
    def lost_share(self) -> float:
        total = sum(each.calls for each in self.calls.values())
        return self.lost / total if total else 0.0
