"""`keyfold demo` as people start it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keyfold.cli import main
from keyfold.streams.event import event_schema
from keyfold_demo.systems import find_systems


@contextmanager
def demo(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A demo on free ports; gives the process and what it printed until it was ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyfold", "demo", "--port", "0", "--dynamodb-port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("Data:"):
                break
        yield process, lines
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def address(lines: list[str], label: str) -> str:
    (found,) = [line.split()[-1] for line in lines if line.strip().startswith(label)]
    return found


def start_page(lines: list[str]) -> str:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(address(lines, "Start page")) as answer:
        return str(answer.read(), "utf-8")


def stop(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read() if process.stdout else ""
    return process.wait(timeout=30), rest


@dataclass(frozen=True)
class Runs:
    """A first demo, stopped, and a second one on its data, running."""

    first: list[str]
    first_page: str
    stopped: tuple[int, str]
    second: list[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("demo")
    with demo(folder) as (process, first):
        page = start_page(first)
        stopped = stop(process)
    with demo(folder) as (process, second):
        yield Runs(first, page, stopped, second)


@pytest.fixture
def running(runs: Runs) -> list[str]:
    return runs.second


def test_the_start_page_and_the_endpoint_answer(running: list[str]) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    for label in ("Start page", "Services", "Events", "DynamoDB"):
        with browser.open(address(running, label)) as answer:
            assert answer.status == 200


def test_pages_answer_before_consumers_have_caught_up(runs: Runs) -> None:
    assert all(system.short_title in runs.first_page for system in find_systems())
    assert "Catching up" not in start_page(runs.second)


def test_events_are_taken_and_shown(running: list[str]) -> None:
    site = address(running, "Services").removesuffix("/services")
    request = urllib.request.Request(
        f"{site}/gg-core/users",
        b'{"nickname": "zoe", "fullName": "Zoe", "email": "zoe@example.com"}',
        {"authorization": "Bearer zoe", "content-type": "application/json"},
    )
    urllib.request.urlopen(request).close()
    found: list[dict[str, Any]] = []
    while not found:
        with urllib.request.urlopen(f"{address(running, 'Events')}.json?source=gg_core") as answer:
            events = json.load(answer)["events"]
        found = [one for one in events if one["payload"].get("nickname") == "zoe"]
    assert found[-1].keys() == event_schema()["properties"].keys()
    assert (found[-1]["source"], found[-1]["name"]) == ("gg_core", "UserCreated")


def test_every_address_in_the_table_answers(running: list[str]) -> None:
    for url in re.findall(r"http://\S+/(?:app/|docs|graphql)", "\n".join(running)):
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200, url


@pytest.mark.parametrize(("number", "tool"), [(0, "curl"), (1, "aws"), (2, sys.executable)])
def test_what_it_says_to_try_works_as_printed(running: list[str], number: int, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    command = running[running.index("Three things to try:") + 1 + number]
    assert tool in command
    answer = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
    assert "error" not in answer.stdout.lower()


def test_control_c_stops_it(runs: Runs) -> None:
    code, said = runs.stopped
    assert code == 0
    assert said == "Stopped.\n"


def test_only_the_first_run_fills_the_tables(runs: Runs) -> None:
    assert any(line.startswith("Filling") for line in runs.first)
    assert not any(line.startswith("Filling") for line in runs.second)


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        assert main(["demo", "--port", "0", "--dynamodb-port", "0", *arguments]) == 2
        message = capsys.readouterr().err
        assert len(message.splitlines()) == 1, message
        return message

    return run


@pytest.mark.parametrize("flag", ["--port", "--dynamodb-port"])
def test_a_port_in_use_is_one_line_that_names_the_flag(
    refused: Callable[..., str], flag: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        message = refused(flag, str(taken.getsockname()[1]))
    assert f"choose another: {flag} NUMBER" in message


def test_a_folder_that_cannot_be_written_is_one_line_that_says_what_to_do(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    message = refused("--data", "file/demo.db")
    assert "choose another place: keyfold demo --data FILE" in message


def test_a_damaged_data_file_is_one_line_that_says_what_to_do(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "demo.db").write_bytes(b"no database" * 1000)
    message = refused("--data", "demo.db")
    assert "move the file away" in message
