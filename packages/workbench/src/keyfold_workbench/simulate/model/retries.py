"""Client retries.

RET, and botocore 1.44: since November 2026 an SDK sends a DynamoDB request at most four times, and
pays for each retry from a quota of 500 tokens: 5 each, one back for a clean success, 5 back for a
success after a retry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

ATTEMPTS = 4
RETRY_COST = 5.0


@dataclass(frozen=True)
class Retried:
    """What callers see if each attempt is refused with some probability."""

    refused: float
    sends: float
    lost: float


def steady(refused: float) -> Retried:
    """The steady state. Where the quota binds, retries cost exactly what successes earn.

    With S retries per call, successes earn (1 − p) + 5(1 − p)S and retries cost 5S.
    """
    p = min(max(refused, 0.0), 1.0)
    retries = sum(p**k for k in range(1, ATTEMPTS))
    if p > 0:
        retries = min(retries, (1 - p) / (RETRY_COST * p))
    sends = 1 + retries
    return Retried(p, sends, max(0.0, 1 - (1 - p) * sends))


def refusal(served: float) -> Retried:
    """The steady state in which this share of calls succeeds in the end."""
    return _refusal(round(served, 4))


@cache
def _refusal(served: float) -> Retried:
    if served >= 1:
        return steady(0.0)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if 1 - steady(middle).lost > served:
            low = middle
        else:
            high = middle
    return steady((low + high) / 2)
