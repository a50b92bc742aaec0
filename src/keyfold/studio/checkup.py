"""The verification of a system: run beside the pages, its last report kept."""

from __future__ import annotations

import threading
import time

from keyfold.maintain import DriftReport, verify
from keyfold.runtime import Db
from keyfold.streams import Consumer


class Checkup:
    """One verification at a time, in a thread of its own."""

    def __init__(self) -> None:
        self.last: DriftReport | None = None
        self.at = 0.0
        self.seconds = 0.0
        self.scanned = 0
        self.problem = ""
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, db: Db, *, settle: bool, wait: float) -> None:
        """Verify; a short one is done when this returns."""
        with self._lock:
            if not self.is_running:
                self.scanned, self.problem = 0, ""
                self._thread = threading.Thread(
                    target=self._run, args=(db, settle), name="verify", daemon=True
                )
                self._thread.start()
            thread = self._thread
        if thread is not None:
            thread.join(wait)

    def _run(self, db: Db, settle: bool) -> None:
        begun = time.monotonic()
        try:
            self.last = verify(
                db, progress=self._progress, settle=Consumer(db).catch_up if settle else None
            )
        except Exception as problem:
            self.problem = str(problem)
        self.at, self.seconds = time.time(), time.monotonic() - begun

    def _progress(self, scanned: int) -> None:
        self.scanned = scanned
