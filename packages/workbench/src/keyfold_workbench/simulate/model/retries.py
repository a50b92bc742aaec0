"""Client retries.

RET, and botocore 1.44: since November 2026 an SDK sends a DynamoDB request at most four times,
waits U(0,1) × 1 s × 2^n after a throttle, and pays for each retry from a quota of 500 tokens: 5
each, one back for a clean success, 5 back for a success after a retry. Before, botocore sent it ten
times and waited 50 ms × 2^n without jitter and without a quota.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from keyfold_workbench.simulate.assumptions import ClientName

RETRY_COST = 5.0
QUOTA = 500.0


@dataclass(frozen=True)
class RetryRules:
    """The retry rules of one kind of client."""

    attempts: int
    first_wait: float
    jitter: bool
    quota: bool
    longest_wait: float = 20.0

    def wait(self, retry: int) -> float:
        """The mean wait before a retry, counted from 0."""
        whole = min(self.longest_wait, self.first_wait * 2**retry)
        return float(whole / 2 if self.jitter else whole)


CLIENTS: dict[ClientName, RetryRules] = {
    "legacy": RetryRules(10, 0.05, jitter=False, quota=False, longest_wait=25.6),
    "2026": RetryRules(4, 1.0, jitter=True, quota=True),
}


@dataclass(frozen=True)
class Retried:
    """What callers see if each attempt is refused with some probability."""

    refused: float
    sends: float
    lost: float
    waited: float
    """The average wait of a call, in seconds."""


def steady(client: ClientName, refused: float) -> Retried:
    """The steady state. Where the quota binds, retries cost exactly what successes earn.

    With S retries per call, successes earn (1 − p) + 5(1 − p)S and retries cost 5S.
    """
    rules, p = CLIENTS[client], min(max(refused, 0.0), 1.0)
    free = sum(p**k for k in range(1, rules.attempts))
    retries, factor = free, 1.0
    if rules.quota and p > 0 and free > (earned := (1 - p) / (RETRY_COST * p)):
        retries, factor = earned, _factor(p, earned, rules.attempts)
    sends = 1 + retries
    waited = sum((p * factor) ** (k + 1) * rules.wait(k) for k in range(rules.attempts - 1))
    return Retried(p, sends, max(0.0, 1 - (1 - p) * sends), waited)


def _factor(p: float, retries: float, attempts: int) -> float:
    """The share of desired retries that the quota allows."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if sum((p * middle) ** k for k in range(1, attempts)) > retries:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def refusal(client: ClientName, served: float) -> Retried:
    """The steady state in which this share of calls succeeds in the end."""
    return _refusal(client, round(served, 4))


@cache
def _refusal(client: ClientName, served: float) -> Retried:
    if served >= 1:
        return steady(client, 0.0)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if 1 - steady(client, middle).lost > served:
            low = middle
        else:
            high = middle
    return steady(client, (low + high) / 2)


@dataclass
class RetryPool:
    """Calls waiting for their next attempt, in steps of one second, as amounts.

    For durations shorter than a client's retries, where the steady state does not apply.
    """

    client: ClientName
    clients: float = 1.0
    """The number of client processes: each has its own quota."""
    _due: dict[int, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0] * 10))
    _quota: float = QUOTA
    served: float = 0.0
    lost: float = 0.0
    sent: float = 0.0
    refused: float = 0.0

    def second(self, at: int, fresh: float, limit: float) -> float:
        """One second with new calls, of which `limit` attempts pass; returns how many passed."""
        rules = CLIENTS[self.client]
        waiting = self._due.pop(at, [0.0] * 10)
        waiting[0] += fresh
        asked = sum(waiting)
        passed = min(1.0, limit / asked) if asked else 1.0
        self.sent += asked
        self.served += asked * passed
        self.refused += asked * (1 - passed)
        again = sum(waiting[1:]) * passed * RETRY_COST
        self._quota = min(QUOTA, self._quota + (waiting[0] * passed + again) / self.clients)
        for attempt in range(rules.attempts):
            failed = waiting[attempt] * (1 - passed)
            if failed:
                self._schedule_retry(at, attempt, failed, rules)
        return asked * passed

    def _schedule_retry(self, at: int, attempt: int, failed: float, rules: RetryRules) -> None:
        if attempt == rules.attempts - 1:
            self.lost += failed
            return
        allowed = failed
        if rules.quota:
            allowed = min(failed, self._quota * self.clients / RETRY_COST)
            self._quota -= allowed * RETRY_COST / self.clients
            self.lost += failed - allowed
        whole = min(rules.longest_wait, rules.first_wait * 2**attempt)
        if not rules.jitter:
            self._due[at + max(1, round(whole))][attempt + 1] += allowed
            return
        spread = max(1, round(whole))
        for later in range(spread):
            self._due[at + 1 + later][attempt + 1] += allowed / spread

    @property
    def waiting(self) -> float:
        return sum(sum(each) for each in self._due.values())


def attempts(client: ClientName, refused: float, rng: random.Random) -> tuple[int, float, bool]:
    """One call without a quota: attempts, seconds waited, whether it succeeded."""
    rules, waited = CLIENTS[client], 0.0
    for attempt in range(rules.attempts):
        if rng.random() >= refused:
            return attempt + 1, waited, True
        if attempt < rules.attempts - 1:
            whole = min(rules.longest_wait, rules.first_wait * 2**attempt)
            waited += whole * rng.random() if rules.jitter else whole
    return rules.attempts, waited, False
