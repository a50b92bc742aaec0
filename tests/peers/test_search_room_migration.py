"""Search Room's migration on other people's servers: there and back.

dynalite has no transactions, and moto opens no stream again that was closed. On ExtendDB it takes
three minutes, so that only `make peers` runs it there.
"""

from __future__ import annotations

import os

import pytest
from tests.peers.conftest import EXTENDDB_INDEX_LAG, ROOT, pass_there

TESTS = ROOT / "systems" / "tests" / "systems" / "search_room" / "test_adopted.py"


SERVERS = ["dynoxide", "ministack"] + ["extenddb"] * bool(os.environ.get("KEYFOLD_FULL"))


@pytest.mark.parametrize("other_server", SERVERS, indirect=True)
def test_the_migration_of_search_room_runs_there(other_server: tuple[str, str]) -> None:
    name, address = other_server
    pass_there([TESTS], address, EXTENDDB_INDEX_LAG if name == "extenddb" else "0")
