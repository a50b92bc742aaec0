"""Group commit: concurrent writes share a commit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from keyfold_engine.engine.lane import LoopLane, here

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Executor

    from keyfold_engine.engine.engine import Engine

Result = bytes | Exception
Done = Callable[[Result], None]

# The most writes executed before the loop serves other clients.
_MOST_CALLS: Final = 128
_MOST_BYTES: Final = 256 * 1024


def bare(error: Exception) -> Exception:
    """An error without its traceback, whose frames would keep the request alive."""
    error.__traceback__ = error.__context__ = None
    return error


class Writes:
    """Collects the writes of one loop iteration, or of the time of the previous commit, into one
    commit.

    A commit that waits for the disk runs in a thread, so that the loop continues. Others run on the
    loop, as do the statements before a commit: switching threads at each statement would cost more.
    """

    def __init__(
        self,
        engine: Engine,
        loop: AbstractEventLoop,
        thread: Executor | None,
    ) -> None:
        """`thread` must be one, and dedicated, so that a commit never waits for other work."""
        self._engine, self._loop, self._thread = engine, loop, thread
        self._calls: list[tuple[str, bytes]] = []
        self._done: list[Done] = []
        self._running = False
        self._lane = LoopLane()

    def submit(self, operation: str, body: bytes, done: Done) -> None:
        """Run a write; `done` is called on the loop after its commit.

        Its result is `WouldStall` if it takes too long for the loop.
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
