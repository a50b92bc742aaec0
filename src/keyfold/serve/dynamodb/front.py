"""The front door: what a request is, whether it may come in, and what it is answered."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from keyfold.clock import Clock
from keyfold.errors import InternalFailure, OperationError, SerializationError, UnknownOperation
from keyfold.serve.dynamodb import answer, verify
from keyfold.serve.dynamodb.log import RequestLog
from keyfold.serve.dynamodb.metrics import Metrics
from keyfold.serve.dynamodb.protocol import Connection, Request
from keyfold.serve.dynamodb.settings import Settings
from keyfold.serve.dynamodb.targets import TARGETS, Run, Target
from keyfold.serve.dynamodb.writes import Engine, Result, Writes

logger = logging.getLogger(__name__)

_ALLOWED_HEADERS = (
    "authorization,content-type,content-encoding,x-amz-content-sha256,x-amz-date,"
    "x-amz-security-token,x-amz-target,x-amz-user-agent,x-amzn-platform-id,x-amzn-trace-id,"
    "amz-sdk-invocation-id,amz-sdk-request"
)


class FrontDoor:
    """Answers every request of one worker."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        metrics: Metrics,
        clock: Clock,
        logs: Sequence[RequestLog],
        *,
        loop: asyncio.AbstractEventLoop,
        writer: ThreadPoolExecutor | None,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._engine, self._settings, self._metrics, self._logs = engine, settings, metrics, logs
        self._loop, self._threads = loop, threads
        self._writes = Writes(engine, loop, writer)
        self._verifier = (
            verify.Verifier(settings.secrets, settings.region, clock) if settings.secrets else None
        )
        self._request_id = answer.RequestIds()

    def handle(self, request: Request, connection: Connection) -> None:
        """Answer a request, now or when its work is done."""
        headers = request.headers
        origin = ""
        if b"origin" in headers:
            name = headers[b"origin"].decode("latin-1")
            if not self._settings.allows_origin(name):
                self._plain(request, connection, 403, f"origin {name} is not allowed here")
                return
            origin = (
                f"Access-Control-Allow-Origin: {name}\r\nVary: Origin\r\n"
                "Access-Control-Expose-Headers: x-amzn-RequestId,x-amz-crc32\r\n"
            )
        if request.method != b"POST":
            self._other(request, connection, origin)
            return
        if not _is_json(headers):
            self._unknown(request, connection)
            return
        exchange = Exchange(self, request, connection, origin)
        exchange.target = target = TARGETS.get(headers.get(b"x-amz-target", b""))
        try:
            if target is None:
                raise UnknownOperation
            self._check_signature(request)
            body = self._body(request)
        except OperationError as refusal:
            exchange.finish(refusal)
            return
        if target.run is Run.INLINE:
            exchange.finish(self._result(target.operation, body))
        elif target.run is Run.COMMIT:
            self._writes.submit(target.operation, body, exchange.finish)
        else:
            self._in_thread(target.operation, body, exchange.finish)

    def answered(self, exchange: Exchange, status: int, sent: int) -> None:
        """Count and log an answer."""
        target = exchange.target
        seconds = perf_counter() - exchange.started
        if target is not None:
            self._metrics.answered(target.slot, status, seconds)
        for log in self._logs:
            operation = target.operation if target else "Unknown"
            log.write(exchange.request_id, operation, status, sent, seconds)

    def new_request_id(self) -> str:
        return self._request_id()

    def _check_signature(self, request: Request) -> None:
        if self._verifier is not None:
            self._verifier.verify(
                request.method.decode("latin-1"), request.url, request.headers, request.body
            )
            return
        header = request.headers.get(b"authorization", b"")
        well_formed = (
            header.startswith(b"AWS4-HMAC-SHA256 ")
            and b"Credential=" in header
            and b"SignedHeaders=" in header
            and b"Signature=" in header
            and b"?" not in request.url
            and (b"x-amz-date" in request.headers or b"date" in request.headers)
        )
        if not well_formed:
            verify.read(request.url, request.headers)

    def _body(self, request: Request) -> bytes:
        if b"content-encoding" in request.headers:
            return _decoded(request, self._settings.clients.body_bytes)
        return request.body

    def _result(self, operation: str, body: bytes) -> Result:
        try:
            return self._engine.call_bytes(operation, body)
        except Exception as error:
            return error

    def _in_thread(self, operation: str, body: bytes, done: Callable[[Result], None]) -> None:
        running = self._threads.submit(self._result, operation, body)
        running.add_done_callback(lambda ran: self._loop.call_soon_threadsafe(done, ran.result()))

    def _other(self, request: Request, connection: Connection, origin: str) -> None:
        """Requests that are not the API: health, metrics, and a browser asking whether it may."""
        path = request.url.partition(b"?")[0]
        asks = request.method in (b"GET", b"HEAD")
        if request.method == b"OPTIONS" and origin:
            allowed = (
                f"{origin}Access-Control-Allow-Methods: POST,GET,OPTIONS\r\n"
                f"Access-Control-Allow-Headers: {_ALLOWED_HEADERS}\r\n"
                "Access-Control-Max-Age: 172800\r\n"
            )
            self._plain(request, connection, 200, "", allowed)
        elif asks and path == b"/":
            # The blank at the end is DynamoDB's.
            health = f"healthy: dynamodb.{self._settings.region}.amazonaws.com "
            self._plain(request, connection, 200, health, origin)
        elif asks and path == b"/healthz":
            self._plain(request, connection, 200, "ok\n", origin)
        elif asks and path == b"/metrics":
            self._plain(request, connection, 200, self._metrics.render().decode(), origin)
        else:
            self._unknown(request, connection)

    def _unknown(self, request: Request, connection: Connection) -> None:
        self._plain(request, connection, 404, "<UnknownOperationException/>\n")

    def _plain(
        self, request: Request, connection: Connection, status: int, text: str, extra: str = ""
    ) -> None:
        data = answer.render(
            status,
            text.encode(),
            self._request_id(),
            content_type=answer.TEXT,
            extra=extra,
            keep_alive=request.keep_alive,
        )
        if request.method == b"HEAD":
            data = data[: len(data) - len(text.encode())]
        connection.reply(data, keep_alive=request.keep_alive)


