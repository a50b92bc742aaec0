"""Connections: pipelining, limits, slow and idle clients, draining."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer, ClientLimits, ServerSettings
from keyfold_engine.wire.front import FrontDoor


def request(operation: str, body: dict[str, Any]) -> bytes:
    content = orjson.dumps(body)
    return (
        f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=f\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    ).encode() + content


def put(number: int) -> bytes:
    return request("PutItem", {"TableName": "Things", "Item": {"pk": {"S": str(number)}}})


def get(number: int) -> bytes:
    return request("GetItem", {"TableName": "Things", "Key": {"pk": {"S": str(number)}}})


def read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def read_all_until_reset(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while received := connection.recv(65536):
            data += received
    return data


def test_a_failure_of_the_server_itself_is_answered_and_the_connection_goes_on(
    asker: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_given: object) -> None:
        raise ImportError("half a module")

    with asker.connect() as connection:
        with monkeypatch.context() as broken:
            broken.setattr(FrontDoor, "_check_signature", fail)
            connection.sendall(get(1))
            told = asker.read(connection)
        connection.sendall(get(1))
        assert asker.read(connection).status == 200
    assert told.status == 500
    assert "half a module" in caplog.text


def test_pipelined_requests_are_answered_in_their_order(asker: Any) -> None:
    data = b"".join(put(number) + get(number) for number in range(40))
    last = request("ListTables", {}).replace(b"Host: x", b"Host: x\r\nConnection: close")
    with asker.connect() as connection:
        connection.sendall(data + last)
        answers = read_all(connection).split(b"HTTP/1.1 200 OK")[1:]
    found = [orjson.loads(answer.partition(b"\r\n\r\n")[2]) for answer in answers]
    expected = [
        answer for number in range(40) for answer in ({}, {"Item": {"pk": {"S": str(number)}}})
    ]
    assert found == [*expected, {"TableNames": ["Things"]}]


def test_a_request_may_come_in_any_pieces(asker: Any) -> None:
    data = put(1)
    with asker.connect() as connection:
        for at in range(0, len(data), 7):
            connection.sendall(data[at : at + 7])
        assert asker.read(connection).status == 200


def test_a_client_that_sends_a_byte_a_second_holds_up_nobody_and_is_cut_off(serve: Any) -> None:
    asker = serve(ServerSettings(clients=ClientLimits(receive_seconds=0.5)))
    with asker.connect() as slow:
        slow.sendall(put(1)[:20])
        for number in range(50):
            assert asker.raw(get(number)).status == 200
        assert asker.read(slow).status == 408
        assert slow.recv(100) == b""
    text = asker.raw(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body
    assert b"keyfold_slow_clients_total 1\n" in text


def test_an_idle_connection_is_closed(serve: Any) -> None:
    asker = serve(ServerSettings(clients=ClientLimits(idle_seconds=0.2)))
    with asker.connect() as idle:
        idle.sendall(get(1))
        assert asker.read(idle).status == 200
        assert idle.recv(100) == b""


def test_a_body_beyond_the_limit_is_refused_before_it_comes(asker: Any) -> None:
    reply = asker.raw(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
    assert (reply.status, reply.headers["connection"]) == (413, "close")


def test_a_chunked_body_beyond_the_limit_is_refused(serve: Any) -> None:
    asker = serve(ServerSettings(clients=ClientLimits(body_bytes=1000)))
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert asker.raw(head + b"400\r\n" + b"x" * 1024).status == 413


def test_endless_headers_are_refused(asker: Any) -> None:
    head = b"POST / HTTP/1.1\r\n" + b"X-Padding: " + b"x" * 400_000
    assert asker.raw(head + b"\r\n\r\n").status == 431


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\x01\x00", b"HELLO\r\n\r\n", b"\r\n\r\nx y"]
)
def test_what_is_not_http_is_refused(asker: Any, data: bytes) -> None:
    assert asker.raw(data + b"\r\n\r\n").status == 400


def test_no_bytes_disturb_the_server(asker: Any) -> None:
    good = put(1)

    @settings(max_examples=80)
    @given(
        st.binary(max_size=200)
        | st.tuples(st.integers(0, len(good) - 1), st.binary(min_size=1, max_size=3)).map(
            lambda change: good[: change[0]] + change[1] + good[change[0] + len(change[1]) :]
        )
        | st.integers(0, len(good)).map(lambda end: good[:end])
    )
    def send_anything(data: bytes) -> None:
        with asker.connect() as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = read_all_until_reset(connection)
            assert not answer or answer.startswith(b"HTTP/1.1 ")
            assert b" 500 " not in answer.partition(b"\r\n")[0]

    send_anything()
    assert asker.raw(get(2)).status == 200


def test_more_connections_than_allowed_are_turned_away(serve: Any) -> None:
    asker = serve(ServerSettings(clients=ClientLimits(connections=2)))
    with asker.connect() as first, asker.connect() as second:
        for connection in (first, second):
            connection.sendall(get(1))
            assert asker.read(connection).status == 200
        with asker.connect() as third:
            assert asker.read(third).status == 503
    deadline = time.monotonic() + 5
    while True:
        try:
            assert asker.raw(get(1)).status == 200
            break
        except AssertionError:
            assert time.monotonic() < deadline


def test_a_client_that_asks_before_sending_its_body_is_told_to_go_on(asker: Any) -> None:
    data = put(1).replace(b"Host: x", b"Host: x\r\nExpect: 100-continue")
    head, _, body = data.partition(b"\r\n\r\n")
    with asker.connect() as connection:
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert asker.read(connection).status == 200


def test_a_client_that_does_not_take_its_answers_is_cut_off(serve: Any, engine: Engine) -> None:
    engine.call(
        "PutItem", {"TableName": "Things", "Item": {"pk": {"S": "1"}, "x": {"S": "x" * 390_000}}}
    )
    asker = serve(ServerSettings(clients=ClientLimits(send_seconds=0.3)))
    metrics = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    with asker.connect() as greedy:
        greedy.sendall(get(1) * 30)
        while b"keyfold_slow_clients_total 1\n" not in asker.raw(metrics).body:
            assert asker.raw(get(2)).status == 200
        assert len(read_all_until_reset(greedy)) < 30 * 390_000


def test_draining_answers_what_is_under_way_and_refuses_the_rest(engine: Engine) -> None:
    acknowledged: list[int] = []
    with BackgroundServer(engine, ServerSettings(port=0)) as server:

        def write(first: int) -> None:
            number = first
            try:
                with socket.create_connection(("127.0.0.1", server.port), timeout=10) as own:
                    while True:
                        own.sendall(put(number))
                        if not own.recv(4096).startswith(b"HTTP/1.1 200"):
                            return
                        acknowledged.append(number)
                        number += 1
            except OSError:
                return

        writers = [
            threading.Thread(target=write, args=(n * 1_000_000,), daemon=True) for n in range(4)
        ]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 50:
            time.sleep(0.01)
    for writer in writers:
        writer.join(10)
        assert not writer.is_alive()
    for number in acknowledged:
        key = {"pk": {"S": str(number)}}
        assert engine.call("GetItem", {"TableName": "Things", "Key": key}) == {"Item": key}
