"""Retry limits of a consumer, and which failures are transient."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from keyfold.errors import (
    Busy,
    IndexBehind,
    InternalFailure,
    LimitExceeded,
    RequestLimitExceeded,
    RequestRateExceeded,
    Throttled,
    TransactionConflict,
    TransactionInProgress,
    TransportError,
    Unavailable,
    VersionConflict,
)
from keyfold.runtime.flow import Flow, Pause
from keyfold.runtime.walk import retrying

T = TypeVar("T")

TRANSIENT: Final = (
    Throttled,
    RequestRateExceeded,
    RequestLimitExceeded,
    LimitExceeded,
    InternalFailure,
    Unavailable,
    TransactionConflict,
    TransactionInProgress,
    VersionConflict,
    TransportError,
    Busy,
    IndexBehind,
)
"""Backend failures, not the record's fault: retried, never dead-lettered."""

_LONGEST_PAUSE: Final = 5.0


@dataclass(frozen=True)
class Policy:
    """Retry limits."""

    attempts: int = 5
    """How often an effect may fail before its record becomes a dead letter."""
    patience: int = 8
    """How often a transient failure is retried before the batch is postponed."""
    backoff: float = 0.05
    """The first pause in seconds; it doubles, with jitter."""
    seconds: float = 30.0
    """How long a processor may take."""

    def pause(self, attempt: int) -> Pause:
        longest = min(_LONGEST_PAUSE, self.backoff * 2.0 ** min(attempt, 16))
        return Pause(random.uniform(longest / 2, longest))


def retry_transient(policy: Policy, start: Callable[[], Flow[T]]) -> Flow[T]:
    """Restart a flow while it fails transiently."""
    return retrying(start, *TRANSIENT, attempts=policy.patience, pause=policy.pause)
