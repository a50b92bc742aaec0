"""Context managers that borrow a session, or release a borrowed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyfold.engine.storage import Session

if TYPE_CHECKING:
    from keyfold.engine.commits import Commits


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


class Aside:
    """Releases a borrowed session for a `with` block, if others could want it."""

    __slots__ = ("_commits", "_session")

    def __init__(self, commits: Commits, session: Session) -> None:
        self._commits, self._session = commits, session

    def __enter__(self) -> None:
        self._commits.lend(self._session)

    def __exit__(self, *_error: object) -> None:
        self._commits.take_again(self._session)
