"""Structures for the rarer needs: edges, cascades, extremes, averages, and values over shards."""

from keyfold.design import From
from keyfold.maintain import (
    Average,
    Cascade,
    Edge,
    Extreme,
    Latest,
    Mirror,
    Sharded,
    across_shards,
    total,
)

__all__ = [
    "Average",
    "Cascade",
    "Edge",
    "Extreme",
    "From",
    "Latest",
    "Mirror",
    "Sharded",
    "across_shards",
    "total",
]
