"""A system's verification: runs in the background and keeps its last report."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from keyfold.maintain import Drift, DriftReport, verify
from keyfold.runtime import Db
from keyfold.streams import Consumer


class Checkup:
    """One verification at a time, in its own thread."""

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

    def drift_of(self, table: str, key: Mapping[str, Any]) -> Drift | None:
        """What the last verification found of an item."""
        found = self.last.drifts if self.last is not None else ()
        return next((one for one in found if one.table == table and one.key == key), None)

    def start(self, db: Db, *, settle: bool, wait: float) -> None:
        """Start a verification; a short one is done when this returns."""
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
