"""Auto scaling of provisioned capacity.

KC: consumption above the target for two consecutive minutes raises capacity; 20 points below the
target for 15 consecutive minutes lowers it. DG: four decreases available at midnight UTC, one more
each hour, never more than four at once, 27 a day. Metric delay and UpdateTable add a minute each.
The metric cannot exceed what was granted, so a large step needs several rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

UP_MINUTES, DOWN_MINUTES = 2, 15
DOWN_POINTS = 0.2
DECREASES_IN_HAND = 4
DELAY_SECONDS = 120.0
"""One minute until the metric is visible, one minute for UpdateTable."""


@dataclass
class AutoScaling:
    """One scaled capacity: call `minute` once per minute."""

    capacity: float
    target: float = 0.7
    minimum: float = 1.0
    maximum: float = 40_000.0
    decreases: int = DECREASES_IN_HAND
    _above: int = 0
    _below: int = 0
    _pending: list[tuple[float, float]] = field(default_factory=list)
    _hour: int = 0

    def minute(self, now: float, consumed: float) -> float:
        """The capacity after a minute of this load, at this time after midnight."""
        self._earn(now)
        share = consumed / self.capacity if self.capacity else 1.0
        self._above = self._above + 1 if share > self.target else 0
        self._below = self._below + 1 if share < self.target - DOWN_POINTS else 0
        wanted = min(self.maximum, max(self.minimum, consumed / self.target))
        if self._above >= UP_MINUTES and wanted > self.capacity:
            self._pending.append((now + DELAY_SECONDS, wanted))
            self._above = 0
        elif self._below >= DOWN_MINUTES and wanted < self.capacity and self.decreases:
            self._pending.append((now + DELAY_SECONDS, wanted))
            self.decreases -= 1
            self._below = 0
        while self._pending and self._pending[0][0] <= now:
            self.capacity = self._pending.pop(0)[1]
        return self.capacity

    def _earn(self, now: float) -> None:
        hour = int(now // 3600)
        for passed in range(self._hour + 1, hour + 1):
            midnight = passed % 24 == 0
            self.decreases = (
                DECREASES_IN_HAND if midnight else min(DECREASES_IN_HAND, self.decreases + 1)
            )
        self._hour = hour
