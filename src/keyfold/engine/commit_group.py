"""Writes that arrive together are committed together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Protocol

from keyfold.engine.lane import LoopLane, here
from keyfold.engine.policies.principal import Principal

Result = bytes | Exception
Done = Callable[[Result], None]

# What is carried out before the loop looks at other clients, at most.
_MOST_CALLS: Final = 128
_MOST_BYTES: Final = 256 * 1024


def bare(error: Exception) -> Exception:
    """An error without the way it came, whose frames would keep its request until collected."""
    error.__traceback__ = error.__context__ = None
    return error


class CommittingEngine(Protocol):
    """What a server needs of an engine."""

    def call_bytes(self, operation: str, body: bytes) -> bytes: ...

    def call_many_bytes(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]: ...

    def start_many_bytes(
        self, calls: Sequence[tuple[str, bytes]]
    ) -> Callable[[], list[Result]] | None: ...


class GuardedEngine(CommittingEngine, Protocol):
    """One that asks resource policies whether somebody may do what he asks for."""

    def call_bytes_as(self, caller: Principal, operation: str, body: bytes) -> bytes: ...

    def is_restricted(self, caller: Principal) -> bool: ...

    @property
    def has_regions(self) -> bool: ...

    def of_caller(self, account: str, region: str) -> GuardedEngine: ...


class Writes:
    """Gathers the writes of one turn of the loop, or of the commit before, into one commit.

    A commit that waits for the disk runs in a thread, so that the loop goes on reading and
    gathering; one that does not is cheaper where it is. So are the statements before a commit:
    between two threads Python would change at each of them.
    """

    def __init__(
        self,
        engine: CommittingEngine,
        loop: asyncio.AbstractEventLoop,
        thread: ThreadPoolExecutor | None,
    ) -> None:
        """`thread` has nothing else to do: what it did before would keep others waiting."""
        self._engine, self._loop, self._thread = engine, loop, thread
        self._calls: list[tuple[str, bytes]] = []
        self._done: list[Done] = []
        self._running = False
        self._lane = LoopLane()

    def submit(self, operation: str, body: bytes, done: Done) -> None:
        """Run a write; `done` is called on the loop after its commit.

        Its result is `WouldStall` if it is too long for the loop.
        """
        self._calls.append((operation, body))
        self._done.append(done)
        if not self._running:
            self._running = True
            self._loop.call_soon(self._start)

    def _start(self) -> None:
        calls, done = self._next()
        lane = here.lane = self._lane
        lane.begin()
        try:
            if self._thread is None:
                results = self._run(calls)
            else:
                commit = self._engine.start_many_bytes(calls)
        finally:
            here.lane = None
        if self._thread is None:
            self._finish(results, done)
            return
        try:
            running = self._thread.submit(commit or partial(self._run, calls))
        except RuntimeError as closed:
            self._finish(commit() if commit else [closed] * len(calls), done)
            return
        running.add_done_callback(
            lambda ran: self._loop.call_soon_threadsafe(self._finish, ran.result(), done)
        )

    def _next(self) -> tuple[list[tuple[str, bytes]], list[Done]]:
        calls, done = self._calls, self._done
        self._calls, self._done = [], []
        count = len(calls)
        if count == 1 or (
            count <= _MOST_CALLS and sum([len(body) for _, body in calls]) <= _MOST_BYTES
        ):
            return calls, done
        end = size = 0
        while end < _MOST_CALLS and size < _MOST_BYTES:
            size += len(calls[end][1])
            end += 1
        self._calls, self._done = calls[end:], done[end:]
        return calls[:end], done[:end]

    def _run(self, calls: list[tuple[str, bytes]]) -> list[Result]:
        try:
            return self._engine.call_many_bytes(calls)
        except Exception as error:
            return [error] * len(calls)

    def _finish(self, results: list[Result], done: list[Done]) -> None:
        if self._calls:
            self._loop.call_soon(self._start)
        else:
            self._running = False
        for finished, result in zip(done, results, strict=True):
            finished(result)
