"""Latency of calls; service times are assumed, since none are published.

P22 §7: p50 and p99 hardly change from 100,000 to a million operations per second, so load shows as
throttling and waits, not as slower service.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cache

from keyfold_workbench.simulate.assumptions import Assumptions
from keyfold_workbench.simulate.model.retries import attempts

Z99 = 2.3263478740408408
SAMPLES = 2_000


@dataclass(frozen=True)
class Latency:
    """Milliseconds."""

    p50: float
    p99: float


def draw(times: tuple[float, float], rng: random.Random) -> float:
    """One time of a log-normal distribution, given by its median and 99th percentile."""
    median, p99 = times
    return median * math.exp(math.log(p99 / median) / Z99 * rng.gauss(0.0, 1.0))


@cache
def of_calls(
    assumptions: Assumptions,
    *,
    requests: float,
    reading: bool,
    refused: float = 0.0,
    transaction_items: float = 0.0,
    seed: int = 0,
) -> Latency:
    """The latency of a call with sequential requests."""
    rng = random.Random(seed)
    service = assumptions.get_ms if reading else assumptions.put_ms
    factor = assumptions.transaction_factor if transaction_items else 1.0
    found = []
    for _ in range(SAMPLES):
        total = 0.0
        for _ in range(max(1, min(50, round(requests)))):
            sent, waited, _ = attempts(assumptions.client, refused, rng)
            each = sum(draw(service, rng) for _ in range(sent)) * factor
            total += each + waited * 1000 + 0.1 * transaction_items
        found.append(total)
    found.sort()
    return Latency(found[SAMPLES // 2], found[SAMPLES * 99 // 100])
