"""Connections to services: half a request ends, and there are not more than so many."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from keyfold_web.connections import BoundedConnection


class Hasty(BoundedConnection):
    receive_seconds = 0.5
    unread_seconds = 0.5
    most = 5


async def _echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def _much(_: Request) -> Response:
    return Response(b"x" * 64_000_000)


@pytest.fixture
def port() -> Iterator[int]:
    app = Starlette(
        routes=[Route("/", _echo, methods=["GET", "POST"]), Route("/much", _much, methods=["GET"])]
    )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(app, http=Hasty, log_level="critical", timeout_graceful_shutdown=3)
        )
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
        yield int(listener.getsockname()[1])
        server.should_exit = True
        thread.join(10)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
    ],
)
def test_half_a_request_is_waited_for_and_then_closed(port: int, half: bytes) -> None:
    with connect(port) as connection:
        connection.sendall(half)
        assert read_all(connection).startswith(b"HTTP/1.1 408")


def test_whole_requests_are_answered_for_as_long_as_they_come(port: int) -> None:
    whole = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
    with connect(port) as connection:
        for _ in range(3):
            connection.sendall(whole)
            answer = b""
            while not answer.endswith(b"hi"):
                answer += connection.recv(1000)
            threading.Event().wait(0.3)


def test_one_connection_too_many_is_turned_away(port: int) -> None:
    held = [connect(port) for _ in range(5)]
    for connection in held:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
    with connect(port) as late:
        assert read_all(late).startswith(b"HTTP/1.1 503")
    for connection in held:
        connection.close()


def test_an_endless_head_is_refused(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100_000)
        assert read_all(connection).startswith(b"HTTP/1.1 431")


def test_an_answer_that_nobody_takes_is_given_up(port: int) -> None:
    held = [connect(port) for _ in range(5)]
    for connection in held:
        connection.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = b"HTTP/1.1 503"
    while answer == b"HTTP/1.1 503":
        with connect(port) as late:
            late.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = late.recv(12)
    assert answer == b"HTTP/1.1 200"
    for connection in held:
        connection.close()
