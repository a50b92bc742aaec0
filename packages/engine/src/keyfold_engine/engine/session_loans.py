"""Sessions to borrow: the readers' pool, and a context manager that borrows one."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from keyfold_engine.engine import storage
from keyfold_engine.engine.storage import Session

if TYPE_CHECKING:
    from keyfold_engine.engine.commits import Commits


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


class SessionLender:
    """Lends a session for a `with` block."""

    __slots__ = ("_commits", "_session")

    def __init__(self, commits: Commits) -> None:
        self._commits = commits

    def __enter__(self) -> Session:
        self._session = self._commits.take()
        return self._session

    def __exit__(self, *_error: object) -> None:
        self._commits.put_back(self._session)
