"""Counters and histograms in Prometheus' text format, summed over worker processes."""

from __future__ import annotations

import mmap
import os
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from keyfold_engine import prometheus

CELLS: Final = 65_536
LATENCY_SECONDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip

Labels = tuple[str, ...]
Totals = Mapping[Labels, list[float]]


class Cells:
    """The numbers of this process: in memory, or in a folder that all workers can read.

    A series has a run of cells. In a folder, `<pid>.values` holds the numbers and `<pid>.names` a
    line per series; the counts of a replaced worker are kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._places: dict[Labels, tuple[int, int]] = {}
        self._next = 0
        self._lock = threading.Lock()
        if folder is None:
            self._numbers = memoryview(bytearray(CELLS * 8)).cast("d")
            return
        values = folder / f"{os.getpid()}.values"
        values.write_bytes(b"")
        os.truncate(values, CELLS * 8)
        with values.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")

    def add(self, series: Labels, width: int, amounts: Sequence[tuple[int, float]]) -> None:
        """Add amounts to cells of a series."""
        with self._lock:
            start = self._start(series, width)
            for offset, amount in amounts:
                self._numbers[start + offset] += amount

    def totals(self) -> dict[Labels, list[float]]:
        """The cells of every series, summed over the workers."""
        summed: dict[Labels, list[float]] = {}
        for series, numbers in self._everywhere():
            known = summed.setdefault(series, [0.0] * len(numbers))
            summed[series] = [a + b for a, b in zip(known, numbers, strict=True)]
        return summed

    def _start(self, series: Labels, width: int) -> int:
        if (place := self._places.get(series)) is not None:
            return place[0]
        start = self._next
        if start + width > CELLS:
            raise RuntimeError("too many combinations of labels to count")
        self._places[series] = (start, width)
        self._next += width
        if self._folder is not None:
            with (self._folder / f"{os.getpid()}.names").open("ab") as names:
                names.write(orjson.dumps([series, start, width]) + b"\n")
        return start

    def _everywhere(self) -> Iterator[tuple[Labels, list[float]]]:
        if self._folder is None:
            for series, (start, width) in list(self._places.items()):
                yield series, list(map(float, self._numbers[start : start + width]))
            return
        for names in sorted(self._folder.glob("*.names")):
            numbers = memoryview(names.with_suffix(".values").read_bytes()).cast("d")
            for line in names.read_bytes().splitlines():
                series, start, width = orjson.loads(line)
                yield tuple(series), list(map(float, numbers[start : start + width]))


class CounterMetric:
    """A growing number per combination of labels."""

    kind = "counter"

    def __init__(self, cells: Cells, name: str, help: str, labels: Sequence[str]) -> None:
        self._cells, self.name, self.help, self._labels = cells, name, help, tuple(labels)

    def add(self, amount: float, /, *labels: str) -> None:
        self._cells.add((self.name, *labels), 1, [(0, amount)])

    def lines(self, totals: Totals) -> Iterator[str]:
        for labels, (value,) in sorted(totals.items()):
            yield prometheus.sample(self.name, dict(zip(self._labels, labels, strict=True)), value)


class Histogram:
    """How often a value fell under each bound, per combination of labels."""

    kind = "histogram"

    def __init__(self, cells: Cells, name: str, help: str, labels: Sequence[str]) -> None:
        self._cells, self.name, self.help, self._labels = cells, name, help, tuple(labels)

    def observe(self, value: float, /, *labels: str) -> None:
        bucket, last = bisect_left(LATENCY_SECONDS, value), len(LATENCY_SECONDS) + 1
        self._cells.add((self.name, *labels), last + 1, [(bucket, 1), (last, value)])

    def lines(self, totals: Totals) -> Iterator[str]:
        for labels, (*counts, total) in sorted(totals.items()):
            named = dict(zip(self._labels, labels, strict=True))
            yield from prometheus.histogram(self.name, named, LATENCY_SECONDS, counts, total)


class MetricRegistry:
    """The metrics of a process; with a folder, of all workers that share it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._cells = Cells(folder)
        self._metrics: list[CounterMetric | Histogram] = []

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> CounterMetric:
        metric = CounterMetric(self._cells, name, help, labels)
        self._metrics.append(metric)
        return metric

    def histogram(self, name: str, help: str, labels: Sequence[str] = ()) -> Histogram:
        metric = Histogram(self._cells, name, help, labels)
        self._metrics.append(metric)
        return metric

    def text(self) -> str:
        """All metrics in Prometheus format."""
        totals = self._cells.totals()
        lines: list[str] = []
        for metric in self._metrics:
            own = {series[1:]: row for series, row in totals.items() if series[0] == metric.name}
            lines += prometheus.heading(metric.name, metric.kind, metric.help)
            lines += metric.lines(own)
        return "\n".join(lines) + "\n"
