"""A migration under way: one step at a time, in a thread of its own."""

from __future__ import annotations

import threading

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, Phase, Progress

PATIENCE = 2.0


class Halted(KeyfoldError):
    """Somebody asked the migration to stop; what is done is kept."""


class MigrationRun:
    """One phase of a migration in a thread of its own."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.problem = ""
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, migrator: Migrator, to: Phase | None) -> None:
        """Go on to a phase, or back to the start; a short way is done when this returns."""
        if self.is_running:
            raise KeyfoldError("This migration is under way: wait, or stop it.")
        self.problem, self.progress = "", None
        self._halt.clear()
        self._thread = threading.Thread(
            target=self._run, args=(migrator, to), name="migration", daemon=True
        )
        self._thread.start()
        self._thread.join(PATIENCE)

    def stop(self) -> None:
        self._halt.set()
        if self._thread is not None:
            self._thread.join(PATIENCE)

    def report(self, progress: Progress) -> None:
        self.progress = progress
        if self._halt.is_set():
            raise Halted("Stopped. What was copied is kept; go on when you like.")

    def _run(self, migrator: Migrator, to: Phase | None) -> None:
        try:
            if to is None:
                migrator.rollback()
            else:
                migrator.apply(to)
        except Exception as problem:
            self.problem = str(problem)
