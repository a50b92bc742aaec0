"""After a storm of clients that hold what they can, a server has the memory of before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import trustme

from keyfold_engine.limits import MB

ROOT = Path(__file__).parents[2]
GOAL = 1.2
SETTLED_SECONDS = 20.0


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    import bench.peers
    import bench.storms

    return bench


def _settled(bench: Any, pid: int, most: float) -> int:
    """The memory of a process, as soon as it is no more than that, or in the end."""
    end = time.monotonic() + SETTLED_SECONDS
    while (found := bench.storms.resident(pid)) > most and time.monotonic() < end:
        time.sleep(0.2)
    return int(found)


def _storm(hold: Any, port: int) -> None:
    for connection in hold(port):
        connection.close()


@pytest.mark.parametrize("kind", ["unfinished bodies", "endless trailers", "slow readers"])
def test_memory_comes_back_after(bench: Any, kind: str) -> None:
    port = bench.peers.free_port()
    with bench.peers.server(bench.peers.keyfold(port), port) as pid:
        bench.storms.prepare(port, items=100)
        hold = bench.storms.HOLDS[kind]
        _storm(hold, port)
        before = _settled(bench, pid, 60 * MB)
        for _ in range(3):
            _storm(hold, port)
        assert _settled(bench, pid, GOAL * before) <= GOAL * before
        # And the first storm left little, too.
        assert before < 120 * MB


def test_memory_comes_back_after_handshakes_that_never_are(bench: Any, tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_pem.write_to_path(key)
    for part in issued.cert_chain_pems:
        part.write_to_path(certificate, append=True)
    port = bench.peers.free_port()
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with bench.peers.server(bench.peers.keyfold(port, ":memory:", *options), port) as pid:
        _storm(bench.storms.hold_handshakes, port)
        before = _settled(bench, pid, 60 * MB)
        for _ in range(2):
            held = bench.storms.hold_handshakes(port)
            assert bench.storms.handles(pid) < 200
            for connection in held:
                connection.close()
            assert bench.storms.handles(pid) < 200
        assert _settled(bench, pid, GOAL * before) <= GOAL * before
        assert bench.storms.handles(pid) < 200
