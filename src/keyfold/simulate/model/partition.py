"""Partitions: 10 GB, 3,000 read and 1,000 write units a second each, split and never merged.

DG: the same limits for tables and indexes, in both capacity modes, for reads and writes apart; no
item gets more than one partition gives. B1: a new on-demand table behaves as four partitions;
provisioned N write units are at least N / 1,000 of them. Partitions that are alike are counted,
not listed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from keyfold.limits import ITEM_COLLECTION_BYTES, PARTITION_READ_UNITS, PARTITION_WRITE_UNITS

PARTITION_BYTES = ITEM_COLLECTION_BYTES


@dataclass
class StorePartition:
    """Some heavy keys, or parts of them, and a share of all others."""

    width: float
    """The share of the keys that are not listed."""
    held: dict[int, float] = field(default_factory=dict)
    """Heavy keys by number, and how much of each lies here."""
    count: int = 1
    hot_since: float | None = None
    splits_at: float | None = None
    stuck: bool = False
    """No split can help it."""
    loads: dict[str, list[tuple[str, float]]] | None = None
    """Units a second by kind: of each profile, at a factor of 1."""


def partitions_needed(read: float, write: float, bytes_: float) -> int:
    """The partitions that these bytes and these units a second need."""
    return max(
        1,
        ceil(read / PARTITION_READ_UNITS - 1e-9),
        ceil(write / PARTITION_WRITE_UNITS - 1e-9),
        ceil(bytes_ / PARTITION_BYTES - 1e-9),
    )


def dilute(read: float, write: float, bytes_: float) -> int:
    """The formula from before 2018, when the rates were added up."""
    return max(
        ceil(read / PARTITION_READ_UNITS + write / PARTITION_WRITE_UNITS - 1e-9),
        ceil(bytes_ / PARTITION_BYTES - 1e-9),
        1,
    )
