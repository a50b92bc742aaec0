"""Partitions: 10 GB, 3,000 read and 1,000 write units per second each; split, never merged.

DG: the limits hold for tables and indexes, in both capacity modes, separately for reads and writes;
no item gets more than one partition. B1: a new on-demand table behaves like four partitions; N
provisioned write units give at least N / 1,000 of them. Equal partitions are counted rather than
listed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from keyfold_engine.limits import ITEM_COLLECTION_BYTES, PARTITION_READ_UNITS, PARTITION_WRITE_UNITS

PARTITION_BYTES = ITEM_COLLECTION_BYTES


@dataclass
class StorePartition:
    """Some heavy keys, or parts of them, and a share of all others."""

    width: float
    """The share of the keys that are not listed."""
    held: dict[int, float] = field(default_factory=dict)
    """Heavy keys by number, and how much of each is stored here."""
    count: int = 1
    hot_since: float | None = None
    splits_at: float | None = None
    stuck: bool = False
    """No split can help."""
    loads: dict[str, list[tuple[str, float]]] | None = None
    """Units per second by kind, for each profile at a factor of 1."""


def partitions_needed(read: float, write: float, bytes_: float) -> int:
    """The partitions needed for these bytes and units per second."""
    return max(
        1,
        ceil(read / PARTITION_READ_UNITS - 1e-9),
        ceil(write / PARTITION_WRITE_UNITS - 1e-9),
        ceil(bytes_ / PARTITION_BYTES - 1e-9),
    )
