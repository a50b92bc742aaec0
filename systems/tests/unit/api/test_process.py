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

from keyfold.errors import KeyfoldError
from keyfold_web.process import ApiOptions, targets_without_consumer
from keyfold_web.target import load_service

SERVICE = '''
import asyncio
from typing import ClassVar

from keyfold.design import Entity, Key
from keyfold.runtime import AsyncDb, Design, Intent, put
from keyfold_web import Identity, Service, anyone, authenticated, mutation, query
from keyfold.streams import Delivery

design = Design("notes")
table = design.table("Notes", stream="NEW_AND_OLD_IMAGES")


class Note(Entity, table=table):
    user_id: str
    note_id: str
    text: str
    key = Key("USER#{user_id}", "NOTE#{note_id}")


class Echo(Entity, table=table):
    user_id: str
    note_id: str
    text: str
    key = Key("USER#{user_id}", "ECHO#{note_id}")


@design.on(Note, "insert", "modify")
def echo(old: Note | None, new: Note, delivery: Delivery) -> list[Intent]:
    return [put(Echo(user_id=new.user_id, note_id=new.note_id, text=new.text))]


class Notes(Service):
    """Notes."""

    design: ClassVar[Design] = design

    @mutation("/notes/{note_id}", allow=authenticated, method="PUT")
    async def write(self, note_id: str, text: str, caller: Identity) -> Note:
        """Write a note."""
        return await self.db.put(Note(user_id=caller.id, note_id=note_id, text=text))

    @query("/notes/{note_id}", allow=authenticated)
    async def read(self, note_id: str, caller: Identity) -> Note:
        """Read a note."""
        return await self.db.get(Note.key(user_id=caller.id, note_id=note_id))

    @query("/echoes/{note_id}", allow=authenticated)
    async def echo(self, note_id: str, caller: Identity) -> Echo:
        """What the consumer made of a note."""
        return await self.db.get(Echo.key(user_id=caller.id, note_id=note_id))

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


async def test_the_server_follows_the_streams_of_what_it_serves(
    served: tuple[subprocess.Popen[bytes], str],
) -> None:
    async with httpx.AsyncClient(base_url=served[1]) as client:
        token = (await client.post("/sign-in", json={"user": "mia"})).json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        await client.put("/notes/notes/n1", json={"text": "hello"})
        deadline = time.monotonic() + 20
        while (answer := await client.get("/notes/echoes/n1")).status_code == 404:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    assert answer.json()["text"] == "hello"


@pytest.mark.parametrize(
    ("backend", "consume", "left"),
    [
        ("data.db", None, False),
        ("data.db", False, True),
        ("http://localhost:8000", None, True),
        ("http://localhost:8000", True, False),
    ],
)
def test_streams_that_nothing_here_follows_are_named(
    backend: str, consume: bool | None, left: bool
) -> None:
    target = "keyfold_systems.inviter.service"
    options = ApiOptions([target], backend, development_key="k", consume=consume)
    assert targets_without_consumer(options) == ([target] if left else [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ApiOptions(["keyfold_systems.inviter.service"], "data.db"), "--issuer"),
        (ApiOptions(["x"], "data.db", host="0.0.0.0", development_key="k"), "127.0.0.1"),
        (ApiOptions(["x"], ":memory:", workers=2, development_key="k"), "--backend"),
        (ApiOptions(["x"], "data.db", port=99999, development_key="k"), "Invalid port 99999"),
        (
            ApiOptions(["x"], "data.db", workers=0, development_key="k"),
            "--workers must be at least 1, not 0",
        ),
        (
            ApiOptions(["x"], "data.db", rate=-1, development_key="k"),
            "--rate must be at least 0",
        ),
        (
            ApiOptions(["x"], "data.db", rate=1, burst=0, development_key="k"),
            "--burst must be at least 1",
        ),
        (ApiOptions(["x"], "data.db", burst=5, development_key="k"), "--burst needs --rate"),
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


def test_callers_have_a_rate_unless_it_is_taken_away() -> None:
    assert ApiOptions(["x"], "data.db", issuer="i", audience="a").allowed_rate == 20
    assert ApiOptions(["x"], "data.db", issuer="i", audience="a", rate=0).allowed_rate == 0
    assert ApiOptions(["x"], "data.db", development_key="k").allowed_rate == 0


def test_a_target_is_a_module_or_a_class_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes_target.py").write_text(SERVICE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert load_service("notes_target") is load_service("notes_target:Notes")


def test_workers_end_when_their_supervisor_is_killed(
    served: tuple[subprocess.Popen[bytes], str],
) -> None:
    process, url = served
    process.kill()
    process.wait()
    for _ in range(300):
        try:
            httpx.get(f"{url}/ready")
        except httpx.ConnectError:
            return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("a worker still answers")
