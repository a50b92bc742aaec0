"""`make run` looks for its ports before it installs anything."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


@pytest.fixture
def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port: int = closed.getsockname()[1]
    return port


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["PORT", "DYNAMODB_PORT"])
def test_a_port_in_use_ends_it_before_it_installs(
    name: str, busy: int, free: int, tmp_path: Path
) -> None:
    chosen = {"PORT": free, "DYNAMODB_PORT": free, name: busy}
    ended = make("run", f"VENV={tmp_path}/venv", *(f"{one}={port}" for one, port in chosen.items()))
    assert ended.returncode
    assert f"Port {busy} is in use" in ended.stdout
    assert f"make run {name}=" in ended.stdout
    assert not (tmp_path / "venv").exists()


def test_free_ports_are_fine(free: int) -> None:
    assert make("ports", f"PORT={free}", f"DYNAMODB_PORT={free}").returncode == 0
