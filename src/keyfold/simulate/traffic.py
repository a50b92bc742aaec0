"""What is simulated: tables and indexes, the keys in them, and the lines of load on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from keyfold.review.cost.part import Store
from keyfold.simulate.model.shard_reader import ShardWork

Kind = Literal["read", "write"]
KINDS: tuple[Kind, ...] = ("read", "write")
ALWAYS = "always"
"""The profile of what follows the day and nothing else."""


@dataclass(frozen=True)
class KeySpace:
    """The partition keys of one template: the heaviest one by one, the rest in bulk."""

    template: str
    shares: tuple[float, ...] = ()
    """The share of the traffic that each heavy key gets, largest first."""
    keys: float = 1.0
    divisible: bool = True
    """Whether a key's items can lie in several partitions: not one item or a rising sort key."""

    @property
    def rest(self) -> float:
        return max(0.0, 1.0 - sum(self.shares))

    def name(self, rank: int) -> str:
        return f"{self.template} (no. {rank + 1})" if self.keys > 1 else self.template


@dataclass(frozen=True)
class TrafficLine:
    """Units that calls take on one table or index."""

    call: str
    store: Store
    kind: Kind
    units: float
    """Of one call."""
    rate: float
    """Calls a second on average."""
    space: str
    profile: str = ALWAYS
    streamed: bool = False
    """Whether a stream's consumer does it, after the call."""
    focus: float = 0.0
    """The share of these calls that goes to the first key, whatever its usual share."""
    items: float = 1.0
    """Items that one call writes: each makes a record of the stream."""

    @property
    def at(self) -> tuple[str, str]:
        """Whose line it is: a call, and the profile of its load."""
        return self.call, self.profile


@dataclass(frozen=True)
class OnDemand:
    """Capacity that grows with its traffic; warm throughput is what it takes from the start."""

    warm_read: float = 12_000.0
    warm_write: float = 4_000.0
    most_read: float | None = None
    most_write: float | None = None


@dataclass(frozen=True)
class Provisioned:
    """Capacity that was bought, scaled by itself or not."""

    read: float
    write: float
    target: float | None = None
    """The utilisation that auto scaling keeps; None scales nothing."""
    most: float = 40_000.0


Mode = OnDemand | Provisioned


@dataclass(frozen=True)
class StoreSpec:
    """A table or an index before the first second."""

    store: Store
    mode: Mode = field(default_factory=OnDemand)
    spaces: tuple[KeySpace, ...] = ()
    bytes: float = 0.0
    growth: float = 0.0
    """Bytes a second that are added."""
    local_indexes: bool = False
    """A collection then has to fit into one partition."""
    grown: bool = False
    """Whether it has seen this traffic before: its partitions fit, where splits can help."""
    partitions: int | None = None


@dataclass(frozen=True)
class Contention:
    """Transactions that meet on the hottest item of a kind."""

    call: str
    key: str
    rate: float
    """Transactions a second on that item, on average."""
    profile: str = ALWAYS
    attempts: int = 1
    focus: float = 0.0
    whole: float = 0.0
    """Transactions a second on all items: a burst sends a share of these to one."""


@dataclass(frozen=True)
class FanOut:
    """A write that is copied to many: the largest one."""

    call: str
    store: Store
    copies: float
    """Items that the largest call writes."""
    note: str = ""


@dataclass(frozen=True)
class ScaleModel:
    """A whole system, ready to run."""

    name: str
    stores: tuple[StoreSpec, ...]
    lines: tuple[TrafficLine, ...]
    contentions: tuple[Contention, ...] = ()
    fan_outs: tuple[FanOut, ...] = ()
    consumers: tuple[tuple[str, ShardWork], ...] = ()
    """How each table's stream is read."""
    users: float = 0.0
    assumed: tuple[str, ...] = ()
