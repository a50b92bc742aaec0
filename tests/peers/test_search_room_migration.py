"""Search Room's migration on other people's servers: there and back.

dynalite has no transactions, and moto opens no stream again that was closed.
"""

from __future__ import annotations

import pytest
from tests.peers.conftest import ROOT, pass_there

TESTS = ROOT / "systems" / "tests" / "systems" / "search_room" / "test_adopted.py"


@pytest.mark.parametrize("other_server", ["dynoxide", "ministack"], indirect=True)
def test_the_migration_of_search_room_runs_there(other_server: tuple[str, str]) -> None:
    pass_there([TESTS], other_server[1])
