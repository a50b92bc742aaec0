"""Both HTTP clients, each against the same servers: a real one and faulty ones."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from keyfold_engine.clients import ClientOptions, connect, connect_async
from keyfold_engine.clients.protocol import Client
from keyfold_engine.engine import Engine
from keyfold_engine.errors import (
    ConditionFailed,
    InternalFailure,
    KeyfoldError,
    TableNotFound,
    Throttled,
    Timeout,
    TransactionCanceled,
    TransportError,
    Unreachable,
    Untrusted,
)
from keyfold_engine.wire import BackgroundServer, ServerSettings

ITEM = {"pk": {"S": "é✓"}, "n": {"N": "1.5"}, "b": {"B": "AAEC"}, "l": {"L": [{"NULL": True}]}}
GET = {"TableName": "Things", "Key": {"pk": {"S": "é✓"}}}
PUT = {"TableName": "Things", "Item": ITEM}
CONDITIONAL = {**PUT, "ConditionExpression": "attribute_not_exists(pk)"}

Connect = Callable[[str, ClientOptions | None], Client]


class Blocking:
    """The async client, driven by a loop in a thread, so that both run the same tests."""

    def __init__(self, url: str, options: ClientOptions | None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = connect_async(url, options)

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def call(self, operation: str, request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._wait(self._client.call(operation, request))
        return answer

    def close(self) -> None:
        self._wait(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(params=["sync", "async"])
def connected(request: pytest.FixtureRequest) -> Iterator[Connect]:
    with contextlib.ExitStack() as opened:

        def make(url: str, options: ClientOptions | None = None) -> Client:
            client: Client = (
                connect(url, options) if request.param == "sync" else Blocking(url, options)
            )
            opened.callback(client.close)
            return client

        yield make


def test_an_item_comes_back_as_it_went(connected: Connect, url: str) -> None:
    client = connected(url, None)
    client.call("PutItem", PUT)
    assert client.call("GetItem", GET) == {"Item": ITEM}


def test_errors_are_those_of_the_engine(connected: Connect, url: str) -> None:
    client = connected(url, None)
    client.call("PutItem", PUT)
    with pytest.raises(ConditionFailed):
        client.call("PutItem", CONDITIONAL)
    with pytest.raises(TableNotFound):
        client.call("GetItem", {**GET, "TableName": "Nothing"})
    with pytest.raises(TransactionCanceled) as caught:
        client.call("TransactWriteItems", {"TransactItems": [{"Put": CONDITIONAL}]})
    assert [reason.code for reason in caught.value.reasons] == ["ConditionalCheckFailed"]


def test_a_large_answer_arrives_whole(connected: Connect, url: str) -> None:
    client = connected(url, None)
    for number in range(4):
        client.call(
            "PutItem",
            {"TableName": "Things", "Item": {"pk": {"S": str(number)}, "x": {"S": "x" * 200_000}}},
        )
    found = client.call("Scan", {"TableName": "Things"})["Items"]
    assert sorted(item["pk"]["S"] for item in found) == ["0", "1", "2", "3"]


def test_throttling_is_waited_out(
    connected: Connect, faults: Any, impatient: ClientOptions
) -> None:
    refuse = faults.send(faults.error(400, "ProvisionedThroughputExceededException"))
    server = faults.server(refuse, refuse, faults.send(faults.answer(200, {})))
    connected(server.url, impatient).call("PutItem", CONDITIONAL)
    assert len(server.requests) == 3


def test_throttling_without_end_is_an_error(
    connected: Connect, faults: Any, impatient: ClientOptions
) -> None:
    server = faults.server(faults.send(faults.error(400, "ThrottlingException")))
    with pytest.raises(Exception, match="no") as caught:
        connected(server.url, impatient).call("GetItem", GET)
    assert type(caught.value).__name__ == "RequestRateExceeded"
    assert len(server.requests) == impatient.retries.attempts


@pytest.mark.parametrize("fault", ["drop", "half", "damaged", "garbage", "failure"])
def test_a_read_survives_whatever_happens_to_its_answer(
    connected: Connect, faults: Any, impatient: ClientOptions, fault: str
) -> None:
    good = faults.answer(200, {"Item": ITEM})
    act = {
        "drop": faults.drop,
        "half": faults.send_half(good),
        "damaged": faults.send(faults.answer(200, {"Item": ITEM}, checksum=7)),
        "garbage": faults.send(b"SSH-2.0-hello\r\n\r\n"),
        "failure": faults.send(faults.error(500, "InternalServerError")),
    }[fault]
    server = faults.server(act, act, faults.send(good))
    assert connected(server.url, impatient).call("GetItem", GET) == {"Item": ITEM}
    assert len(server.requests) == 3


@pytest.mark.parametrize("fault", ["drop", "half", "failure"])
def test_a_write_that_may_have_happened_is_not_sent_twice(
    connected: Connect, faults: Any, impatient: ClientOptions, fault: str
) -> None:
    act = {
        "drop": faults.drop,
        "half": faults.send_half(faults.answer(200, {})),
        "failure": faults.send(faults.error(500, "InternalServerError")),
    }[fault]
    server = faults.server(act, faults.send(faults.answer(200, {})))
    with pytest.raises((TransportError, InternalFailure)):
        connected(server.url, impatient).call("PutItem", CONDITIONAL)
    assert len(server.requests) == 1


def test_a_transaction_is_sent_again_with_the_same_token(
    connected: Connect, faults: Any, impatient: ClientOptions
) -> None:
    server = faults.server(faults.drop, faults.send(faults.answer(200, {})))
    connected(server.url, impatient).call("TransactWriteItems", {"TransactItems": []})
    first, second = server.requests
    assert first["ClientRequestToken"] == second["ClientRequestToken"]


def test_silence_is_a_timeout(connected: Connect, faults: Any, impatient: ClientOptions) -> None:
    server = faults.server(lambda client: True)
    with pytest.raises(Timeout, match="timed out waiting for a response") as caught:
        connected(server.url, impatient).call("PutItem", CONDITIONAL)
    assert caught.value.sent
    assert len(server.requests) == 1


def test_a_server_that_takes_nothing_is_a_timeout(
    connected: Connect, impatient: ClientOptions
) -> None:
    large = {**CONDITIONAL, "Item": {"pk": {"S": "x" * 8_000_000}}}
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        client = connected(f"http://127.0.0.1:{deaf.getsockname()[1]}", impatient)
        with pytest.raises(Timeout, match="timed out") as caught:
            client.call("PutItem", large)
    assert caught.value.sent


def test_nobody_there_is_unreachable_and_nothing_was_sent(
    connected: Connect, impatient: ClientOptions
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port}") as caught:
        connected(f"http://127.0.0.1:{port}", impatient).call("PutItem", CONDITIONAL)
    assert not caught.value.sent


def test_a_connection_the_server_left_while_idle_is_not_used_again(
    connected: Connect, faults: Any, impatient: ClientOptions
) -> None:
    def answer_and_leave(client: socket.socket) -> bool:
        client.sendall(faults.answer(200, {}))
        return False

    server = faults.server(answer_and_leave)
    client = connected(server.url, impatient)
    for _ in range(3):
        client.call("PutItem", PUT)
        threading.Event().wait(0.05)
        client.call("PutItem", CONDITIONAL)
        threading.Event().wait(0.05)
    assert len(server.requests) == 6


def test_connections_are_kept(connected: Connect, engine: Engine, url: str) -> None:
    client = connected(url, None)
    for _ in range(20):
        client.call("GetItem", GET)
    with contextlib.closing(socket.create_connection(_address(url))) as asking:
        asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        text = b"".join(iter(lambda: asking.recv(65536), b"")).decode()
    assert "keyfold_connections 2\n" in text
    assert 'keyfold_requests_total{operation="GetItem",status="2xx"} 20\n' in text


def _address(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


def test_many_threads_share_one_client(url: str) -> None:
    client = connect(url)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(30):
                item = {"pk": {"S": f"{name}{number}"}}
                client.call("PutItem", {"TableName": "Things", "Item": item})
                got = client.call("GetItem", {"TableName": "Things", "Key": item})
                assert got == {"Item": item}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close()
    assert not failures


async def test_more_calls_than_connections_wait_their_turn(url: str) -> None:
    client = connect_async(url, ClientOptions(connections=3))
    await asyncio.gather(
        *(
            client.call("PutItem", {"TableName": "Things", "Item": {"pk": {"S": str(number)}}})
            for number in range(100)
        )
    )
    answer = await client.call("Scan", {"TableName": "Things", "Select": "COUNT"})
    assert answer["Count"] == 100
    await client.close()


async def test_a_cancelled_call_leaves_no_answer_behind_for_the_next(url: str) -> None:
    client = connect_async(url, ClientOptions(connections=1))
    await client.call("PutItem", PUT)
    for _ in range(20):
        call = asyncio.create_task(client.call("ListTables", {}))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await client.call("GetItem", GET) == {"Item": ITEM}
    await client.close()


def test_an_async_client_outlives_its_event_loop(url: str) -> None:
    client = connect_async(url)
    for _ in range(3):
        asyncio.run(client.call("PutItem", PUT))
        assert asyncio.run(client.call("GetItem", GET)) == {"Item": ITEM}
    asyncio.run(client.close())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_leaves_the_connections_to_its_parent() -> None:
    script = """
