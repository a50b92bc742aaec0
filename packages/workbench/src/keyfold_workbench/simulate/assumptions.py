"""Parameters that AWS has not published: the assumed value, and the range of a sweep."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from keyfold_engine.limits import PARTITION_READ_UNITS

Growth = Literal["split", "doubling"]
Admission = Literal["global", "2017"]
ClientName = Literal["legacy", "2026"]


@dataclass(frozen=True)
class Assumptions:
    """One set of values; the defaults fit the published incidents best."""

    heat_threshold: float = 0.8
    """The share of its rate limit from which a partition counts as hot."""
    hot_seconds: float = 600.0
    """How long a partition is hot before it is split."""
    copy_seconds: float = 180.0
    """How long a split takes."""
    growth: Growth = "split"
    """`doubling` allows twice the previous peak after `peak_seconds`, and no more before."""
    peak_seconds: float = 1800.0
    """The age of a peak before DynamoDB guarantees twice as much."""
    burst_seconds: float = 300.0
    """Seconds of unused capacity that are kept (DG)."""
    index_buffer: float = 20_000.0
    """Units buffered for an index before all writes of its table are throttled."""
    partition_reads: float = float(PARTITION_READ_UNITS)
    """Read units per partition: 3,000 are guaranteed, 4,500 were measured with eventual reads."""
    isolation: bool = True
    """Whether hot keys get their own partitions."""
    admission: Admission = "global"
    """`2017`: a table's capacity is divided evenly among its partitions."""
    client: ClientName = "2026"
    """Client retries: the SDK defaults since November 2026, or botocore's before."""
    hold_seconds: float = 0.010
    """How long a transaction holds an item."""
    get_ms: tuple[float, float] = (2.5, 8.0)
    """Service time of a read: median and 99th percentile."""
    put_ms: tuple[float, float] = (4.5, 12.0)
    transaction_factor: float = 4.0
    """How much longer a transaction takes than a put (P23 §5.3), plus 0.1 ms per item."""
    index_ms: tuple[float, float] = (20.0, 200.0)
    """The lag of an index behind its table."""
    stream_ms: float = 300.0
    """From a write to its consumer's call, without a queue."""
    polls: float = 4.0
    """Reads of a shard per second (LDG)."""
    leader_seconds: float = 2.0
    """How long a partition accepts no writes after losing its leader (P22 §6.2: a couple of
    seconds).
    """

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
}
"""Other plausible values of each."""


def sweep(names: tuple[str, ...], start: Assumptions | None = None) -> list[Assumptions]:
    """The defaults, and each alternative value of the named assumptions, one at a time."""
    known = {field.name for field in fields(Assumptions)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"Unknown assumption: {', '.join(unknown)}.")
    base = start or Assumptions()
    return [base, *(base.but(**{name: value}) for name in names for value in SWEEPS[name])]
