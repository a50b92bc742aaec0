"""What AWS has not published: the value that is taken, and the range that a sweep goes through."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from keyfold.limits import PARTITION_READ_UNITS

Growth = Literal["split", "doubling"]
Admission = Literal["global", "2017"]
ClientName = Literal["legacy", "2026"]


@dataclass(frozen=True)
class Assumptions:
    """One set of values; the defaults are those that fit the published stories best."""

    heat_threshold: float = 0.8
    """The share of a partition's rate from which it counts as hot."""
    hot_seconds: float = 600.0
    """How long a partition is hot before it is split."""
    copy_seconds: float = 180.0
    """How long a split takes."""
    growth: Growth = "split"
    """`doubling` grants twice the previous peak, after `peak_seconds`, and nothing before."""
    peak_seconds: float = 1800.0
    """DynamoDB promises twice a peak that is so old."""
    burst_seconds: float = 300.0
    """Unused capacity that is kept (DG)."""
    index_buffer: float = 20_000.0
    """Units that wait for an index before all writes of its table are refused."""
    partition_reads: float = float(PARTITION_READ_UNITS)
    """Read units of one partition: 3,000 are promised, 4,500 were measured with eventual reads."""
    isolation: bool = True
    """Whether hot keys get partitions of their own."""
    admission: Admission = "global"
    """`2017`: a table's capacity is shared out evenly among its partitions."""
    client: ClientName = "2026"
    """How callers retry: as SDKs do by default since November 2026, or as botocore did before."""
    hold_seconds: float = 0.010
    """How long a transaction holds an item."""
    get_ms: tuple[float, float] = (2.5, 8.0)
    """Service time of a read: median and 99th percentile."""
    put_ms: tuple[float, float] = (4.5, 12.0)
    transaction_factor: float = 4.0
    """How much longer a transaction takes than a put (P23 §5.3), beside 0.1 ms for each item."""
    index_ms: tuple[float, float] = (20.0, 200.0)
    """How long after its table an index is up to date."""
    stream_ms: float = 300.0
    """From a write to the call of its consumer, without a queue."""
    polls: float = 4.0
    """Reads of a shard a second (LDG)."""
    leader_seconds: float = 2.0
    """A partition whose leader is lost takes no writes so long (P22 §6.2: a couple of seconds)."""
    expiry_seconds: tuple[float, float] = (600.0, 3600.0)
    """From an item's time to live to its deletion; the guide says: within a few days."""

    def but(self, **changes: Any) -> Assumptions:
        return replace(self, **changes)


SWEEPS: dict[str, tuple[Any, ...]] = {
    "heat_threshold": (0.5, 0.65, 1.0),
    "hot_seconds": (120.0, 300.0, 900.0, 1800.0),
    "copy_seconds": (60.0, 600.0),
    "growth": ("doubling",),
    "burst_seconds": (0.0, 330.0),
    "index_buffer": (0.0, 1_000.0, 100_000.0),
    "partition_reads": (4_500.0, 9_000.0),
    "isolation": (False,),
    "client": ("legacy",),
    "hold_seconds": (0.005, 0.030),
    "get_ms": ((1.0, 3.2), (5.0, 16.0)),
    "put_ms": ((2.0, 5.3), (8.0, 21.0)),
    "transaction_factor": (3.0, 6.0),
    "index_ms": ((6.0, 60.0), (100.0, 1000.0)),
    "stream_ms": (150.0, 1000.0),
    "polls": (2.0, 10.0),
    "leader_seconds": (1.0, 10.0),
    "expiry_seconds": ((172_800.0, 172_800.0), (604_800.0, 604_800.0)),
}
"""Other plausible values of each."""


def swept(names: tuple[str, ...], start: Assumptions | None = None) -> list[Assumptions]:
    """The defaults, and each other value of the named assumptions, one at a time."""
    known = {field.name for field in fields(Assumptions)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"Unknown assumption: {', '.join(unknown)}.")
    base = start or Assumptions()
    return [base, *(base.but(**{name: value}) for name in names for value in SWEEPS[name])]
