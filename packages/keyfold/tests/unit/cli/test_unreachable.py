"""Commands on a backend that is not there: they ask once and say so, since a person waits."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyfold.cli import main

_asked: list[object] = []
_listening = [False]


def _notice(event: str, details: tuple[object, ...]) -> None:
    if event == "socket.connect" and _listening[0]:
        _asked.append(details[1])


sys.addaudithook(_notice)

DESIGN = """
from keyfold import Design, Entity, Key

design = Design("shop")


class Order(Entity, table=design.table("Orders")):
    order_id: str
    key = Key("ORDER#{order_id}", "ORDER")
"""
PLAN = "steps: []\n"
COMMANDS = [
    "migrations status",
    "migrations status 0001_nothing",
    "migrations apply",
    "migrations apply 0001_nothing --dry-run",
    "migrations rollback 0001_nothing",
    "migrations check --design far_shop:design",
    "migrations diff --design far_shop:design",
    "inspect Orders",
    "check far_shop:design --live",
    "verify far_shop:design",
    "rebuild far_shop:design",
    "repair far_shop:design",
    "streams status far_shop:design",
    "streams run far_shop:design",
    "streams letters far_shop:design",
    "sample far_shop:design",
    "studio far_shop:design",
]


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a port where nobody listens."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("far_shop.py").write_text(DESIGN)
    Path("migrations").mkdir()
    Path("migrations/0001_nothing.yaml").write_text(PLAN)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        _asked.clear()
        _listening[0] = True
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        _listening[0] = False


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_asks_a_dead_backend_once_and_says_so(
    command: str, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--backend", dead]) == 2
    said = capsys.readouterr().err
    assert f"the backend {dead} cannot be reached" in said
    assert "Is it running?" in said
    assert len(_asked) == 1


@pytest.mark.parametrize("command", ["dump {} Orders out", "load {} Orders migrations"])
def test_a_command_whose_database_is_an_argument_does_too(
    command: str, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.format(dead).split()) == 2
    assert f"the backend {dead} cannot be reached" in capsys.readouterr().err
    assert len(_asked) == 1
