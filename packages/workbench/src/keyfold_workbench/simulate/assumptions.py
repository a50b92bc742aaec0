"""Parameters that AWS has not published, as assumed."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold_engine.limits import PARTITION_READ_UNITS


@dataclass(frozen=True)
class Assumptions:
    """One set of values; the defaults fit the published incidents best."""

    heat_threshold: float = 0.8
    """The share of its rate limit from which a partition counts as hot."""
    hot_seconds: float = 600.0
    """How long a partition is hot before it is split."""
    copy_seconds: float = 180.0
    """How long a split takes."""
    burst_seconds: float = 300.0
    """Seconds of unused capacity that are kept (DG)."""
    index_buffer: float = 20_000.0
    """Units buffered for an index before all writes of its table are throttled."""
    partition_reads: float = float(PARTITION_READ_UNITS)
    """Read units per partition: 3,000 are guaranteed, 4,500 were measured with eventual reads."""
    hold_seconds: float = 0.010
    """How long a transaction holds an item."""
    index_ms: tuple[float, float] = (20.0, 200.0)
    """The lag of an index behind its table."""
    stream_ms: float = 300.0
    """From a write to its consumer's call, without a queue."""
