"""Rate-limited log of data file errors: occasional lines, not one per request."""

from __future__ import annotations

import logging
from time import monotonic

from keyfold_engine.errors import StorageError

_LOGGER = logging.getLogger(__name__)
_QUIET_SECONDS = 10.0


class TroubleLog:
    """Logs each kind of error at once, then at most every ten seconds."""

    def __init__(self) -> None:
        self._told: dict[type[StorageError], float] = {}
        self._untold = 0

    def note(self, request_id: str, error: StorageError) -> None:
        now, kind = monotonic(), type(error)
        if now - self._told.get(kind, -_QUIET_SECONDS) < _QUIET_SECONDS:
            self._untold += 1
            return
        more = f" ({self._untold} more requests failed since the last line)" if self._untold else ""
        _LOGGER.error("request %s failed: %s%s", request_id, error, more)
        self._told[kind], self._untold = now, 0

    @staticmethod
    def note_fault(request_id: str, error: Exception) -> None:
        """Log an unexpected error each time, with its traceback."""
        _LOGGER.error("request %s failed", request_id, exc_info=error)
