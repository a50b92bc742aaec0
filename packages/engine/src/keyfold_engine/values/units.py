"""Read and write units for a number of bytes, shared by the engine and the cost model."""

from __future__ import annotations

from keyfold_engine.limits import READ_UNIT_BYTES, WRITE_UNIT_BYTES


def read_units(size: int, *, consistent: bool) -> float:
    """Read units for this many bytes; reading nothing costs one block."""
    blocks = -(-size // READ_UNIT_BYTES) or 1
    return float(blocks) if consistent else blocks / 2


def write_units(size: int) -> float:
    """Write units for this many bytes."""
    return float(-(-size // WRITE_UNIT_BYTES) or 1)


def entry_units(before: int | None, after: int | None, *, moved: bool, changed: bool) -> float:
    """Write units for an index entry, from its sizes before and after.

    A changed key costs a delete and a put; an unchanged key costs only if its contents changed.
    """
    if before is not None and after is not None and not moved:
        return write_units(max(before, after)) if changed else 0.0
    return sum(write_units(size) for size in (before, after) if size is not None)
