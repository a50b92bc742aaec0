"""The tests of whole systems, as they are, on somebody else's server.

A few files of each by default; with KEYFOLD_FULL=1 (`make peers`) all of them, on two servers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.peers.conftest import ROOT, dynoxide, ministack, pass_there

FILES = {
    "inviter": ["test_document.py", "test_adopted.py", "test_service.py"],
    "search_room": ["test_document.py", "test_service.py"],
    "tamafriends": ["test_document.py", "test_adopted.py", "test_patterns.py", "test_counters.py"],
    "gg_core": ["test_document.py", "test_adopted.py", "test_feed.py"],
    "sellers": ["test_document.py", "test_operations.py"],
}
FULL = bool(os.environ.get("KEYFOLD_FULL"))


@pytest.fixture(scope="module", params=["dynoxide", "ministack"] if FULL else ["dynoxide"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp(request.param)
    start = (
        ministack(folder)
        if request.param == "ministack"
        else dynoxide(folder, request.getfixturevalue("node_modules"))
    )
    with start as url:
        yield url


@pytest.mark.parametrize("system", FILES)
def test_a_systems_own_tests_pass_there(system: str, address: str) -> None:
    folder = ROOT / "systems" / "tests" / "systems" / system
    chosen = [folder] if FULL else [folder / one for one in FILES[system]]
    pass_there(chosen, address)
