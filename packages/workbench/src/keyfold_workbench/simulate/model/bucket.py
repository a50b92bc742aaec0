"""Burst capacity: unused units are kept for some minutes.

DG: up to 300 seconds of unused capacity. KC: 150 units idle for five minutes hold 45,000, which is
200 units for 15 minutes. Exact for a constant rate, however long the step.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Bucket:
    """Provisioned capacity with its burst."""

    rate: float
    burst_seconds: float = 300.0
    tokens: float = 0.0

    @classmethod
    def full(cls, rate: float, burst_seconds: float = 300.0) -> Bucket:
        return cls(rate, burst_seconds, rate * burst_seconds)

    @property
    def depth(self) -> float:
        return self.rate * self.burst_seconds

    def take(self, wanted: float, seconds: float) -> float:
        """Units that are granted at this rate over this time."""
        granted = min(wanted * seconds, self.tokens + self.rate * seconds)
        self.tokens = min(self.depth, max(0.0, self.tokens + self.rate * seconds - granted))
        return granted

    def set_rate(self, rate: float) -> None:
        """Change the capacity; the stored burst stays, up to the new depth."""
        self.rate = rate
        self.tokens = min(self.tokens, self.depth)
