"""`keyfold api`: real processes, real HTTP."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from keyfold.api.process import ApiOptions
from keyfold.api.target import load_service
from keyfold.errors import KeyfoldError

SERVICE = '''
import asyncio
from typing import ClassVar

from keyfold.design import Entity, Key
from keyfold.runtime import AsyncDb, Design
from keyfold.api import Identity, Service, anyone, authenticated, mutation, query

design = Design("notes")
table = design.table("Notes")


class Note(Entity, table=table):
    user_id: str
    note_id: str
    text: str
    key = Key("USER#{user_id}", "NOTE#{note_id}")


class Notes(Service):
    """Notes."""

    design: ClassVar[Design] = design

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    @mutation("/notes/{note_id}", allow=authenticated, method="PUT")
    async def write(self, note_id: str, text: str, caller: Identity) -> Note:
        """Write a note."""
        return await self.db.put(Note(user_id=caller.id, note_id=note_id, text=text))

    @query("/notes/{note_id}", allow=authenticated)
    async def read(self, note_id: str, caller: Identity) -> Note:
        """Read a note."""
        return await self.db.get(Note.key(user_id=caller.id, note_id=note_id))

    @query("/slow", allow=anyone)
    async def slow(self) -> str:
        """Take a second."""
        await asyncio.sleep(1)
        return "done"
'''


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    (tmp_path / "notes_service.py").write_text(SERVICE)
    port = free_port()
    command = [sys.executable, "-m", "keyfold", "api", "notes_service"]
    options = ["--backend", "notes.db", "--development", "--port", str(port), "--workers", "2"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*command, *options], cwd=tmp_path, stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        wait_for(url, process, tmp_path / "log")
        yield process, url
        process.kill()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/ready").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())


async def test_workers_share_data_keys_and_metrics_and_stop_when_requests_are_done(
    served: tuple[subprocess.Popen[bytes], str],
) -> None:
    process, url = served
    async with httpx.AsyncClient(base_url=url) as client:
        token = (await client.post("/sign-in", json={"user": "mia"})).json()["token"]

    async def one(number: int) -> int:
        # A connection each, so that both workers get some.
        headers = {"authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=f"{url}/notes", headers=headers) as mine:
            await mine.put(f"/notes/n{number}", json={"text": "x"})
            return (await mine.get(f"/notes/n{number}")).status_code

    assert await asyncio.gather(*map(one, range(20))) == [200] * 20
    async with httpx.AsyncClient(base_url=url) as client:
        metrics = (await client.get("/metrics")).text
        assert 'operation="write",surface="rest",code="OK"} 20\n' in metrics
        units = 'keyfold_operation_consumed_units_total{service="notes",operation="write"'
        assert f'{units},kind="write"}} 20\n' in metrics
        slow = asyncio.create_task(client.get("/notes/slow"))
        await asyncio.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert (await slow).json() == "done"
    await asyncio.to_thread(process.wait, 15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ApiOptions(["x"], "data.db"), "--issuer"),
        (ApiOptions(["x"], "data.db", host="0.0.0.0", development_key="k"), "127.0.0.1"),
        (ApiOptions(["x"], ":memory:", workers=2, development_key="k"), "--backend"),
        (ApiOptions(["x"], "data.db", port=99999, development_key="k"), "Invalid port 99999"),
        (
            ApiOptions(["x"], "data.db", workers=0, development_key="k"),
            "--workers must be at least 1, not 0",
        ),
        (
            ApiOptions(["x"], "data.db", rate=0, development_key="k"),
            "--rate must be greater than 0",
        ),
        (
            ApiOptions(["x"], "data.db", rate=1, burst=0, development_key="k"),
            "--burst must be at least 1",
        ),
        (ApiOptions(["x"], "data.db", burst=5, development_key="k"), "goes with --rate"),
        (ApiOptions(["x"], "data.db", origins=["app"], development_key="k"), "Invalid origin"),
        (
            ApiOptions(["keyfold_systems.inviter.service"] * 2, "data.db", development_key="k"),
            "named twice",
        ),
        (ApiOptions(["no_such_module"], "data.db", development_key="k"), "no_such_module"),
        (ApiOptions(["json"], "data.db", development_key="k"), "must name one service"),
        (ApiOptions(["json:Encoder"], "data.db", development_key="k"), "no service 'Encoder'"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    options: ApiOptions, message: str
) -> None:
    with pytest.raises(KeyfoldError, match=message):
        options.check()


def test_a_target_is_a_module_or_a_class_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes_target.py").write_text(SERVICE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert load_service("notes_target") is load_service("notes_target:Notes")
