"""The input of a run: tables and indexes, their keys, and the lines of load."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from keyfold_workbench.cost.charge import Store
from keyfold_workbench.simulate.model.shard_reader import ShardWork

Kind = Literal["read", "write"]
KINDS: tuple[Kind, ...] = ("read", "write")
ALWAYS = "always"
"""The profile that follows only the day."""


@dataclass(frozen=True)
class KeySpace:
    """The partition keys of one template: the heaviest individually, the rest in bulk."""

    template: str
    shares: tuple[float, ...] = ()
    """The traffic shares of heavy keys, largest first."""
    keys: float = 1.0
    divisible: bool = True
    """Whether a key's items can be in several partitions: not a single item or a rising sort
    key.
    """

    @property
    def rest(self) -> float:
        return max(0.0, 1.0 - sum(self.shares))

    def name(self, rank: int) -> str:
        return f"{self.template} (no. {rank + 1})" if self.keys > 1 else self.template


@dataclass(frozen=True)
class TrafficLine:
    """The units that calls take on one table or index."""

    call: str
    store: Store
    kind: Kind
    units: float
    """Per call."""
    rate: float
    """Average calls per second."""
    space: str
    profile: str = ALWAYS
    streamed: bool = False
    """Whether a stream consumer does it after the call."""
    focus: float = 0.0
    """The share of these calls that goes to the first key, whatever its usual share."""
    items: float = 1.0
    """Items that one call writes: each is a stream record."""

    @property
    def at(self) -> tuple[str, str]:
        """The line's call and load profile."""
        return self.call, self.profile


@dataclass(frozen=True)
class OnDemand:
    """Capacity that grows with traffic; warm throughput is available from the start."""

    warm_read: float = 12_000.0
    warm_write: float = 4_000.0


@dataclass(frozen=True)
class Provisioned:
    """Provisioned capacity, with or without auto scaling."""

    read: float
    write: float
    target: float | None = None
    """The target utilisation of auto scaling; None disables it."""
    most: float = 40_000.0


Mode = OnDemand | Provisioned


@dataclass(frozen=True)
class StoreSpec:
    """The initial state of a table or index."""

    store: Store
    mode: Mode = field(default_factory=OnDemand)
    spaces: tuple[KeySpace, ...] = ()
    bytes: float = 0.0
    growth: float = 0.0
    """Bytes added per second."""
    local_indexes: bool = False
    """A collection must then fit into one partition."""
    grown: bool = False
    """Whether it has seen this traffic before: its partitions fit, where splits can help."""
    partitions: int | None = None


@dataclass(frozen=True)
class Contention:
    """Transactions that conflict on the hottest item of a kind."""

    call: str
    key: str
    rate: float
    """Average transactions per second on that item."""
    profile: str = ALWAYS
    attempts: int = 1
    focus: float = 0.0
    whole: float = 0.0
    """Transactions per second on all items: a burst sends a share of these to one."""


@dataclass(frozen=True)
class ScaleModel:
    """A whole system, ready to run."""

    name: str
    stores: tuple[StoreSpec, ...]
    lines: tuple[TrafficLine, ...]
    contentions: tuple[Contention, ...] = ()
    consumers: tuple[tuple[str, ShardWork], ...] = ()
    """How each table's stream is read."""
    users: float = 0.0
    assumed: tuple[str, ...] = ()
