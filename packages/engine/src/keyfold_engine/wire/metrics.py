"""Counts and latencies of all workers, in shared memory, rendered as Prometheus text."""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from keyfold_engine.operations import OPERATIONS

BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5)
_STATUSES: Final = ("2xx", "4xx", "5xx")
_SUM: Final = len(_STATUSES)
_BUCKET: Final = _SUM + 1
_WIDTH: Final = _BUCKET + len(BUCKETS) + 1
_NAMES: Final = list(OPERATIONS)
_STARTS: Final = {name: slot * _WIDTH for slot, name in enumerate(_NAMES)}
_HELP: Final = {
    "connections": "Open connections.",
    "refused_connections": "Connections refused because there were too many.",
    "slow_clients": "Connections closed because the client was too slow.",
}
_PLACES: Final = {name: len(_NAMES) * _WIDTH + place for place, name in enumerate(_HELP)}
_TICKS: Final = len(_NAMES) * _WIDTH + len(_HELP)
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

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer to an operation."""
        at = _STARTS[operation]
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
        return "".join(f"{line}\n" for line in self._lines()).encode()

    def _total(self, offset: int) -> float:
        return sum(self._numbers[worker * _ROW + offset] for worker in range(self._workers))

    def _lines(self) -> Iterator[str]:
        # A server starts without it.
        from keyfold_engine import prometheus

        name = "keyfold_requests_total"
        yield from prometheus.heading(name, "counter", "Answers by operation and status.")
        for operation, at in _STARTS.items():
            for place, status in enumerate(_STATUSES):
                if count := self._total(at + place):
                    yield prometheus.sample(name, {"operation": operation, "status": status}, count)
        name = "keyfold_request_seconds"
        yield from prometheus.heading(
            name, "histogram", "Time from the whole request to its answer."
        )
        for operation, at in _STARTS.items():
            counts = [self._total(at + _BUCKET + place) for place in range(len(BUCKETS) + 1)]
            if any(counts):
                labels, total = {"operation": operation}, self._total(at + _SUM)
                yield from prometheus.histogram(name, labels, BUCKETS, counts, total)
        for gauge, place in _PLACES.items():
            kind, suffix = ("gauge", "") if gauge == "connections" else ("counter", "_total")
            name = f"keyfold_{gauge}{suffix}"
            yield from prometheus.heading(name, kind, _HELP[gauge])
            yield prometheus.sample(name, {}, self._total(place))
