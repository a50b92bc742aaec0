"""One worker: an engine, an event loop and the listening socket."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import Any, Self

from keyfold_engine.clock import Clock, SystemClock
from keyfold_engine.engine import Engine, operations, shapes
from keyfold_engine.engine.principal import HOME_ACCOUNT
from keyfold_engine.engine.sweeper import Sweeper
from keyfold_engine.limits import MB
from keyfold_engine.wire.connection_limits import ConnectionRegistry
from keyfold_engine.wire.front import FrontDoor
from keyfold_engine.wire.listener import Listener, bind, tls_context
from keyfold_engine.wire.log import RequestLines, RequestLog, SpanLog
from keyfold_engine.wire.metrics import Metrics
from keyfold_engine.wire.settings import ServeError, ServerSettings

_TICK_SECONDS = 1.0
_SWEEP_SECONDS = 10.0
# More threads would only delay the loop: there is one interpreter.
_SLOW_THREADS = 2
_DRAIN_SECONDS = 0.01
_SWITCH_SECONDS = 0.0005
# glibc's option numbers; each thread's heap keeps this much at its end.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 8 * MB


class Server:
    """Serves one engine on one socket until it is stopped."""

    def __init__(
        self,
        engine: Engine,
        settings: ServerSettings,
        *,
        metrics: Metrics | None = None,
        sweeps: bool = True,
    ) -> None:
        self._engine, self._settings = engine, settings
        self._metrics = metrics or Metrics()
        clock = SystemClock()
        self._sweeps = sweeps
        self._sweeper: Sweeper | None = None
        self._logs = _request_logs(settings, clock)
        waits_for_disk = settings.data != ":memory:" and settings.durability == "full"
        self._writer = ThreadPoolExecutor(1, "keyfold-writer") if waits_for_disk else None
        self._threads = ThreadPoolExecutor(_SLOW_THREADS, "keyfold-slow")
        self._loop = loop = asyncio.SelectorEventLoop()
        self._front = front = FrontDoor(
            engine,
            settings,
            self._metrics,
            clock,
            self._logs,
            loop=loop,
            writer=self._writer,
            threads=self._threads,
        )
        self._registry = ConnectionRegistry(front, settings.clients, self._metrics)
        self._listener: Listener
        self._background: threading.Thread | None = None
        self._stopping = False
        self.port = settings.port

    def start(self, listener: socket.socket | None = None) -> Self:
        """Listen on a bound socket, or on the host and port of the settings."""
        self._registry.now = monotonic()
        try:
            tls = tls_context(self._settings)
            listener = listener or bind(self._settings)
        except ServeError:
            self._loop.close()
            raise
        self._listener = Listener(self._loop, self._registry, listener, tls)
        self.port = listener.getsockname()[1]
        self._engine.endpoint = f"{self._settings.host}:{self.port}"
        self._loop.call_later(_TICK_SECONDS, self._tick)
        if self._sweeps:
            self._sweeper = Sweeper(self._engine, _SWEEP_SECONDS)
        return self

    def run(self) -> None:
        """Serve until `stop`; requests in progress are answered."""
        self._loop.run_forever()
        if self._sweeper is not None:
            self._sweeper.stop()
        for connection in list(self._registry.open):
            connection.expire()
        for pool in (self._writer, self._threads):
            if pool is not None:
                pool.shutdown()
        # The answers of the last threads, and the ends of connections.
        self._loop.run_until_complete(_rest())
        self._loop.close()
        for log in self._logs:
            log.close()

    def stop(self) -> None:
        """Stop listening, answer requests in progress, close; from any thread or signal handler."""
        # A loop that has ended is closed.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._drain)

    def stop_with(self, pipe: int) -> None:
        """Stop when a pipe closes."""

        def end() -> None:
            self._loop.remove_reader(pipe)
            self._drain()

        self._loop.add_reader(pipe, end)

    def _drain(self) -> None:
        if not self._stopping:
            self._stopping = True
            self._listener.close()
            self._registry.drain()
            self._wait_for_clients(monotonic() + self._settings.clients.drain_seconds)

    def _wait_for_clients(self, deadline: float) -> None:
        if self._registry.open and monotonic() < deadline:
            self._loop.call_later(_DRAIN_SECONDS, self._wait_for_clients, deadline)
        else:
            self._loop.stop()

    def _tick(self) -> None:
        self._loop.call_later(_TICK_SECONDS, self._tick)
        self._registry.tick(monotonic())
        self._metrics.tick()
        # On the loop's own timer, not queued behind long requests.
        if self._background is None:
            self._work_beside(self._settle)
        elif not self._background.is_alive() and self._registry.is_calm_again():
            self._work_beside(_return_memory)
        for log in self._logs:
            log.flush()

    def _work_beside(self, work: Callable[[], None]) -> None:
        self._background = threading.Thread(target=work, name="keyfold-background", daemon=True)
        self._background.start()

    def _settle(self) -> None:
        """Load modules that the start did not need, and configure the allocator to keep little.

        Objects loaded during large requests would lie between theirs for ever, and CPython returns
        only arenas that are completely empty.
        """
        operations.load_all()
        shapes.compile_all()
        _c_library("mallopt", _M_TRIM_THRESHOLD, _KEPT_BYTES)
        # Otherwise it would track the trim threshold, and large answers would be mapped each time.
        _c_library("mallopt", _M_MMAP_THRESHOLD, 2 * _KEPT_BYTES)


async def _rest() -> None:
    """Let tasks that were cancelled end, and what they leave be called."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)


