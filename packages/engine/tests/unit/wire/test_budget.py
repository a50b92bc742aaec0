"""What clients may hold: counted before anybody has signed, refused with 503, given back."""

from __future__ import annotations

import gc
import re
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
import trustme

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.engine import Engine
from keyfold_engine.limits import KB, MB
from keyfold_engine.wire import ClientLimits, ServerSettings
from keyfold_engine.wire.connection_limits import ConnectionRegistry
from keyfold_engine.wire.metrics import Metrics
from keyfold_engine.wire.protocol import Connection
from keyfold_engine.wire.request import WireRequest

HEAD = (
    b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.%b\r\n"
    b"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    b"Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=f\r\n"
)
METRICS = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


def post(operation: bytes, content: bytes) -> bytes:
    return HEAD % operation + b"Content-Length: %d\r\n\r\n" % len(content) + content


def get(key: str) -> bytes:
    return post(b"GetItem", orjson.dumps({"TableName": "Things", "Key": {"pk": {"S": key}}}))


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def beginning(connection: socket.socket) -> bytes:
    """What a client sees first; nothing, if it was closed before."""
    try:
        return connection.recv(12)
    except ConnectionResetError:
        return b""


def alive(kind: type) -> list[Any]:
    return [each for each in gc.get_objects() if type(each) is kind]


Made = Callable[[type], list[Any]]


@pytest.fixture
def made() -> Iterator[Made]:
    """What was made since and is there still; it is freed but by the last reference to it."""
    gc.collect()
    # Other tests of this process have connections of their own; kept, so that no id comes again.
    before = [*alive(Connection), *alive(WireRequest)]
    known = set(map(id, before))
    gc.disable()
    yield lambda kind: [each for each in alive(kind) if id(each) not in known]
    gc.enable()


