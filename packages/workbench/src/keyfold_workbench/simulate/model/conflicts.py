"""Transactions that conflict on one item.

P23 §3.3: no queue and no locks; a write is refused while another transaction holds its item. With
an item held for h seconds and r = rate × h, the share r / (1 + r) is refused, and at most 1 / h
commit per second. §5.4: a workload of half writes has about half the cancellations of a write-only
one.
"""

from __future__ import annotations


def cancelled_share(rate: float, hold_seconds: float) -> float:
    """The share of transactions refused at this rate on one item."""
    r = rate * hold_seconds
    return r / (1 + r)


def attempt_rate(rate: float, hold_seconds: float, attempts: int) -> tuple[float, float]:
    """Attempts per second, and the share of calls lost, if callers retry in place."""
    low, high = rate, rate * attempts
    for _ in range(60):
        middle = (low + high) / 2
        p = cancelled_share(middle, hold_seconds)
        wanted = rate * sum(p**k for k in range(attempts))
        if wanted > middle:
            low = middle
        else:
            high = middle
    sent = (low + high) / 2
    return sent, cancelled_share(sent, hold_seconds) ** attempts
