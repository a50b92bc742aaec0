"""Answers on a kept connection are sent at once, whoever made the listening socket."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from starlette.applications import Starlette

from keyfold_web.connections import BoundedConnection


async def test_small_answers_do_not_wait_for_more_to_send() -> None:
    delayed: list[int] = []

    class Watched(BoundedConnection):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            accepted = transport.get_extra_info("socket")
            delayed.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(Starlette(), http=Watched, log_level="critical"))
        serving = asyncio.create_task(server.serve([listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 404")
        writer.close()
        server.should_exit = True
        await serving
    assert delayed == [1]