def test_a_closed_connection_leaves_nothing_behind(asker: Any, made: Made) -> None:
    large = post(b"PutItem", b'{"x":"' + b"x" * MB + b'"}')
    for _ in range(20):
        with asker.connect() as connection:
            connection.sendall(large)
            assert asker.read(connection).status == 400
            connection.sendall(large[: MB // 2])
    until(lambda: made(Connection) == [])
    assert made(WireRequest) == []


def test_an_idle_connection_does_not_keep_its_last_body(asker: Any, made: Made) -> None:
    with asker.connect() as connection:
        connection.sendall(post(b"PutItem", b'{"x":"' + b"x" * MB + b'"}'))
        assert asker.read(connection).status == 400
        (idle,) = made(Connection)
        members = [getattr(idle, name) for name in Connection.__slots__]
        held = [each for each in members if isinstance(each, (bytes, bytearray))]
        assert sum(map(len, held)) < KB


@pytest.mark.parametrize("credentials", [(), (Credentials("a", "b"),)], ids=["open", "guarded"])
def test_unfinished_bodies_have_one_total(serve: Any, credentials: Any) -> None:
    limits = ClientLimits(held_bytes=4 * MB)
    asker = serve(ServerSettings(clients=limits, credentials=credentials))
    half = HEAD % b"PutItem" + b"Content-Length: 2000000\r\n\r\n" + b"x" * MB
    waiting = [asker.connect() for _ in range(20)]
    for connection in waiting:
        connection.sendall(half)
    # On a slow machine some may have been closed as the slowest, to make room for others.
    refused, _, _ = select.select(waiting, [], [], 20)
    assert {connection.recv(12) for connection in refused} <= {b"HTTP/1.1 503", b""}
    assert refused
    # What is small is answered all the while.
    assert asker.raw(get("1")).status in (200, 400)
    for connection in waiting:
        connection.close()
    until(lambda: b"keyfold_connections 1\n" in asker.raw(METRICS).body)
    assert asker.raw(post(b"PutItem", b'{"x":"' + b"x" * 3 * MB + b'"}')).status == 400


def test_the_slowest_sender_goes_when_there_is_no_room(serve: Any) -> None:
    asker = serve(ServerSettings(clients=ClientLimits(held_bytes=2 * MB)))
    with asker.connect() as slow:
        slow.sendall(HEAD % b"PutItem" + b"Content-Length: 2000000\r\n\r\n" + b"x" * 1_900_000)
        for _ in range(30):
            # The server reads some of it with each answer, and holds it before others come.
            asker.raw(get("1"))
        large = post(b"PutItem", b'{"x":"' + b"x" * MB + b'"}')

        def is_taken() -> bool:
            # On a busy machine it may itself be the slowest for a moment.
            with suppress(ConnectionResetError):
                return bool(asker.raw(large).status == 400)
            return False

        until(is_taken)
        with suppress(ConnectionResetError):
            assert slow.recv(1) == b""
    assert b"keyfold_slow_clients_total 0\n" not in asker.raw(METRICS).body


def test_answers_that_nobody_takes_have_one_total(serve: Any, engine: Engine) -> None:
    for number in range(16):
        item = {"pk": {"S": str(number)}, "x": {"S": "x" * 390_000}}
        engine.call("PutItem", {"TableName": "Things", "Item": item})
    keys = [{"pk": {"S": str(number)}} for number in range(16)]
    ask = post(b"BatchGetItem", orjson.dumps({"RequestItems": {"Things": {"Keys": keys}}}))
    asker = serve(ServerSettings(clients=ClientLimits(held_bytes=16 * MB)))
    waiting = []
    for _ in range(12):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", asker.port))
        connection.sendall(ask)
        waiting.append(connection)
    refused = [beginning(connection) for connection in waiting].count(b"HTTP/1.1 503")
    # On a slow machine some may have been closed as the slowest, to make room for others.
    closed = re.search(rb"keyfold_slow_clients_total (\d+)", asker.raw(METRICS).body)
    assert closed
    # Each is 6 MB, and the system's buffers take some of it.
    assert 1 <= len(waiting) - refused - int(closed[1]) <= 6
    for connection in waiting:
        connection.close()
    until(lambda: asker.raw(ask).status == 200)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    made, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_pem.write_to_path(key)
    for part in issued.cert_chain_pems:
        part.write_to_path(made, append=True)
    return made, key


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def test_a_large_answer_comes_whole_by_tls_to_a_slow_client(
    serve: Any, engine: Engine, certificate: tuple[Path, Path]
) -> None:
    for number in range(16):
        item = {"pk": {"S": str(number)}, "x": {"S": "x" * 390_000}}
        engine.call("PutItem", {"TableName": "Things", "Item": item})
    keys = [{"pk": {"S": str(number)}} for number in range(16)]
    ask = post(b"BatchGetItem", orjson.dumps({"RequestItems": {"Things": {"Keys": keys}}}))
    made, key = certificate
    asker = serve(ServerSettings(tls_certificate=made, tls_key=key))
    with trusting().wrap_socket(asker.connect()) as client:
        # Two in one piece: the second waits, decrypted, until the first answer is taken.
        client.sendall(ask + get("1"))
        time.sleep(0.2)
        data = bytearray()
        while data.count(b"HTTP/1.1 200") < 2 or not data.endswith(b"}}"):
            data += client.recv(20_000)
        head, _, rest = bytes(data).partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
        found = orjson.loads(rest[:length])["Responses"]["Things"]
        assert len(found) == 16
        assert {len(each["x"]["S"]) for each in found} == {390_000}
        client.sendall(get("1"))
        assert asker.read(client).status == 200


def test_a_tls_connection_counts_before_its_handshake(
    serve: Any, certificate: tuple[Path, Path]
) -> None:
    made, key = certificate
    limits = ClientLimits(connections=3, receive_seconds=60)
    asker = serve(ServerSettings(clients=limits, tls_certificate=made, tls_key=key))
    silent = [asker.connect() for _ in range(3)]
    with asker.connect() as fourth:
        assert fourth.recv(1) == b""
    # The slowest of those who never say who they are makes room.
    until(lambda: is_answered(asker))
    for connection in silent:
        connection.close()


def test_few_tls_connections_are_taken_before_their_handshake(
    serve: Any, certificate: tuple[Path, Path]
) -> None:
    made, key = certificate
    limits = ClientLimits(handshakes=3, receive_seconds=60)
    asker = serve(ServerSettings(clients=limits, tls_certificate=made, tls_key=key))
    before = open_handles()
    silent = [asker.connect() for _ in range(5)]
    most = 0
    with ThreadPoolExecutor(1) as beside:
        # It waits behind them in the system's queue.
        last = beside.submit(until, lambda: is_answered(asker))
        while not last.done():
            most = max(most, open_handles() - before)
            time.sleep(0.001)
        last.result()
    # Those of five clients, of three handshakes, and both ends of the answered one.
    assert most <= 5 + 3 + 2
    for connection in silent:
        connection.close()


def test_many_tls_clients_at_once_are_all_answered(
    serve: Any, certificate: tuple[Path, Path]
) -> None:
    made, key = certificate
    asker = serve(
        ServerSettings(clients=ClientLimits(handshakes=2), tls_certificate=made, tls_key=key)
    )
    with ThreadPoolExecutor(12) as clients:
        for _ in clients.map(lambda _: until(lambda: is_answered(asker)), range(24)):
            pass


class LateReader:
    """A handshake whose client may have sent a message that was not read yet."""

    def __init__(self, registry: ConnectionRegistry, *, has_unread: bool) -> None:
        self._handshakes = cast("dict[Any, float]", registry.handshakes)
        self.has_unread = has_unread
        self._handshakes[self] = time.monotonic() - 5

    def drop(self) -> None:
        del self._handshakes[self]


def test_only_a_client_that_has_sent_nothing_makes_room() -> None:
    front: Any = None
    registry = ConnectionRegistry(front, ClientLimits(handshakes=1), Metrics())
    LateReader(registry, has_unread=True)
    assert not registry.has_room_for_handshake()
    registry.handshakes.clear()
    LateReader(registry, has_unread=False)
    assert registry.has_room_for_handshake()
    assert not registry.handshakes


def is_answered(asker: Any) -> bool:
    """Whether a client over TLS gets its item."""
    try:
        with trusting().wrap_socket(asker.connect()) as connection:
            connection.sendall(get("1"))
            return bool(asker.read(connection).status == 200)
    except (OSError, AssertionError):
        return False


def open_handles() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
