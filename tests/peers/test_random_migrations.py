"""Random migrations under traffic on other people's servers.

`MIGRATIONS=20` takes that many; `make peers` does. dynalite has no transactions, and moto opens no
stream again that was closed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fault.test_random_migrations import Trial

MANY = int(os.environ.get("MIGRATIONS", "2"))
FIRST = int(os.environ.get("FIRST_MIGRATION", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + MANY))
@pytest.mark.parametrize("other_server", ["dynoxide", "ministack"], indirect=True)
def test_a_random_migration_loses_and_changes_nothing_there(
    other_server: tuple[str, str], seed: int, tmp_path: Path
) -> None:
    Trial(seed, tmp_path, other_server[1]).run()
