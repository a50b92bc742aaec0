"""What the log says of a data file that cannot be used: a line now and then, not one a request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic

from keyfold.errors import StorageError

_QUIET_SECONDS = 10.0

logger = logging.getLogger(__name__)


class TroubleLog:
    """Tells of each kind of trouble at once, and then at most every ten seconds."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._told: dict[type[StorageError], float] = {}
        self._untold = 0

    def note(self, request_id: str, error: StorageError) -> None:
        now, kind = self._now(), type(error)
        if now - self._told.get(kind, -_QUIET_SECONDS) < _QUIET_SECONDS:
            self._untold += 1
            return
        more = f" ({self._untold} more requests failed since the last line)" if self._untold else ""
        logger.error("request %s failed: %s%s", request_id, error, more)
        self._told[kind], self._untold = now, 0
