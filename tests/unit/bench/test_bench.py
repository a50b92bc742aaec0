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

from bench.cases.growth import verdict
from bench.harness import Outcome, Row
from bench.report import goals
from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

ROOT = Path(__file__).parents[3]
ITEMS = 100


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
    for operation in ("GetItem", "PutItem", "UpdateItem", "Query of 50", "transaction of 4"):
        for keys in ("", ", repeated keys"):
            for side in ("keyfold", "raw apsw"):
                assert f"| in process, {operation}{keys} | {side} |" in done.stdout


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
        dynalite = {"dynalite": wire.peers.SERVERS["in memory"]["dynalite"]}
        running, missing = wire.started(stack, dynalite, ITEMS)
    assert running == {}
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
    running: dict[str, Any] = {}
    with BackgroundServer(engine) as server:
        address = f"127.0.0.1:{server.port}"
        with ExitStack() as stack:
            assert wire.joined(stack, running, {"other": address}, ITEMS) == []
            assert running == {"other": wire.Running(address)}
            counted = engine.call("Scan", {"TableName": "bench", "Select": "COUNT"})["Count"]
            assert counted == ITEMS
        assert engine.call("ListTables", {})["TableNames"] == []


def test_a_table_that_is_not_ours_is_left_alone(wire: Any, engine: Engine) -> None:
    engine.call("CreateTable", wire.TABLE)
    running: dict[str, Any] = {}
    with BackgroundServer(engine) as server, ExitStack() as stack:
        url = f"127.0.0.1:{server.port}"
        [reason] = wire.joined(stack, running, {"other": url}, ITEMS)
    assert running == {}
    assert reason == "other: Table already exists: bench"
    assert engine.call("ListTables", {})["TableNames"] == ["bench"]


def test_a_server_that_does_not_answer_is_missing(wire: Any) -> None:
    running: dict[str, Any] = {}
    port = wire.peers.free_port()
    with ExitStack() as stack:
        [reason] = wire.joined(stack, running, {"other": f"127.0.0.1:{port}"}, ITEMS)
    assert running == {}
    assert reason == f"other: http://127.0.0.1:{port}: Connection refused"


def _outcome(met: bool | None, *, in_readme: bool = False) -> Outcome:
    rows = [Row("keyfold", 20.0, 0.1), Row("slow", 90.0, 0.1), Row("fast", 30.0, 0.1)]
    return Outcome(
        "wire", "GetItem", "keyfold", rows, goal="at least 2x", met=met, in_readme=in_readme
    )


def test_a_goal_that_is_missed_is_printed_as_missed_beside_the_best_other() -> None:
    [line] = goals([_outcome(met=False)]).splitlines()[2:]
    assert line == (
        "| GetItem | 20.0 µs ±5% | fast 30.0 µs ±5% | 1.50x | at least 2x: **missed** |"
    )


def test_a_goal_is_asked_of_the_best_other() -> None:
    outcome = _outcome(met=None)
    outcome.take_goal(2)
    assert outcome.met is False
    outcome.take_goal(1 / 1.5)
    assert (outcome.goal, outcome.met) == ("at most 1.5x the best other", True)


@pytest.mark.parametrize(
    ("largest", "growth"),
    [(1.4, "constant"), (2.5, "logarithmic"), (900.0, "linear"), (90_000.0, "worse")],
)
def test_growth_has_a_verdict(largest: float, growth: str) -> None:
    assert verdict([1_000, 100_000, 1_000_000], [1.0, 1.0, largest]) == growth


def test_fresh_keys_are_asked_for_once(wire: Any) -> None:
    get = wire.OPERATIONS[0]
    asked = [str(request["Key"]) for request in wire.fresh_requests(get, 1_000, 0)]
    assert len(asked) == len(set(asked)) == 1_000
