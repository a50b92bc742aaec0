"""When to retry and how long to wait: pure decisions, shared by both clients.

A refusal (throttling) had no effect, so every request may be retried. After a lost answer or a
server failure the effect is unknown, so only requests whose repetition has the same effect and the
same answer are retried.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from keyfold_engine.errors import (
    Busy,
    KeyfoldError,
    OperationError,
    RequestLimitExceeded,
    RequestRateExceeded,
    Throttled,
    TransactionInProgress,
    TransportError,
    UnexpectedAnswer,
    Untrusted,
)
from keyfold_engine.operations import HARMLESS

_REFUSALS: Final = (
    Throttled,
    RequestRateExceeded,
    RequestLimitExceeded,
    TransactionInProgress,
    Busy,
)
_TOKEN_OPERATIONS: Final = frozenset({"TransactWriteItems", "ExecuteTransaction"})
_CONDITIONS: Final = ("ConditionExpression", "Expected")
# Arithmetic, appending, list positions and ADD take effect again when repeated.
_REPEATS: Final = re.compile(r"[+\-\[]|list_append|\bADD\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry limits of a client."""

    attempts: int = 10
    first_delay: float = 0.025
    longest_delay: float = 5.0
    deadline: float = 60.0
    """Seconds for one call including all attempts."""

    def delay(self, attempt: int, random_fraction: Callable[[], float] = random.random) -> float:
        """Full jitter: random, up to a bound that doubles with each attempt (1 is the first).

        Also the pause between rounds of UnprocessedItems and UnprocessedKeys.
        """
        bound = min(self.longest_delay, self.first_delay * 2.0 ** min(attempt - 1, 30))
        return random_fraction() * bound


class Attempts:
    """The attempts of one call so far."""

    def __init__(
        self, policy: RetryPolicy, operation: str, request: Mapping[str, Any], started: float
    ) -> None:
        self._policy = policy
        self._repeatable = is_repeatable(operation, request)
        self._started = started
        self._made = 0

    def wait_after(self, error: KeyfoldError, now: float) -> float:
        """Seconds to wait before the next attempt; raises the error after the last one."""
        self._made += 1
        if self._made >= self._policy.attempts or not may_retry(error, repeatable=self._repeatable):
            raise error
        delay = self._policy.delay(self._made)
        if now - self._started + delay >= self._policy.deadline:
            raise error
        return delay


def may_retry(error: KeyfoldError, *, repeatable: bool) -> bool:
    """Whether a request may be retried after this error."""
    if isinstance(error, _REFUSALS):
        return True
    if isinstance(error, TransportError):
        return not isinstance(error, Untrusted) and (repeatable or not error.sent)
    if isinstance(error, UnexpectedAnswer) or not isinstance(error, OperationError):
        return False
    return repeatable and error.status >= 500


def is_repeatable(operation: str, request: Mapping[str, Any]) -> bool:
    """Whether running the request twice has the same effect and answer as once."""
    if operation in HARMLESS or operation == "BatchWriteItem":
        return True
    if operation in _TOKEN_OPERATIONS:
        return "ClientRequestToken" in request
    if operation in ("PutItem", "DeleteItem"):
        return request.get("ReturnValues", "NONE") == "NONE" and not _is_conditional(request)
    if operation == "UpdateItem":
        return (
            not _is_conditional(request)
            and "AttributeUpdates" not in request
            and request.get("ReturnValues", "NONE") in ("NONE", "ALL_NEW", "UPDATED_NEW")
            and not _REPEATS.search(request.get("UpdateExpression", ""))
        )
    return False


def _is_conditional(request: Mapping[str, Any]) -> bool:
    return any(name in request for name in _CONDITIONS)


def with_token(operation: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request with a client token where that makes retries safe."""
    if operation in _TOKEN_OPERATIONS and "ClientRequestToken" not in request:
        return {**request, "ClientRequestToken": str(uuid.uuid4())}
    return request
