"""Sweeping in the background, for processes that keep a data file open."""

from __future__ import annotations

import logging
import threading
from weakref import ref

from keyfold.engine.engine import Engine
from keyfold.errors import StorageError

SWEEP_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Sweeper:
    """Sweeps an engine now and then, in a thread of its own, until it is stopped."""

    def __init__(self, engine: Engine, seconds: float | None = None) -> None:
        # An engine that nobody closed and everybody forgot is not kept alive for this.
        self._engine = ref(engine)
        self._seconds = SWEEP_SECONDS if seconds is None else seconds
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="keyfold-sweeper", daemon=True).start()

    def stop(self) -> None:
        """Begin no other sweep; one that is under way ends when its engine is closed."""
        self._stopped.set()

    def _run(self) -> None:
        reported = ""
        while not self._stopped.wait(self._seconds) and (engine := self._engine()) is not None:
            try:
                _sweep(engine)
                reported = ""
            except StorageError as error:
                # A full disk, a busy file: the next sweep may find it otherwise. One line for
                # as long as it lasts, not one for each sweep.
                if str(error) != reported and not self._stopped.is_set():
                    reported = str(error)
                    logger.error("cannot delete what has expired: %s", error)
            except Exception:
                if not self._stopped.is_set():
                    logger.exception("cannot delete what has expired")
            del engine


def _sweep(engine: Engine) -> None:
    for each in engine.company():
        each.sweep()