def _return_memory() -> None:
    """Return memory left over from large requests, which the allocator would keep."""
    # TLS leaves reference cycles; objects from the start are frozen and skipped.
    gc.collect()
    # CPython 3.11 caches a new string here for nearly every `case Name(field)`: thousands of them,
    # each pinning its arena.
    sys._clear_type_cache()
    _c_library("malloc_trim", 0)


def _c_library(function: str, *arguments: int) -> None:
    """Call a glibc function; does nothing elsewhere."""
    import ctypes

    found = getattr(ctypes.CDLL(None), function, None)
    if found is not None:
        found(*arguments)


def _request_logs(settings: ServerSettings, clock: Clock) -> list[RequestLog]:
    logs: list[RequestLog] = []
    if settings.tracing:
        logs.append(SpanLog(clock))
    if settings.request_log is not None:
        try:
            logs.append(RequestLines(settings.request_log, clock))
        except OSError as error:
            raise ServeError(
                f"cannot write the request log {settings.request_log}: {error.strerror}"
            ) from error
    return logs


def run_worker(
    settings: ServerSettings,
    listener: socket.socket,
    metrics: Metrics,
    worker: int,
    on_ready: Callable[[int], None],
    ends_with: int | None = None,
) -> None:
    """Serve in this process until SIGTERM or SIGINT, or until the pipe `ends_with` closes."""
    metrics.work_as(worker)

    def serve(engine: Engine) -> None:
        server = Server(engine, settings, metrics=metrics, sweeps=worker == 0)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: server.stop())
        if ends_with is not None:
            server.stop_with(ends_with)
        server.start(listener)
        # Start-up objects contain no garbage worth collecting.
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 50, 50)
        # The interval after which a long-running thread yields to the loop.
        sys.setswitchinterval(_SWITCH_SECONDS)
        on_ready(server.port)
        server.run()

    options: dict[str, Any] = {
        "durability": settings.durability,
        "dialect": settings.dialect,
        "buckets": settings.buckets,
        "kinesis": settings.kinesis,
        "delays": settings.delays,
    }
    if settings.accounts:
        from keyfold_engine.features.replicas import Accounts

        with Accounts(settings.data, **options) as accounts:
            serve(accounts.engine(HOME_ACCOUNT, settings.region))
        return
    if settings.regions:
        from keyfold_engine.features.replicas import Regions

        with Regions(settings.data, **options) as regions:
            serve(regions.engine(settings.region))
        return
    with Engine.open(settings.data, region=settings.region, **options) as engine:
        serve(engine)
