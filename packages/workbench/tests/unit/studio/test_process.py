"""`keyfold studio` as a command: what it opens, and what it refuses."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from keyfold.cli import main

from .conftest import design


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    with design.open("clubs.db"):
        pass
    return "clubs.db"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--port", "70000"], "choose 0 to 65535"),
        (["--host", "0.0.0.0"], "set --password-file FILE"),
        (["--host", "::"], "set --password-file FILE"),
        (["--host", ""], "set --password-file FILE"),
        (["--password-file", "nothing"], "No such file"),
        (["--table", "Nothing"], "Nothing not found"),
        (["nothing.design:design"], "unknown module 'nothing'"),
        (["nothing.yaml"], "nothing.yaml"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    data: str, given: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", "--backend", data, *given]) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert "Studio:" not in printed.out


def test_a_port_in_use_is_named_before_an_address_is_printed(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["studio", "--backend", data, "--port", port]) == 2
    printed = capsys.readouterr()
    assert f"cannot listen on 127.0.0.1 port {port}" in printed.err
    assert printed.out == ""


def test_a_backend_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["studio", "--backend", "missing.db", "--port", "0"]) == 2
    assert "the data file missing.db does not exist" in capsys.readouterr().err
