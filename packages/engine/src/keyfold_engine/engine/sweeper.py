"""Background sweeping, for processes that keep a data file open."""

from __future__ import annotations

import threading
from weakref import ref

from keyfold_engine.engine.engine import Engine
from keyfold_engine.errors import StorageError

SWEEP_SECONDS = 60.0


class Sweeper:
    """Sweeps an engine periodically in its own thread until stopped."""

    def __init__(self, engine: Engine, seconds: float | None = None) -> None:
        # A weak reference, so that an unclosed engine can be collected.
        self._engine = ref(engine)
        self._seconds = SWEEP_SECONDS if seconds is None else seconds
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="keyfold-sweeper", daemon=True).start()

    def stop(self) -> None:
        """Start no further sweep; one in progress ends when its engine is closed."""
        self._stopped.set()

    def _run(self) -> None:
        import logging

        logger = logging.getLogger(__name__)
        reported = ""
        while not self._stopped.wait(self._seconds) and (engine := self._engine()) is not None:
            try:
                _sweep(engine)
                reported = ""
            except StorageError as error:
                # The disk is full or the file busy: the next sweep may succeed. Log one line per
                # problem, not per sweep.
                if str(error) != reported and not self._stopped.is_set():
                    reported = str(error)
                    logger.error("cannot delete what has expired: %s", error)
            except Exception:
                if not self._stopped.is_set():
                    logger.exception("cannot delete what has expired")
            del engine


def _sweep(engine: Engine) -> None:
    for each in engine.open_engines():
        each.sweep()
