"""Time to live: a scanner in the background deletes what is over.

DG: within a few days, free of write units, and each deletion is a record of the stream. Measured
in 2019: 1,000 items within 8 to 13 minutes, 100,000 within 28.
"""

from __future__ import annotations

from keyfold.simulate.assumptions import Assumptions


def overdue(per_second: float, assumptions: Assumptions) -> float:
    """Items that are over and still there, at this rate of expiries."""
    shortest, longest = assumptions.expiry_seconds
    return per_second * (shortest + longest) / 2


def lag(assumptions: Assumptions) -> tuple[float, float]:
    """Seconds from an item's time to its deletion: median and 99th percentile."""
    shortest, longest = assumptions.expiry_seconds
    return (shortest + longest) / 2, shortest + 0.99 * (longest - shortest)
