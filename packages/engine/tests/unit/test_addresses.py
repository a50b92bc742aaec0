"""Listening sockets: where they are, and that small answers are sent at once."""

from __future__ import annotations

import asyncio
import socket

import pytest

from keyfold_engine.addresses import is_loopback, listening_socket, open_port
from keyfold_engine.errors import KeyfoldError


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_loopback_is_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.test", ""])
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def delays(connected: socket.socket) -> bool:
    return connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0


def test_accepted_connections_do_not_delay_small_answers() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            with accepted:
                assert not delays(accepted)


async def test_nor_do_those_that_asyncio_accepts() -> None:
    found: list[bool] = []

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.append(delays(writer.get_extra_info("socket")))
        writer.close()

    with listening_socket("127.0.0.1", 0) as listener:
        server = await asyncio.start_server(answer, sock=listener)
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        await reader.read()
        writer.close()
        server.close()
    assert found == [False]


def test_a_taken_port_is_an_os_error() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        listener.listen()
        with pytest.raises(OSError, match="in use"):
            listening_socket("127.0.0.1", listener.getsockname()[1])


def test_a_command_says_which_option_chooses_another_port() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(KeyfoldError, match=f"cannot listen on 127.0.0.1 port {port} .* --here"):
            open_port("127.0.0.1", port, option="--here")
    with pytest.raises(KeyfoldError, match=r"port 70000 .choose 0 to 65535.; .* --port"):
        open_port("127.0.0.1", 70000)


def test_a_shared_port_takes_several_listeners() -> None:
    with listening_socket("127.0.0.1", 0, shared=True) as first:
        port = first.getsockname()[1]
        with listening_socket("127.0.0.1", port, shared=True) as second:
            assert second.getsockname()[1] == port


@pytest.mark.parametrize("port", [-1, 65536, 70000])
def test_an_impossible_port_is_not_cut_to_a_possible_one(port: int) -> None:
    with pytest.raises(OverflowError, match=f"Invalid port {port}"):
        listening_socket("127.0.0.1", port)
