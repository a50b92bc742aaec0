"""A running migration: one step at a time in its own thread, and the copying in between."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, Phase, Progress
from keyfold.migrations.state import State
from keyfold.migrations.verify import Comparison
from keyfold_workbench.studio.lag import LagSamples

PATIENCE = 2.0
LINES = 200
"""What a migration said lately."""


class Halted(KeyfoldError):
    """The migration was asked to stop; completed work is kept."""


class MigrationRun:
    """One phase of a migration, then what is written meanwhile, until the next or a stop."""

    def __init__(self, lag: LagSamples) -> None:
        self.lag = lag
        self.progress: Progress | None = None
        self.comparison: Comparison | None = None
        self.problem = ""
        self.waits = ""
        """Why the last step was not taken: it waits for the application."""
        self.log: deque[tuple[float, str]] = deque(maxlen=LINES)
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()
        self._stepped = threading.Event()

    @property
    def is_running(self) -> bool:
        """Whether a step is under way."""
        return self._is_alive() and not self._stepped.is_set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop, and the current page is not finished."""
        return self.is_running and self._halt.is_set()

    @property
    def is_copying(self) -> bool:
        """Whether changes are copied between the steps."""
        return self._is_alive() and self._stepped.is_set()

    def apply(self, migrator: Migrator, to: Phase) -> None:
        """Continue to a phase."""

        def step() -> None:
            if migrator.apply(to).phase != to and self.log:
                self.waits = self.log[-1][1].removeprefix(f"{migrator.migration.name}: ")

        self._start(step, migrator)

    def roll_back(self, migrator: Migrator, back: Callable[[], State]) -> None:
        """Roll back to the start."""
        self._start(back, migrator)

    def copy(self, migrator: Migrator) -> None:
        """Copy what is written, without a step."""
        self._start(lambda: None, migrator)

    def stop(self) -> None:
        self._halt.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def say(self, words: str) -> None:
        self.log.append((time.time(), words))

    def report(self, progress: Progress) -> None:
        self.progress = progress
        if self._halt.is_set():
            raise Halted("Stopped. Copied items are kept; continue at any time.")

    def _is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _start(self, step: Callable[[], object], migrator: Migrator) -> None:
        """Start; a short step is done when this returns."""
        if self.is_running:
            raise KeyfoldError("This migration is running: wait, or stop it.")
        self.stop()
        if self._is_alive():
            raise KeyfoldError("This migration has not stopped copying yet: retry in a moment.")
        self.problem, self.waits, self.progress = "", "", None
        self._halt.clear()
        self._stepped.clear()
        self._thread = threading.Thread(
            target=self._run, args=(step, migrator), name="migration", daemon=True
        )
        self._thread.start()
        self._stepped.wait(PATIENCE)

    def _run(self, step: Callable[[], object], migrator: Migrator) -> None:
        try:
            step()
            self.comparison = migrator.comparison or self.comparison
            self._stepped.set()
            migrator.follow(self._halt.is_set)
        except Halted as told:
            self.say(str(told))
        except Exception as problem:
            self.problem = str(problem)
            self.say(self.problem)
        finally:
            self._stepped.set()
