"""Splits: by size, and by heat at a point chosen from the requested keys.

P22 §4.4: once consumption crosses a threshold, within minutes. DG: a hot item may get its own
partition. A key is divided by its sort keys, but not if the table has a local index, if the sort
key only rises or falls, or if one item is hot. The adjacency of keys is ignored: the two sides are
balanced as if any division were a range.
"""

from __future__ import annotations

from collections.abc import Mapping

from keyfold_workbench.simulate.model.partition import StorePartition

_ALONE = 0.5
"""A key with more than this share of a partition's load drives the split."""


def divide(
    partition: StorePartition,
    loads: Mapping[int, float],
    divisible: Mapping[int, bool],
    bulk: float,
) -> tuple[StorePartition, StorePartition] | None:
    """The two halves of a partition; None if no split can help.

    `loads` are the keys' shares of the partition's limit, `bulk` that of all others.
    """
    total = bulk + sum(loads.values())
    if total <= 0:
        return None
    top = max(loads, key=lambda key: loads[key], default=None)
    left, right = StorePartition(0.0), StorePartition(0.0)
    weights = [0.0, 0.0]
    rest = dict(partition.held)
    if top is not None and loads[top] > _ALONE * total:
        held = rest.pop(top)
        if divisible[top]:
            left.held[top] = right.held[top] = held / 2
            weights = [loads[top] / 2, loads[top] / 2]
        elif not rest and partition.width <= 0:
            return None
        else:
            left.held[top] = held
            weights = [float("inf"), 0.0]
    for key in sorted(rest, key=lambda each: -loads.get(each, 0.0)):
        side = 0 if weights[0] <= weights[1] else 1
        (left, right)[side].held[key] = rest[key]
        weights[side] += loads.get(key, 0.0)
    left.width, right.width = _widths(partition.width, bulk, weights)
    return left, right


def _widths(width: float, bulk: float, weights: list[float]) -> tuple[float, float]:
    """Divide the other keys so that both sides weigh the same, as far as possible."""
    if weights[0] == float("inf"):
        return 0.0, width
    if bulk <= 0:
        return width / 2, width / 2
    half = (bulk + weights[0] + weights[1]) / 2
    left = min(bulk, max(0.0, half - weights[0]))
    return width * left / bulk, width * (1 - left / bulk)