class Exchange:
    """A request of the API on its way to its answer."""

    __slots__ = ("_connection", "_extra", "_front", "_request", "request_id", "started", "target")

    def __init__(
        self, front: FrontDoor, request: Request, connection: Connection, extra: str
    ) -> None:
        self._front, self._request, self._connection, self._extra = (
            front,
            request,
            connection,
            extra,
        )
        self.target: Target | None = None
        self.started = perf_counter()
        self.request_id = front.new_request_id()

    def finish(self, result: Result) -> None:
        """Send the answer."""
        status = 200
        if not isinstance(result, bytes):
            if not isinstance(result, OperationError):
                logger.error("request %s failed", self.request_id, exc_info=result)
                result = InternalFailure("Internal server error")
            status, result = answer.error_body(result)
        keep_alive = self._request.keep_alive
        data = answer.render(
            status,
            result,
            self.request_id,
            content_type=_content_type(self._request.headers),
            extra=self._extra,
            keep_alive=keep_alive,
        )
        self._connection.reply(data, keep_alive=keep_alive)
        self._front.answered(self, status, len(result))


def _content_type(headers: dict[bytes, bytes]) -> str:
    sent = headers.get(b"content-type", b"")
    return answer.JSON_1_0 if sent.startswith(b"application/x-amz-json-1.0") else "application/json"


def _is_json(headers: dict[bytes, bytes]) -> bool:
    kind = headers.get(b"content-type", b"")
    if kind == b"application/x-amz-json-1.0":
        return True
    kind = kind.partition(b";")[0].strip().lower()
    return kind in (b"application/x-amz-json-1.0", b"application/json")


def _decoded(request: Request, limit: int) -> bytes:
    encoding = request.headers[b"content-encoding"].strip().lower()
    if encoding in (b"", b"identity"):
        return request.body
    if encoding not in (b"gzip", b"x-gzip", b"deflate"):
        raise SerializationError
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        body = unpacker.decompress(request.body, limit + 1)
    except zlib.error:
        raise SerializationError from None
    if len(body) > limit or not unpacker.eof:
        raise SerializationError
    return body