import os, sys
from keyfold_engine.clients import connect
client = connect(sys.argv[1])
client.call("ListTables", {})
own = [connection._socket.fileno() for idle in client._idle.values() for connection in idle]
child = os.fork()
if not child:
    kept = [connection for idle in client._idle.values() for connection in idle]
    answered = client.call("ListTables", {}) == {"TableNames": []}
    os._exit(0 if own and not kept and answered else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    with Engine.open(":memory:") as engine, BackgroundServer(engine) as server:
        done = subprocess.run([sys.executable, "-c", script, server.url], check=False, timeout=30)
    assert done.returncode == 0


def test_tls_is_verified(connected: Connect, engine: Engine, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    settings = ServerSettings(
        port=0, tls_certificate=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem"
    )
    with BackgroundServer(engine, settings) as server:
        client = connected(server.url, ClientOptions(ca_file=str(tmp_path / "ca.pem")))
        client.call("PutItem", PUT)
        assert client.call("GetItem", GET) == {"Item": ITEM}
        with pytest.raises(Untrusted, match="certificate") as caught:
            connected(server.url, ClientOptions()).call("PutItem", CONDITIONAL)
        assert isinstance(caught.value.__cause__, ssl.SSLError)


def test_a_proxy_is_asked_for_a_tunnel(
    connected: Connect, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)

    def proxy() -> None:
        with contextlib.suppress(OSError):
            client, _ = listener.accept()
            asked.append(client.recv(65536))
            upstream = socket.create_connection(_address(url))
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            threading.Thread(target=pump, args=(upstream, client), daemon=True).start()
            pump(client, upstream)

    threading.Thread(target=proxy, daemon=True).start()
    port = listener.getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://user:p%40ss@127.0.0.1:{port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    connected(url, None).call("PutItem", PUT)
    host, own_port = _address(url)
    assert asked[0].startswith(f"CONNECT {host}:{own_port} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in asked[0]
    listener.close()


def test_a_closed_client_says_so(url: str) -> None:
    client = connect(url)
    client.close()
    with pytest.raises(KeyfoldError, match="this client is closed"):
        client.call("GetItem", GET)


def test_throttled_is_the_class_for_provisioned_throughput(
    connected: Connect, faults: Any, impatient: ClientOptions
) -> None:
    refuse = faults.send(faults.error(400, "ProvisionedThroughputExceededException"))
    with pytest.raises(Throttled):
        connected(faults.server(refuse).url, impatient).call("GetItem", GET)
