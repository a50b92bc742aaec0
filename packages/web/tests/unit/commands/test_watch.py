"""`keyfold check --watch` and `keyfold api --reload`: what is on disk is what runs."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from keyfold.cli._watch import stamps
from keyfold.errors import KeyfoldError
from keyfold.review.check.page import page
from keyfold_web.process import ApiOptions

SERVICE = """
from typing import ClassVar
from keyfold import AsyncDb, Design
from keyfold_web import Service, anyone, query

design = Design("words")
design.table("Words")


class Words(Service):
    '''Words.'''

    design: ClassVar[Design] = design

    @query("/word", allow=anyone)
    async def word(self) -> str:
        '''A word.'''
        return "first"
"""


CACHING = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An environment in which Python keeps compiled modules, as most do."""


@contextmanager
def running(
    folder: Path, *command: str, environment: Mapping[str, str] = os.environ
) -> Iterator[queue.Queue[str]]:
    """A command, and the lines that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "keyfold", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: queue.Queue[str] = queue.Queue()
    out = process.stdout
    assert out is not None

    def read() -> None:
        for line in out:
            lines.put(line)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield lines
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        reader.join()


def read_until(lines: queue.Queue[str], words: str) -> str:
    read = ""
    while words not in read:
        read += lines.get(timeout=60)
    return read


def test_a_design_is_checked_again_when_its_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "rooms.yaml"
    file.write_text(page("Q1").right)
    with running(tmp_path, "check", "rooms.yaml", "--watch") as lines:
        assert "nothing to report" in read_until(lines, "Watching")
        file.write_text(page("Q1").wrong)
        while "range-bleed" not in (said := read_until(lines, "Watching")):
            assert "rooms.yaml" in said
        file.write_text("design: [1")
        while "rooms.yaml:1:11" not in read_until(lines, "Watching"):
            pass
        file.write_text(page("Q1").right)
        # A save may be seen twice: when the file is emptied, and when it is filled.
        while "nothing to report" not in (said := read_until(lines, "Watching")):
            assert "rooms.yaml" in said


def test_only_files_of_the_project_are_watched(tmp_path: Path) -> None:
    for name in ("design.py", ".venv/a.py", "env/lib/b.py", "__pycache__/c.py", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    assert list(stamps(tmp_path)) == [str(tmp_path / "design.py")]


def test_a_service_starts_again_when_its_file_changes(tmp_path: Path) -> None:
    file, port = tmp_path / "words_service.py", free_port()
    file.write_text(SERVICE)
    options = ["--backend", ":memory:", "--development", "--port", str(port)]
    with running(tmp_path, "api", "words_service", "--reload", *options):
        url = f"http://127.0.0.1:{port}/words/word"
        assert answer(url, '"first"')
        file.write_text(SERVICE.replace('"first"', '"second"'))
        assert answer(url, '"second"')


def save(file: Path, text: str, *, after: int) -> None:
    """Save it so many nanoseconds after the beginning of a second."""
    file.write_text(text)
    second = 1_790_000_000_000_000_000
    os.utime(file, ns=(second, second + after))


def test_a_design_that_is_saved_twice_within_a_second_is_checked_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "twice.py"
    design = "from keyfold import Design\ndesign = Design('notes')\ndesign.table({!r})\n"
    save(file, design.format("Notes"), after=0)
    with running(tmp_path, "check", "twice:design", "--watch", environment=CACHING) as lines:
        assert "No es" not in read_until(lines, "Watching")
        save(file, design.format("No es"), after=500_000_000)
        while "No es" not in read_until(lines, "Watching"):
            pass


def test_a_service_that_is_saved_twice_within_a_second_runs_as_it_is(tmp_path: Path) -> None:
    file, port = tmp_path / "twice_service.py", free_port()
    save(file, SERVICE, after=0)
    options = ["--backend", ":memory:", "--development", "--port", str(port)]
    with running(tmp_path, "api", "twice_service", "--reload", *options, environment=CACHING):
        url = f"http://127.0.0.1:{port}/words/word"
        assert answer(url, '"first"')
        save(file, SERVICE.replace('"first"', '"other"'), after=500_000_000)
        assert answer(url, '"other"')


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(url: str, wanted: str) -> bool:
    """Whether an address comes to answer this."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if httpx.get(url).text == wanted:
                return True
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    return False


def test_reload_and_workers_do_not_go_together() -> None:
    options = ApiOptions(["x"], ":memory:", workers=2, reload=True, development_key="k")
    with pytest.raises(KeyfoldError, match="remove --workers"):
        options.check()
