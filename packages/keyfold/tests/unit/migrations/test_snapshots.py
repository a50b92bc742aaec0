"""Snapshots of other times are refused with what to do."""

from __future__ import annotations

import pytest

from keyfold.errors import MigrationError
from keyfold.migrations.snapshot import load


@pytest.mark.parametrize("other", [1, 3])
def test_a_snapshot_of_another_format_says_what_to_do(other: int) -> None:
    words = rf"x\.json has format {other}.*keyfold migrations snapshot"
    with pytest.raises(MigrationError, match=words):
        load(f'{{"format": {other}}}'.encode(), "x.json")
