"""The benchmarks run, take any server in, and say plainly who is not there."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

ROOT = Path(__file__).parents[3]


def _bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    from bench.__main__ import main as bench

    with pytest.raises(SystemExit) as end:
        bench([*arguments])
    assert end.value.code == 2
    return capsys.readouterr().err


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.cases import wire

    return wire


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open(":memory:") as engine:
        yield engine


def test_a_case_gives_a_row_for_each_side() -> None:
    done = _bench("engine", "--quick", "--no-write")
    assert done.returncode == 0, done.stderr
    for operation in ("GetItem", "PutItem", "Query of 50", "transaction of 4"):
        for side in ("keyfold", "raw apsw"):
            assert f"| engine, {operation} | {side} |" in done.stdout


def test_a_case_that_cannot_run_here_is_a_row_that_says_why(tmp_path: Path) -> None:
    done = _bench("wire", "--quick", "--no-write", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    reason = "missing: wrk, which sends the load, is not installed: apt-get install -y wrk"
    assert f"| The wire server beside others | {reason} |" in done.stdout


def test_a_peer_that_is_not_installed_is_named_with_the_reason(
    wire: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with ExitStack() as stack:
        addresses, missing = wire.started(
            stack, {"dynalite": wire.peers.SERVERS["in memory"]["dynalite"]}
        )
    assert addresses == {}
    assert missing == ["dynalite: Node and npm are not installed"]


def test_an_unknown_case_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = refused(capsys, "engin", "--no-write")
    assert "no case engin; there are" in said
    assert "engine" in said


@pytest.mark.parametrize("wrong", ["localhost:8000", "other=https://x:1", "=http://x:1", "other="])
def test_a_server_is_given_by_name_and_address(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "wire", "--no-write", "--server", wrong)
    assert f"{wrong!r} is not like other=http://localhost:8000" in said


def test_a_running_server_takes_part_and_is_left_as_it_was(wire: Any, engine: Engine) -> None:
    addresses: dict[str, str] = {}
    with BackgroundServer(engine) as server:
        address = f"127.0.0.1:{server.port}"
        with ExitStack() as stack:
            assert wire.joined(stack, addresses, {"other": address}) == []
            assert addresses == {"other": address}
            counted = engine.call("Scan", {"TableName": "bench", "Select": "COUNT"})["Count"]
            assert counted == wire.ITEMS
        assert engine.call("ListTables", {})["TableNames"] == []


def test_a_table_that_is_not_ours_is_left_alone(wire: Any, engine: Engine) -> None:
    engine.call("CreateTable", wire.TABLE)
    addresses: dict[str, str] = {}
    with BackgroundServer(engine) as server, ExitStack() as stack:
        [reason] = wire.joined(stack, addresses, {"other": f"127.0.0.1:{server.port}"})
    assert addresses == {}
    assert reason == "other: Table already exists: bench"
    assert engine.call("ListTables", {})["TableNames"] == ["bench"]


def test_a_server_that_does_not_answer_is_missing(wire: Any) -> None:
    addresses: dict[str, str] = {}
    port = wire.peers.free_port()
    with ExitStack() as stack:
        [reason] = wire.joined(stack, addresses, {"other": f"127.0.0.1:{port}"})
    assert addresses == {}
    assert reason == f"other: http://127.0.0.1:{port}: Connection refused"
