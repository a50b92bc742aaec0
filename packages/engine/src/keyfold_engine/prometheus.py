"""Prometheus' text format: one place that knows how metrics are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def heading(name: str, kind: str, help: str) -> list[str]:
    """The lines before a metric's samples."""
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]


def sample(name: str, labels: Mapping[str, str], value: float) -> str:
    """One number."""
    pairs = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
    return f"{name}{{{pairs}}} {_number(value)}" if pairs else f"{name} {_number(value)}"


def histogram(
    name: str,
    labels: Mapping[str, str],
    bounds: Iterable[float],
    counts: Sequence[float],
    total: float,
) -> Iterator[str]:
    """The samples of a histogram: `counts` has one number per bound and one for larger values."""
    below = list(accumulate(counts))
    for bound, count in zip((*bounds, float("inf")), below, strict=True):
        yield sample(f"{name}_bucket", {**labels, "le": _number(bound)}, count)
    yield sample(f"{name}_sum", labels, total)
    yield sample(f"{name}_count", labels, below[-1])


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)
