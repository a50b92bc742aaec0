"""Views: several patterns read for one page, or one collection with all of it."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.reads import PricedRead, read


def reads(figures: DesignNumbers, name: str) -> Iterator[PricedRead]:
    """What one view reads: a collection of its name where the design has one."""
    whole = figures.schema.by_pattern.get(name)
    if whole is not None:
        yield read(figures, whole)
        return
    for pattern in figures.workload.views[name].reads:
        yield read(figures, figures.schema.by_pattern[pattern])
