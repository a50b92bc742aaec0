"""Random migrations under traffic on other people's servers, each seed on a server of its own.

One on each by default; `make peers` takes 20, `MIGRATIONS=50` that many. dynoxide gives a table's
stream the records of a dropped table of the same name, dynalite has no transactions, and moto opens
no stream again that was closed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fault.test_random_migrations import Trial
from tests.peers.conftest import dynoxide, ministack

FULL = bool(os.environ.get("KEYFOLD_FULL"))
MANY = int(os.environ.get("MIGRATIONS", "20" if FULL else "1"))
FIRST = int(os.environ.get("FIRST_MIGRATION", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + MANY))
def test_a_random_migration_on_dynoxide_loses_and_changes_nothing(
    seed: int, tmp_path: Path, node_modules: Path
) -> None:
    with dynoxide(tmp_path, node_modules) as address:
        Trial(seed, tmp_path, address).run()


@pytest.mark.parametrize("seed", range(FIRST, FIRST + MANY))
def test_a_random_migration_on_ministack_loses_and_changes_nothing(
    seed: int, tmp_path: Path
) -> None:
    with ministack(tmp_path) as address:
        Trial(seed, tmp_path, address).run()
