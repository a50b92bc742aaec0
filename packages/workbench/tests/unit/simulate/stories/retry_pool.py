"""Retries within less time than a client's retries take, where no steady state applies."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from keyfold_workbench.simulate.model.retries import ATTEMPTS, RETRY_COST

QUOTA = 500.0
FIRST_WAIT, LONGEST_WAIT = 1.0, 20.0


@dataclass
class RetryPool:
    """Calls waiting for their next attempt, in steps of one second, as amounts."""

    clients: float = 1.0
    """The number of client processes: each has its own quota."""
    _due: dict[int, list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0.0] * ATTEMPTS)
    )
    _quota: float = QUOTA
    served: float = 0.0
    lost: float = 0.0
    sent: float = 0.0

    def second(self, at: int, fresh: float, limit: float) -> None:
        """One second with new calls, of which `limit` attempts pass."""
        waiting = self._due.pop(at, [0.0] * ATTEMPTS)
        waiting[0] += fresh
        asked = sum(waiting)
        passed = min(1.0, limit / asked) if asked else 1.0
        self.sent += asked
        self.served += asked * passed
        again = sum(waiting[1:]) * passed * RETRY_COST
        self._quota = min(QUOTA, self._quota + (waiting[0] * passed + again) / self.clients)
        for attempt in range(ATTEMPTS):
            failed = waiting[attempt] * (1 - passed)
            if failed:
                self._schedule_retry(at, attempt, failed)

    def _schedule_retry(self, at: int, attempt: int, failed: float) -> None:
        if attempt == ATTEMPTS - 1:
            self.lost += failed
            return
        allowed = min(failed, self._quota * self.clients / RETRY_COST)
        self._quota -= allowed * RETRY_COST / self.clients
        self.lost += failed - allowed
        spread = max(1, round(min(LONGEST_WAIT, FIRST_WAIT * 2**attempt)))
        for later in range(spread):
            self._due[at + 1 + later][attempt + 1] += allowed / spread

    @property
    def waiting(self) -> float:
        return sum(sum(each) for each in self._due.values())
