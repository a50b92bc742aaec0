"""Read and write units of so many bytes: the arithmetic that the engine and the adviser share."""

from __future__ import annotations

from keyfold.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES


def read_units(size: int, *, consistent: bool) -> float:
    """Units of a read of so many bytes; reading nothing costs as much as the first block."""
    blocks = -(-size // READ_UNIT_BYTES) or 1
    return float(blocks) if consistent else blocks / 2


def write_units(size: int) -> float:
    """Units of a write of so many bytes."""
    return float(-(-size // WRITE_UNIT_BYTES) or 1)


def entry_units(before: int | None, after: int | None, *, moved: bool, changed: bool) -> float:
    """Units of what a write does to an index entry, from its sizes before and after.

    A new place costs a delete and a put; the same place costs if what it holds changed.
    """
    if before is not None and after is not None and not moved:
        return write_units(max(before, after)) if changed else 0.0
    return sum(write_units(size) for size in (before, after) if size is not None)
