"""The tests of whole systems, as they are, on somebody else's server.

A few files of each by default; with KEYFOLD_FULL=1 (`make peers`) all of them, on three servers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.peers.conftest import (
    EXTENDDB_INDEX_LAG,
    ROOT,
    dynoxide,
    extenddb,
    ministack,
    pass_there,
)

FILES = {
    "inviter": ["test_document.py", "test_adopted.py", "test_service.py"],
    "search_room": ["test_document.py", "test_service.py"],
    "tamafriends": ["test_document.py", "test_adopted.py", "test_patterns.py", "test_counters.py"],
    "gg_core": ["test_document.py", "test_adopted.py", "test_feed.py"],
    "sellers": ["test_document.py", "test_operations.py"],
}
FULL = bool(os.environ.get("KEYFOLD_FULL"))


SERVERS = {"dynoxide": dynoxide, "extenddb": extenddb}


@pytest.fixture(
    scope="module", params=["dynoxide", "ministack", "extenddb"] if FULL else ["dynoxide"]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A server's name and address."""
    folder = tmp_path_factory.mktemp(request.param)
    start = (
        ministack(folder)
        if request.param == "ministack"
        else SERVERS[request.param](folder, request.getfixturevalue("node_modules"))
    )
    with start as url:
        yield request.param, url


@pytest.mark.parametrize("system", FILES)
def test_a_systems_own_tests_pass_there(system: str, server: tuple[str, str]) -> None:
    folder = ROOT / "systems" / "tests" / "systems" / system
    chosen = [folder] if FULL else [folder / one for one in FILES[system]]
    name, address = server
    pass_there(chosen, address, EXTENDDB_INDEX_LAG if name == "extenddb" else "0")
