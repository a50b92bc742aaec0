"""Idle sessions for readers beside the writer."""

from __future__ import annotations

from collections import deque

from keyfold.engine import storage
from keyfold.engine.storage import Session


class SessionPool:
    """The readers' sessions of one file; each has its own connection."""

    def __init__(self, path: str, durability: str) -> None:
        self._path, self._durability = path, durability
        self._idle: deque[Session] = deque()
        self._closed = False

    def take(self) -> Session:
        try:
            return self._idle.pop()
        except IndexError:
            return Session(storage.connect(self._path, self._durability))

    def put_back(self, session: Session) -> None:
        self._idle.append(session)
        if self._closed:
            self.close()

    def close(self) -> None:
        """Close the idle sessions now, and the others when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().connection.close()

    def empty(self) -> list[Session]:
        """Remove the idle sessions without closing them."""
        idle, self._idle = list(self._idle), deque()
        return idle
