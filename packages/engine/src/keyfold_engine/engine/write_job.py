"""Writes that wait for their commit, and how one of them fails beside others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from keyfold_engine import errors
from keyfold_engine.engine.storage import Session

T = TypeVar("T")


class HalfDone(errors.StorageError):
    """A write that cannot be rolled back without those in the same transaction."""


class UndoneWithOthers(errors.StorageError):
    """A write rolled back because another in its commit met damage; it is retried alone."""


class WriteJob(Generic[T]):
    """One write request waiting for its commit."""

    __slots__ = ("changes_last", "done", "error", "is_stuck", "result", "work")

    def __init__(self, work: Callable[[Session], T], changes_last: bool) -> None:
        self.work, self.changes_last = work, changes_last
        self.done = self.is_stuck = False
        self.error: BaseException | None = None
        self.result: Any = None
