"""The front door: routes, authenticates and answers requests."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from keyfold_engine.clock import Clock
from keyfold_engine.engine.commit_group import Result, Writes, bare
from keyfold_engine.engine.lane import (
    LOOP_SECONDS,
    CallerGone,
    InLane,
    LoopLane,
    ThreadLane,
    WouldStall,
    here,
)
from keyfold_engine.engine.principal import HOME_ACCOUNT, Principal, account_of, account_of_key
from keyfold_engine.errors import (
    InternalFailure,
    OperationError,
    StorageError,
    UnknownOperation,
)
from keyfold_engine.limits import KB
from keyfold_engine.operations import OPERATIONS, DynamoOperation, Runner, target
from keyfold_engine.wire import answer, compression, cors, signed_request
from keyfold_engine.wire.log import RequestLog, TroubleLog
from keyfold_engine.wire.metrics import Metrics
from keyfold_engine.wire.request import WireRequest
from keyfold_engine.wire.settings import ServerSettings

if TYPE_CHECKING:
    from keyfold_engine.engine import Engine
    from keyfold_engine.wire.sigv4 import SignatureVerifier

T = TypeVar("T")

# Parsing a larger body, or sending a larger answer, would block the loop.
_LARGE = 64 * KB

_TARGETS = {target(name).encode(): row for name, row in OPERATIONS.items()}
"""The operations that `X-Amz-Target` can name."""

# Enum members are slow to look up.
_INLINE, _THREAD = Runner.INLINE, Runner.THREAD

# Expected errors of calls.
_EXPECTED = (OperationError, WouldStall, CallerGone)

Rendered = tuple[bytes, int, int, bytes]
"""A rendered answer: its id, its status, its body size, and its bytes."""


class FrontDoor:
    """Answers every request of one worker."""

    def __init__(
        self,
        engine: Engine,
        settings: ServerSettings,
        metrics: Metrics,
        clock: Clock,
        logs: Sequence[RequestLog],
        *,
        loop: AbstractEventLoop,
        writer: Executor | None,
        threads: Executor,
    ) -> None:
        self._engine, self._settings, self._metrics, self._logs = engine, settings, metrics, logs
        self._loop, self._threads = loop, threads
        self._writes = Writes(engine, loop, writer)
        self._verifier = (
            _verifier(settings, settings.region, clock) if settings.credentials else None
        )
        self.knows_heads = self._verifier is None
        """Whether heads that differ in their signature only are alike."""
        self._request_id = answer.request_ids()
        self._lane = LoopLane()
        self._trouble = TroubleLog()
        self._clock, self._regions = clock, engine.has_regions
        self._verifiers: dict[str, SignatureVerifier] = {}
        # Another worker may create a policy without this one knowing.
        self._is_shared = settings.workers > 1

    def handle(self, request: WireRequest) -> None:
        """Answer a request, now or when its work is done."""
        started = perf_counter()
        try:
            headers, name = request.headers, request.target
            if not name:
                if b"origin" in headers and not self._admit(request):
                    return
                if request.method != b"POST":
                    self._other(request)
                    return
                kind = headers.get(b"content-type", b"")
                if kind != answer.JSON_1_0:
                    # Without a body, any content type is taken for JSON.
                    kind = _json_kind(kind) or (b"" if request.body else answer.JSON)
                    if not kind:
                        self._unknown(request)
                        return
                    request.content_type = kind
                name = headers.get(b"x-amz-target", b"")
            called = _TARGETS.get(name)
            if called is None:
                self._finish(request, None, started, UnknownOperation())
                return
            if self._regions and not self._is_at_home(request):
                self._in_thread(request, called, started)
                return
            if len(request.body) > _LARGE or called.runner is _THREAD:
                self._in_thread(request, called, started)
                return
            body, caller = request.body, None
            try:
                if not request.target:
                    caller = self._check_signature(request)
                if b"content-encoding" in headers:
                    body = self._unpacked(request)
            except OperationError as refusal:
                self._finish(request, called, started, refusal)
                return
            if caller is not None and (self._is_shared or self._engine.is_restricted(caller)):
                self._in_thread(request, called, started)
                return
            if called.runner is _INLINE:
                lane = here.lane = self._lane
                lane.end = started + LOOP_SECONDS
                try:
                    result = self._result(called.name, body)
                finally:
                    here.lane = None
                self._finish(request, called, started, result)
            else:
                done = partial(self._finish, request, called, started)
                self._writes.submit(called.name, body, done)
        except Exception as error:
            # The client always gets an answer, and the log the reason.
            self._finish(request, None, started, error)

    def _finish(
        self, request: WireRequest, called: DynamoOperation | None, started: float, result: Result
    ) -> None:
        """Send the result of a request; large ones are rendered in a thread."""
        if isinstance(result, bytes):
            size = len(result)
            if size < compression.FROM or not compression.is_wanted(request.headers):
                # The common case.
                request_id = self._request_id()
                data = answer.render(
                    200, result, request_id, request.content_type, request.extra, request.keep_alive
                )
                self._send(request, called, started, (request_id, 200, size, data))
                return
            render = partial(self._rendered, request, result)
            self._submit(render, partial(self._send, request, called, started))
        elif isinstance(result, WouldStall) and called is not None:
            self._in_thread(request, called, started)
        else:
            self._send(request, called, started, self._rendered(request, result))

    def _in_thread(self, request: WireRequest, called: DynamoOperation, started: float) -> None:
        """Handle a request in a thread, unless its client disconnects first."""
        connection = request.connection

        def work() -> Rendered | None:
            try:
                if connection.gone:
                    return None
                caller = self._check_signature(request)
                body = self._unpacked(request)
                with InLane(ThreadLane(lambda: connection.gone)):
                    engine = self._serving(request)
                    result = self._result(called.name, body, caller, engine)
            except OperationError as refusal:
                result = bare(refusal)
            return None if isinstance(result, CallerGone) else self._rendered(request, result)

        self._submit(work, partial(self._send, request, called, started))

    def _rendered(self, request: WireRequest, result: Result) -> Rendered:
        """The rendered result."""
        request_id = self._request_id()
        status = 200
        if not isinstance(result, bytes):
            status, result = self._refusal(result, request_id)
        elif len(result) >= compression.FROM and compression.is_wanted(request.headers):
            request.extra += b"Content-Encoding: gzip\r\n"
            result = compression.compress(result)
        data = answer.render(
            status, result, request_id, request.content_type, request.extra, request.keep_alive
        )
        return request_id, status, len(result), data

    def _refusal(self, error: Exception, request_id: bytes) -> tuple[int, bytes]:
        """The status and body for an error."""
        if isinstance(error, StorageError):
            self._trouble.note(request_id.decode(), error)
        elif not isinstance(error, OperationError):
            self._trouble.note_fault(request_id.decode(), error)
            error = InternalFailure("Internal server error")
        return answer.error_body(error)

    def _send(
        self,
        request: WireRequest,
        called: DynamoOperation | None,
        started: float,
        made: Rendered | None,
    ) -> None:
        """Count, log and send the answer, in this order, so that a client that has it finds it
        counted.
        """
        if made is None:
            request.connection.reply(b"", keep_alive=False)
            return
        request_id, status, size, data = made
        seconds = perf_counter() - started
        if called is not None:
            self._metrics.answered(called.name, status, seconds)
        for log in self._logs:
            operation = called.name if called else "Unknown"
            log.write(request_id.decode(), operation, status, size, seconds)
        request.connection.reply(data, request.keep_alive)

    def _admit(self, request: WireRequest) -> bool:
        """Whether the calling page is allowed; its answer then carries the CORS headers."""
        origin = request.headers[b"origin"]
        if not cors.allows(self._settings.origins, origin.decode("latin-1")):
            self._plain(request, 403, b"origin %b is not allowed here" % origin)
            return False
        request.extra = cors.permission(origin)
        return True

    def _unpacked(self, request: WireRequest) -> bytes:
        """The decoded body of a request."""
        encoding = request.headers.get(b"content-encoding", b"")
        return compression.decompress(request.body, encoding, self._settings.clients.body_bytes)

    def _check_signature(self, request: WireRequest) -> Principal | None:
        """The signer of a request, if known; refuses an invalid signature."""
        headers = request.headers
        if self._verifier is not None:
            verifier = self._verifier_of(request, self._verifier)
            method = request.method.decode("latin-1")
            known = verifier.verify(method, request.url, headers, request.body)
            if known.principal is None:
                return None
            return Principal(known.principal, request.connection.address)
        if not request.target:
            signed_request.read(request.url, headers)
        return None

    def _is_at_home(self, request: WireRequest) -> bool:
        """Whether a request is for the server's own account and region."""
        access_key, region = signed_request.scope_of(request.url, request.headers)
        is_here = self._is_own(region)
        return is_here and self._account(access_key) == HOME_ACCOUNT

    def _is_own(self, region: str) -> bool:
        """Whether a region, or an unknown name, is served by the first engine."""
        # Most servers have one region, and start without the others.
        from keyfold_engine.features.replicas.regions import KNOWN

        return region not in KNOWN or region == self._settings.region

    def _serving(self, request: WireRequest) -> Engine:
        """The engine for a request: that of its region and account if these are separate."""
        if not self._regions:
            return self._engine
        access_key, region = signed_request.scope_of(request.url, request.headers)
        return self._engine.of_caller(self._account(access_key), region)

    def _verifier_of(self, request: WireRequest, usual: SignatureVerifier) -> SignatureVerifier:
        """The signature verifier of a request's region, found before any engine is opened."""
        if not self._regions:
            return usual
        _, region = signed_request.scope_of(request.url, request.headers)
        if self._is_own(region):
            return usual
        if region not in self._verifiers:
            self._verifiers[region] = _verifier(self._settings, region, self._clock)
        return self._verifiers[region]

    def _account(self, access_key: str) -> str:
        """The account that an access key belongs to."""
        if not self._settings.accounts:
            return HOME_ACCOUNT
        for known in self._settings.credentials:
            if known.access_key == access_key and known.principal is not None:
                return account_of(known.principal)
        return account_of_key(access_key)

    def _result(
        self,
        operation: str,
        body: bytes,
        caller: Principal | None = None,
        engine: Engine | None = None,
    ) -> Result:
        engine = engine or self._engine
        try:
            if caller is not None:
                return engine.call_bytes_as(caller, operation, body)
            return engine.call_bytes(operation, body)
        except _EXPECTED as error:
            return bare(error)
        except Exception as error:
            return error

    def _submit(self, work: Callable[[], T], done: Callable[[T], None]) -> None:
        running = self._threads.submit(work)
        running.add_done_callback(lambda ran: self._loop.call_soon_threadsafe(done, ran.result()))

    def _other(self, request: WireRequest) -> None:
        """Requests outside the API: health, metrics, CORS preflight."""
        path = request.url.partition(b"?")[0]
        asks = request.method in (b"GET", b"HEAD")
        if request.method == b"OPTIONS" and b"origin" in request.headers:
            request.extra += cors.PREFLIGHT
            self._plain(request, 200, b"")
        elif asks and path == b"/":
            # The trailing blank is DynamoDB's.
            region = self._settings.region.encode()
            self._plain(request, 200, b"healthy: dynamodb.%b.amazonaws.com " % region)
        elif asks and path == b"/healthz":
            self._plain(request, 200, b"ok\n")
        elif asks and path == b"/metrics":
            self._plain(request, 200, self._metrics.render())
        else:
            self._unknown(request)

    def _unknown(self, request: WireRequest) -> None:
        request.extra = b""
        self._plain(request, 404, b"<UnknownOperationException/>\n")

    def _plain(self, request: WireRequest, status: int, text: bytes) -> None:
        data = answer.render(
            status, text, self._request_id(), answer.TEXT, request.extra, request.keep_alive
        )
        if request.method == b"HEAD":
            data = data[: len(data) - len(text)]
        request.connection.reply(data, request.keep_alive)


def _verifier(settings: ServerSettings, region: str, clock: Clock) -> SignatureVerifier:
    # Most servers have no credentials, and start without this module.
    from keyfold_engine.wire.sigv4 import SignatureVerifier

    return SignatureVerifier(settings.credentials, region, clock)


def _json_kind(content_type: bytes) -> bytes:
    """The content type of the answer; empty if the request is not JSON."""
    kind = content_type.partition(b";")[0].strip().lower()
    return kind if kind in (answer.JSON_1_0, answer.JSON) else b""
