"""Search Room's three migrations on other people's servers: killed, beside traffic, and back.

dynalite has no transactions, and moto opens no stream again that was closed.
"""

from __future__ import annotations

import pytest

from tests.peers.conftest import ROOT, pass_there

TESTS = ROOT / "systems" / "tests" / "systems" / "search_room" / "test_migration.py"


@pytest.mark.parametrize("other_server", ["dynoxide", "ministack"], indirect=True)
def test_the_migrations_of_search_room_run_there(other_server: tuple[str, str]) -> None:
    pass_there([TESTS], other_server[1])
