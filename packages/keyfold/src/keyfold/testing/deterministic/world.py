"""A world with its own clock in which one process runs at a time.

Each process is a thread, but only one runs at any moment. It yields when it sleeps or calls the
backend. The next one follows from virtual time, and among equals from the seed.
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

_LIMIT = 60.0
"""Real seconds after which a process that does not yield counts as deadlocked."""


class Died(BaseException):
    """Raised in a killed process, so that it does nothing more."""


class Stuck(AssertionError):
    """The world makes no progress: too many steps, or a process that never yields."""


@dataclass
class SimulatedProcess:
    """One process of a world."""

    name: str
    work: Callable[[], object]
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    owner: SimulatedProcess | None = None
    """For a thread: the process it dies with."""
    dead: bool = False
    ended: bool = False
    requests: int = 0
    awaited: list[SimulatedProcess] = field(default_factory=list)
    """The processes that wait for its end."""
    problem: BaseException | None = None
    thread: threading.Thread | None = None


class World:
    """Processes, a clock, and randomness."""

    def __init__(self, seed: int, *, most: int = 20_000) -> None:
        self.seed, self.random = seed, random.Random(seed)
        self.processes: list[SimulatedProcess] = []
        self.steps = 0
        self.trace: list[str] = []
        self._now, self._most = 1_700_000_000.0, most
        self._queue: list[tuple[float, float, int, SimulatedProcess]] = []
        self._count = 0
        self._back = threading.Semaphore(0)
        self._current: SimulatedProcess | None = None

    # Time, as seen inside the world

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        """Yield for this long."""
        process = self._current
        if process is None or threading.current_thread() is not process.thread:
            self._now += max(0.0, seconds)
            return
        self._schedule(process, seconds)
        self._back.release()
        process.turn.acquire()
        if process.dead:
            raise Died(process.name)

    # Processes

    def spawn(
        self, name: str, work: Callable[[], object], owner: SimulatedProcess | None = None
    ) -> SimulatedProcess:
        """A process that starts at once; with an owner, a thread of that process."""
        process = SimulatedProcess(name, work, owner=owner)
        process.thread = threading.Thread(target=self._run, args=(process,), daemon=True)
        self.processes.append(process)
        self._schedule(process, 0.0)
        return process

    def kill(self, process: SimulatedProcess) -> None:
        """Kill a process and its threads: nothing they do from now on takes effect."""
        whole = process.owner or process
        for each in self.processes:
            if each is whole or each.owner is whole:
                each.dead = True

    @property
    def current(self) -> SimulatedProcess | None:
        return self._current

    def join(self, process: SimulatedProcess) -> None:
        """Wait in virtual time until another process has ended."""
        waiting = self._current
        assert waiting is not None, "only a process can wait for another"
        if process.ended:
            return
        process.awaited.append(waiting)
        self._back.release()
        waiting.turn.acquire()
        if waiting.dead:
            raise Died(waiting.name)

    def run(self) -> None:
        """Run until every process has ended; raises the first error."""
        try:
            while self._queue:
                at, _, _, process = heapq.heappop(self._queue)
                if process.ended:
                    continue
                self._now = max(self._now, at)
                self.steps += 1
                if self.steps > self._most:
                    raise Stuck(f"seed {self.seed}: {self._most} steps without an end")
                self._give_turn(process)
                if process.problem is not None:
                    raise process.problem
        finally:
            self._end()

    def _give_turn(self, process: SimulatedProcess) -> None:
        assert process.thread is not None
        self._current = process
        if not process.thread.ident:
            process.thread.start()
        else:
            process.turn.release()
        if not self._back.acquire(timeout=_LIMIT):
            raise Stuck(f"seed {self.seed}: {process.name} does not yield")
        self._current = None

    def _run(self, process: SimulatedProcess) -> None:
        try:
            process.work()
        except Died:
            pass
        except BaseException as problem:
            process.problem = problem
        process.ended = True
        for waiting in process.awaited:
            self._schedule(waiting, 0.0)
        self._back.release()

    def _end(self) -> None:
        """End all waiting threads as killed."""
        for process in self.processes:
            started = process.thread is not None and process.thread.ident
            process.dead = True
            while started and not process.ended:
                self._give_turn(process)

    def _schedule(self, process: SimulatedProcess, seconds: float) -> None:
        self._count += 1
        entry = (self._now + max(0.0, seconds), self.random.random(), self._count, process)
        heapq.heappush(self._queue, entry)

    def tell(self, words: str) -> None:
        """Add a line to the trace: step, time, process."""
        who = self._current.name if self._current else "-"
        self.trace.append(f"{self.steps:5d} {self._now - 1_700_000_000:9.3f} {who}: {words}")
