"""The synchronous client for any server that speaks DynamoDB's API."""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from weakref import WeakSet

from keyfold_engine.clients.address import Endpoint, Remote
from keyfold_engine.clients.answer import Answer, AnswerReader, result, usual
from keyfold_engine.clients.connection import connect_tls, failure
from keyfold_engine.clients.request import ClientOptions, Requests, encode
from keyfold_engine.clients.retry import Attempts, with_token
from keyfold_engine.errors import KeyfoldError, OperationError, TransportError

# Most answers are small, and allocating a large buffer costs more than receiving a small answer.
_FIRST_RECEIVE = 16 * 1024
_RECEIVE = 256 * 1024


class HttpClient(Requests):
    """Calls a server over persistent connections; one client serves any number of threads."""

    def __init__(self, remote: Remote, options: ClientOptions | None = None) -> None:
        options = options or ClientOptions()
        super().__init__(remote, options)
        self._idle: dict[Endpoint, deque[_Connection]] = {
            remote.endpoint: deque(maxlen=options.connections),
            remote.streams_endpoint: deque(maxlen=options.connections),
        }
        self._closed = False
        _clients.add(self)

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one operation; raises the errors of `keyfold_engine.errors`."""
        started = time.monotonic()
        request = with_token(operation, request)
        body = encode(request)
        attempts: Attempts | None = None
        while True:
            try:
                return self._attempt(operation, body)
            except (OperationError, TransportError) as error:
                if attempts is None:
                    attempts = Attempts(self._options.retries, operation, request, started)
                time.sleep(attempts.wait_after(error, time.monotonic()))

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self.drop_connections()

    def drop_connections(self) -> None:
        """Close idle connections; calls open new ones."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def _attempt(self, operation: str, body: bytes) -> dict[str, Any]:
        credentials = self._credentials.ready() or self._credentials.load()
        writer = self._writers[operation]
        data = writer.write(body, credentials, self._now())
        idle = self._idle[writer.endpoint]
        connection = self._idle_connection(idle) or self._connect(writer.endpoint)
        try:
            answer = connection.exchange(data)
        except BaseException as error:
            connection.close()
            if isinstance(error, (OSError, TransportError)):
                raise failure(error, writer.endpoint, sent=True) from error
            raise
        if answer.keep_alive and not self._closed:
            idle.append(connection)
        else:
            connection.close()
        return result(answer)

    def _idle_connection(self, idle: deque[_Connection]) -> _Connection | None:
        while True:
            try:
                connection = idle.pop()
            except IndexError:
                return None
            # An idle connection is readable only if the server closed it.
            if not connection.has_news():
                return connection
            connection.close()

    def _connect(self, endpoint: Endpoint) -> _Connection:
        if self._closed:
            raise KeyfoldError(f"{endpoint.url}: this client is closed")
        connected = connect_tls(endpoint, self._options, self._tls)
        _limit_silence(connected, self._options.answer_seconds)
        return _Connection(connected)


class _Connection:
    """One connection, and whether the server has closed it."""

    __slots__ = ("_socket", "has_news")

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.has_news = _watch(connected)

    def exchange(self, data: bytes) -> Answer:
        """Send a request and receive its answer."""
        self._socket.sendall(data)
        received = self._socket.recv(_FIRST_RECEIVE)
        return usual(received) or self._read_on(received)

    def _read_on(self, received: bytes) -> Answer:
        reader = AnswerReader()
        while received:
            answer = reader.feed(received)
            if answer is not None:
                return answer
            received = self._socket.recv(_RECEIVE)
        return reader.finish()

    def close(self) -> None:
        self._socket.close()


_clients: WeakSet[HttpClient] = WeakSet()


def _leave_connections_to_parent() -> None:
    """Drop connections after a fork: two processes on one connection would mix up answers."""
    for client in _clients:
        client.drop_connections()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_connections_to_parent)


def _limit_silence(connected: socket.socket, seconds: float) -> None:
    """Set a timeout for sending and receiving."""
    # Sockets with their own layer (TLS, gevent) must keep time themselves.
    if type(connected).__module__ != "socket" or os.name != "posix":
        connected.settimeout(seconds)
        return
    # Let the kernel apply the timeout: Python would poll before each system call.
    connected.settimeout(None)
    limit = struct.pack("ll", *divmod(max(1, round(seconds * 1e6)), 1_000_000))
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)


def _watch(connected: socket.socket) -> Callable[[], object]:
    if hasattr(select, "poll"):
        watcher = select.poll()
        watcher.register(connected, select.POLLIN)
        return partial(watcher.poll, 0)
    return lambda: select.select([connected], [], [], 0)[0]
