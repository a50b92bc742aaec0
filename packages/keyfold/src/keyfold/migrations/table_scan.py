"""Scans whole tables in parallel segments, resumable after a crash."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from keyfold.errors import MigrationError
from keyfold.migrations.backend import Item
from keyfold.migrations.progress import Progress, Report, Throttle
from keyfold.migrations.state_store import StateStore
from keyfold.runtime.walk import Walk, pages

PAGE = 500
Page: TypeAlias = tuple[list[Item], Item | None]
"""Items, and where the next page begins."""


@dataclass(frozen=True)
class ScanPace:
    """The speed limit of a job."""

    segments: int = 4
    items_per_second: float = 0
    """0 is no limit."""
    page: int = PAGE

    def __post_init__(self) -> None:
        if self.segments < 1:
            raise MigrationError(f"segments must be at least 1, not {self.segments}")
        if not 0 <= self.items_per_second < inf:
            raise MigrationError(
                f"the rate must be more than 0 items a second, not {self.items_per_second:g}; "
                "leave it out for no limit"
            )

    @property
    def items_at_once(self) -> int:
        """A page; so small that at a rate it takes about a second, in which it can be stopped."""
        rate = self.items_per_second / self.segments
        return min(self.page, max(1, int(rate))) if rate else self.page


class Scan:
    """A job over every item of a table. Progress is stored after each page, so that another
    process can continue; a page may be processed twice, but is never skipped.
    """

    def __init__(
        self, store: StateStore, job: str, table: str, pace: ScanPace, report: Report
    ) -> None:
        self.store, self.job, self.table, self.pace, self.report = store, job, table, pace, report
        self._limit = Throttle(pace.items_per_second)
        description = store.backend.describe(table) or {}
        self.progress = Progress(job, expected=int(description.get("ItemCount", 0)))
        self._lock = threading.Lock()

    def run(self, handle: Callable[[list[Item]], None], *, resume: bool = True) -> None:
        """Pass every page to `handle`; a table of one page is read by one request."""
        begun = self.store.segment(self.job, 0) if resume else None
        segments = begun["segments"] if begun else self.pace.segments
        if begun is None and segments > 1:
            first = next(self._pages(0, 1, None))
            if first[1] is None:
                self._segment(0, 1, handle, resume, iter([first]))
                return
        with ThreadPoolExecutor(segments) as pool:
            jobs = [
                pool.submit(self._segment, number, segments, handle, resume)
                for number in range(segments)
            ]
            for job in jobs:
                job.result()

    def run_each(self, handle: Callable[[Item], object], *, resume: bool = True) -> None:
        """Pass every item to `handle`."""

        def handle_page(items: list[Item]) -> None:
            for item in items:
                handle(item)

        self.run(handle_page, resume=resume)

    def _segment(
        self,
        number: int,
        segments: int,
        handle: Callable[[list[Item]], None],
        resume: bool,
        pages: Iterator[Page] | None = None,
    ) -> None:
        stored = self.store.segment(self.job, number) if resume and pages is None else None
        done = stored["done"] if stored else 0
        self._advance(done)
        if stored and stored["finished"]:
            return
        pages = pages or self._pages(number, segments, stored["next"] if stored else None)
        for items, following in pages:
            self._limit.wait(len(items))
            handle(items)
            done += len(items)
            if resume:
                self.store.set_segment(
                    self.job,
                    number,
                    {
                        "segments": segments,
                        "next": following,
                        "done": done,
                        "finished": following is None,
                    },
                )
            self._advance(len(items))

    def _pages(self, number: int, segments: int, start: Item | None) -> Iterator[Page]:
        request = {
            "TableName": self.store.backend.physical(self.table),
            "Limit": self.pace.items_at_once,
            "ConsistentRead": True,
        }
        if segments > 1:
            request |= {"Segment": number, "TotalSegments": segments}
        walk = Walk("Scan", request, start)
        for answer in pages(self.store.backend.call, walk):
            yield answer["Items"], walk.position

    def _advance(self, items: int) -> None:
        with self._lock:
            self.progress.advance(items)
            self.report(self.progress)
