"""The asynchronous client for any server that speaks DynamoDB's API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, cast

from keyfold_engine.clients.address import Endpoint, Remote
from keyfold_engine.clients.answer import Answer, AnswerReader, result
from keyfold_engine.clients.connection import connect, failure
from keyfold_engine.clients.request import ClientOptions, Requests, encode
from keyfold_engine.clients.retry import Attempts, with_token
from keyfold_engine.errors import KeyfoldError, OperationError, Timeout, TransportError

_ROOM = 64 * 1024


class AsyncHttpClient(Requests):
    """Calls a server over persistent connections, with many concurrent calls."""

    def __init__(self, remote: Remote, options: ClientOptions | None = None) -> None:
        options = options or ClientOptions()
        super().__init__(remote, options)
        self._pools = {
            endpoint: _Pool(endpoint, options, self._tls)
            for endpoint in (remote.endpoint, remote.streams_endpoint)
        }

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one operation; raises the errors of `keyfold_engine.errors`."""
        started = time.monotonic()
        request = with_token(operation, request)
        body = encode(request)
        attempts: Attempts | None = None
        while True:
            try:
                return await self._attempt(operation, body)
            except (OperationError, TransportError) as error:
                if attempts is None:
                    attempts = Attempts(self._options.retries, operation, request, started)
                await asyncio.sleep(attempts.wait_after(error, time.monotonic()))

    async def close(self) -> None:
        """Close the connections; calls in progress fail."""
        for pool in self._pools.values():
            pool.close()

    async def _attempt(self, operation: str, body: bytes) -> dict[str, Any]:
        credentials = self._credentials.ready()
        if credentials is None:
            credentials = await asyncio.to_thread(self._credentials.load)
        writer = self._writers[operation]
        pool = self._pools[writer.endpoint]
        connection = await pool.take()
        try:
            data = writer.write(body, credentials, self._now())
            answer = await connection.exchange(data)
        except BaseException as error:
            connection.abort()
            if isinstance(error, (OSError, TransportError)):
                raise failure(error, writer.endpoint, sent=True) from error
            raise
        finally:
            pool.give_back(connection)
        return result(answer)


class _Pool:
    """The connections to one endpoint, up to the configured number."""

    def __init__(self, endpoint: Endpoint, options: ClientOptions, tls: Any) -> None:
        self._endpoint, self._options, self._tls = endpoint, options, tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: list[_Connection] = []
        self._taken: set[_Connection] = set()
        self._room: asyncio.Semaphore
        self._closed = False

    async def take(self) -> _Connection:
        """An idle connection or a new one, once there is room for it."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # Connections of an earlier event loop are of no use.
            self._loop, self._room = loop, asyncio.Semaphore(self._options.connections)
            self._idle.clear()
        await self._room.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if connection.is_open:
                    break
            else:
                connection = await self._connect(loop)
        except BaseException:
            self._room.release()
            raise
        self._taken.add(connection)
        return connection

    def give_back(self, connection: _Connection) -> None:
        self._taken.discard(connection)
        if connection.loop is self._loop:
            self._room.release()
        if self._closed or connection.loop is not self._loop:
            connection.abort()
        elif connection.is_open:
            self._idle.append(connection)

    def close(self) -> None:
        self._closed = True
        for connection in (*self._idle, *self._taken):
            if not connection.loop.is_closed():
                connection.abort()
        self._idle.clear()

    async def _connect(self, loop: asyncio.AbstractEventLoop) -> _Connection:
        if self._closed:
            raise KeyfoldError(f"{self._endpoint.url}: this client is closed")
        plain = await asyncio.to_thread(connect, self._endpoint, self._options)
        plain.setblocking(False)
        try:
            async with asyncio.timeout(self._options.connect_seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(loop, self._options.answer_seconds),
                    sock=plain,
                    ssl=self._tls,
                    server_hostname=self._endpoint.host if self._tls else None,
                )
        except BaseException as error:
            plain.close()
            if isinstance(error, OSError):
                raise failure(error, self._endpoint, sent=False) from error
            raise
        return connection


class _Connection(asyncio.BufferedProtocol):
    """One connection; one request at a time."""

    # Buffered, because otherwise a buffer for the largest read would be allocated per answer.

    def __init__(self, loop: asyncio.AbstractEventLoop, patience: float) -> None:
        self.loop, self._patience = loop, patience
        self._transport: asyncio.Transport = None  # type: ignore[assignment]
        self._answer: asyncio.Future[Answer] | None = None
        self._reader = AnswerReader()
        self._room = memoryview(bytearray(_ROOM))
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.is_open = False

    async def exchange(self, data: bytes) -> Answer:
        """Send a request and receive its answer."""
        loop = self.loop
        answer: asyncio.Future[Answer] = loop.create_future()
        self._answer = answer
        self._reader = AnswerReader()
        self._deadline = loop.time() + self._patience
        if self._timer is None:
            # One timer serves many requests: when it fires, it checks the latest deadline.
            self._timer = loop.call_at(self._deadline, self._ring)
        self._transport.write(data)
        received = await answer
        self._answer = None
        if not received.keep_alive:
            self.abort()
        return received

    def abort(self) -> None:
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        answer = self._answer
        if answer is None or answer.done():
            self.abort()
            return
        self._deadline = self.loop.time() + self._patience
        try:
            whole = self._reader.feed(bytes(self._room[:nbytes]))
        except TransportError as error:
            answer.set_exception(error)
            return
        if whole is not None:
            answer.set_result(whole)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
        answer = self._answer
        if answer is None or answer.done():
            return
        try:
            answer.set_result(self._reader.finish())
        except TransportError as error:
            answer.set_exception(exc or error)

    def _ring(self) -> None:
        self._timer = None
        answer = self._answer
        if answer is None or answer.done():
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._ring)
            return
        answer.set_exception(Timeout("timed out waiting for a response"))
