"""The time of a commit: one for all that it changes, and never before the commits that it follows.

So a restore has a transaction whole or not at all, and what is written while the clock is back is
not older than what was there: it does not expire early once the clock is right again.
"""

from __future__ import annotations

from keyfold_engine.clock import Clock
from keyfold_engine.engine.storage import Session

FOLLOWED_SECONDS = 7 * 86_400.0
"""How far a commit follows a later one. A clock that was further ahead is no longer followed."""


class Moments:
    """The times of the commits of one file."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: float | None = None

    def of(self, session: Session) -> float:
        """The time of a session's transaction."""
        if session.moment is None:
            if self._last is None:
                self._last = session.last_record_time()
            now = self._clock.now()
            follows = now < self._last <= now + FOLLOWED_SECONDS
            session.moment = self._last = self._last if follows else now
        return session.moment
