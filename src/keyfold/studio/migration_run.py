"""A migration under way: one step at a time, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, Phase, Progress
from keyfold.migrations.state import State

PATIENCE = 2.0


class Halted(KeyfoldError):
    """Somebody asked the migration to stop; what is done is kept."""


class MigrationRun:
    """One phase of a migration in a thread of its own."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.problem = ""
        self.waits = ""
        """Why the last step was not taken: it waits for the application."""
        self._said = ""
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def apply(self, migrator: Migrator, to: Phase) -> None:
        """Go on to a phase."""

        def step() -> None:
            if migrator.apply(to).phase != to:
                self.waits = self._said.removeprefix(f"{migrator.migration.name}: ")

        self._start(step)

    def roll_back(self, back: Callable[[], State]) -> None:
        """Go back to the start."""
        self._start(back)

    def stop(self) -> None:
        self._halt.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def say(self, words: str) -> None:
        self._said = words

    def report(self, progress: Progress) -> None:
        self.progress = progress
        if self._halt.is_set():
            raise Halted("Stopped. What was copied is kept; go on when you like.")

    def _start(self, step: Callable[[], object]) -> None:
        """Begin; a short way is done when this returns."""
        if self.is_running:
            raise KeyfoldError("This migration is under way: wait, or stop it.")
        self.problem, self.waits, self.progress = "", "", None
        self._halt.clear()
        self._thread = threading.Thread(
            target=self._run, args=(step,), name="migration", daemon=True
        )
        self._thread.start()
        self._thread.join(PATIENCE)

    def _run(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as problem:
            self.problem = str(problem)
