"""Counts and latencies of all workers, in shared memory, rendered as Prometheus text."""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from keyfold.wire.targets import TARGETS

BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
_STATUSES: Final = ("2xx", "4xx", "5xx")
_SUM: Final = len(_STATUSES)
_BUCKET: Final = _SUM + 1
_WIDTH: Final = _BUCKET + len(BUCKETS) + 1
_NAMES: Final = [target.operation for target in TARGETS.values()]
_GAUGES: Final = ("connections", "refused_connections", "slow_clients")
_PLACES: Final = {name: len(_NAMES) * _WIDTH + place for place, name in enumerate(_GAUGES)}
_TICKS: Final = len(_NAMES) * _WIDTH + len(_GAUGES)
_ROW: Final = _TICKS + 1


class Metrics:
    """One row of numbers per worker.

    A worker counts in its own list, and publishes it every second and on request.
    """

    def __init__(self, workers: int = 1) -> None:
        self._memory = mmap.mmap(-1, workers * _ROW * 8)
        self._numbers = memoryview(self._memory).cast("d")
        self._workers = workers
        self.work_as(0)

    def work_as(self, worker: int) -> None:
        """Count as this worker from now on, continuing its predecessor's numbers."""
        self._start = worker * _ROW
        self._own = list[float](self._numbers[self._start : self._start + _ROW])
        self._own[_PLACES["connections"]] = 0.0

    def answered(self, slot: int, status: int, seconds: float) -> None:
        """Count one answer to an operation."""
        at = slot * _WIDTH
        own = self._own
        own[at + (0 if status < 400 else 1 if status < 500 else 2)] += 1.0
        own[at + _SUM] += seconds
        own[at + _BUCKET + bisect_left(BUCKETS, seconds)] += 1.0

    def add(self, gauge: str, amount: float) -> None:
        """Change a count that belongs to no operation."""
        self._own[_PLACES[gauge]] += amount

    def tick(self) -> None:
        """Signal that this worker is alive."""
        self._own[_TICKS] += 1.0
        self.publish()

    def ticks(self, worker: int) -> float:
        """A number that changes while a worker is alive."""
        return self._numbers[worker * _ROW + _TICKS]

    def publish(self) -> None:
        """Publish this worker's counts to the others."""
        self._numbers[self._start : self._start + _ROW] = array("d", self._own)

    def render(self) -> bytes:
        """All workers' numbers as Prometheus text."""
        self.publish()
        return ("\n".join(self._lines()) + "\n").encode()

    def _total(self, offset: int) -> float:
        return sum(self._numbers[worker * _ROW + offset] for worker in range(self._workers))

    def _lines(self) -> Iterator[str]:
        yield "# HELP keyfold_requests_total Answers by operation and status."
        yield "# TYPE keyfold_requests_total counter"
        for slot, name in enumerate(_NAMES):
            for place, status in enumerate(_STATUSES):
                if count := self._total(slot * _WIDTH + place):
                    labels = f'operation="{name}",status="{status}"'
                    yield f"keyfold_requests_total{{{labels}}} {count:.0f}"
        yield "# HELP keyfold_request_seconds Time from the whole request to its answer."
        yield "# TYPE keyfold_request_seconds histogram"
        for slot, name in enumerate(_NAMES):
            yield from self._histogram(slot * _WIDTH, name)
        for name, place in _PLACES.items():
            kind = "gauge" if name == "connections" else "counter"
            suffix = "" if kind == "gauge" else "_total"
            yield f"# TYPE keyfold_{name}{suffix} {kind}"
            yield f"keyfold_{name}{suffix} {self._total(place):.0f}"

    def _histogram(self, at: int, name: str) -> Iterator[str]:
        cumulative = 0.0
        lines = []
        for place, bound in enumerate((*BUCKETS, "+Inf")):
            cumulative += self._total(at + _BUCKET + place)
            labels = f'operation="{name}",le="{bound}"'
            lines.append(f"keyfold_request_seconds_bucket{{{labels}}} {cumulative:.0f}")
        if cumulative:
            yield from lines
            yield f'keyfold_request_seconds_sum{{operation="{name}"}} {self._total(at + _SUM):.6f}'
            yield f'keyfold_request_seconds_count{{operation="{name}"}} {cumulative:.0f}'
