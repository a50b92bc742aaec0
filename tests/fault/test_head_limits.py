"""Heads and trailers without end: one test for every server that keyfold starts."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from keyfold_engine.limits import KB

SERVICE = '''
from typing import ClassVar

from keyfold import Design
from keyfold_web import Identity, Service, authenticated, query

design = Design("heads")
table = design.table("Heads")


class Heads(Service):
    """Heads."""

    design: ClassVar[Design] = design

    @query("/me", allow=authenticated)
    async def me(self, caller: Identity) -> str:
        """Who calls."""
        return "signed in"
'''
COMMANDS = {
    "serve": ["serve", "--port", "{port}"],
    "api": ["api", "heads", "--backend", "heads.db", "--development", "--port", "{port}"],
    "studio": ["studio", "heads:design", "--backend", "heads.db", "--port", "{port}"],
    "demo": ["demo", "--port", "{port}", "--dynamodb-port", "{other}"],
    "mcp": ["mcp", "heads:design", "--backend", "heads.db", "--port", "{port}"],
}
MUCH = 8 * 1024 * KB


class Running(NamedTuple):
    process: subprocess.Popen[bytes]
    port: int

    def memory(self) -> int:
        """The resident bytes of the server."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) * KB

    def exchange(self, *parts: bytes) -> bytes:
        """What comes back; a server may close while the client still sends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except (ConnectionResetError, BrokenPipeError):
                pass
            answer = b""
            try:
                while data := connection.recv(64 * KB):
                    answer += data
            except ConnectionResetError:
                pass
            return answer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.fixture(params=COMMANDS, scope="module")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    tmp_path = tmp_path_factory.mktemp(request.param)
    (tmp_path / "heads.py").write_text(SERVICE)
    script = "import heads; heads.design.open('heads.db').close()"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    port = free_port()
    command = [part.format(port=port, other=free_port()) for part in COMMANDS[request.param]]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "keyfold", *command], cwd=tmp_path, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 120
            while True:
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield Running(process, port)
        finally:
            process.terminate()
            process.wait(20)


HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    assert found is not None, answer[:200]
    return int(found[1])


@pytest.mark.parametrize("name", [b"X-%d", b"X"], ids=["different", "repeated"])
def test_more_than_a_hundred_headers_are_refused(server: Running, name: bytes) -> None:
    lines = b"".join((name % n if b"%" in name else name) + b": 1\r\n" for n in range(150))
    assert status(server.exchange(HEAD + lines + b"\r\n")) == 431


def test_a_hundred_headers_are_not_too_many(server: Running) -> None:
    lines = b"".join(b"X-%d: 1\r\n" % n for n in range(90))
    closing = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
    assert status(server.exchange(HEAD + lines + closing)) != 431


def test_a_head_that_comes_at_once_has_an_end(server: Running) -> None:
    lines = b"".join(b"X-%d: %b\r\n" % (n, b"v" * 2 * KB) for n in range(60))
    assert status(server.exchange(HEAD + lines + b"Content-Length: 0\r\n\r\n")) == 431


def test_a_head_has_an_end(server: Running) -> None:
    before = server.memory()
    lines = (b"X-%d: %b\r\n" % (n, b"v" * KB) for n in range(MUCH // KB))
    assert status(server.exchange(HEAD, *lines)) == 431
    assert server.memory() - before < MUCH


@pytest.mark.parametrize("line", [b"X-%d: 1\r\n", b"X: 1\r\n"], ids=["different", "repeated"])
def test_trailers_have_an_end(server: Running, line: bytes) -> None:
    before = server.memory()
    part = b"".join((line % n if b"%" in line else line) for n in range(8000))
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    answer = server.exchange(chunked, *[part] * (MUCH // len(part)))
    # Some answer before they have the body, and all close the connection.
    assert answer == b"" or b"HTTP/1.1 431" in answer or status(answer) >= 400
    assert server.memory() - before < MUCH


@pytest.mark.parametrize("server", ["api"], indirect=True)
def test_nobody_signs_in_by_a_trailer(server: Running) -> None:
    user = b'{"user":"mia"}'
    asked = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(user)
    found = re.search(rb'"token":\s*"([^"]+)"', server.exchange(asked + length + user))
    assert found is not None
    signed = b"Authorization: Bearer %b\r\n" % found[1]
    head = b"GET /heads/me HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    assert status(server.exchange(head + signed + chunked + b"\r\n")) == 200
    assert status(server.exchange(head + chunked + signed + b"\r\n")) == 401
