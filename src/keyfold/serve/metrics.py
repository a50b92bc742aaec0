"""Counters, gauges and histograms in Prometheus' text format."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
LATENCY_SECONDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip

Labels = tuple[str, ...]


class Counter:
    """A number per combination of labels that only grows."""

    kind = "counter"

    def __init__(self, name: str, help: str, labels: Sequence[str] = ()) -> None:
        self.name, self.help, self.labels = name, help, tuple(labels)
        self._values: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def add(self, amount: float = 1, /, *labels: str) -> None:
        with self._lock:
            self._values[labels] = self._values.get(labels, 0) + amount

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0)

    def lines(self) -> Iterator[str]:
        for labels, value in sorted(self._values.items()):
            yield f"{self.name}{_braces(self.labels, labels)} {_number(value)}"


class Gauge(Counter):
    """A number per combination of labels that goes up and down."""

    kind = "gauge"

    def set(self, value: float, /, *labels: str) -> None:
        with self._lock:
            self._values[labels] = value


class Histogram:
    """How often a value fell under each bound, per combination of labels."""

    kind = "histogram"

    def __init__(
        self,
        name: str,
        help: str,
        labels: Sequence[str] = (),
        bounds: Sequence[float] = LATENCY_SECONDS,
    ) -> None:
        self.name, self.help, self.labels, self.bounds = name, help, tuple(labels), tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def observe(self, value: float, /, *labels: str) -> None:
        with self._lock:
            counts = self._counts.setdefault(labels, [0] * (len(self.bounds) + 1))
            counts[bisect_left(self.bounds, value)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterator[str]:
        for labels, counts in sorted(self._counts.items()):
            total = 0
            for bound, count in zip((*self.bounds, float("inf")), counts, strict=True):
                total += count
                named = _braces((*self.labels, "le"), (*labels, _number(bound)))
                yield f"{self.name}_bucket{named} {total}"
            names = _braces(self.labels, labels)
            yield f"{self.name}_sum{names} {_number(self._sums[labels])}"
            yield f"{self.name}_count{names} {total}"


class Registry:
    """The metrics of one process."""

    def __init__(self) -> None:
        self._metrics: list[Counter | Histogram] = []

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Counter:
        metric = Counter(name, help, labels)
        self._metrics.append(metric)
        return metric

    def gauge(self, name: str, help: str, labels: Sequence[str] = ()) -> Gauge:
        metric = Gauge(name, help, labels)
        self._metrics.append(metric)
        return metric

    def histogram(self, name: str, help: str, labels: Sequence[str] = ()) -> Histogram:
        metric = Histogram(name, help, labels)
        self._metrics.append(metric)
        return metric

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        lines: list[str] = []
        for metric in self._metrics:
            lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
            lines += metric.lines()
        return "\n".join(lines) + "\n"


def _braces(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = ",".join(
        f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True)
    )
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
