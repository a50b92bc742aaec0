"""Time to live: a background scanner deletes expired items.

DG: within a few days, without write units, and each deletion is a stream record. Measured in 2019:
1,000 items within 8 to 13 minutes, 100,000 within 28.
"""

from __future__ import annotations

from keyfold.simulate.assumptions import Assumptions


def overdue(per_second: float, assumptions: Assumptions) -> float:
    """Expired items not yet deleted, at this rate of expiry."""
    shortest, longest = assumptions.expiry_seconds
    return per_second * (shortest + longest) / 2


def lag(assumptions: Assumptions) -> tuple[float, float]:
    """Seconds from expiry to deletion: median and 99th percentile."""
    shortest, longest = assumptions.expiry_seconds
    return (shortest + longest) / 2, shortest + 0.99 * (longest - shortest)
