"""One worker: an engine, an event loop and the listening socket."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, Self

from keyfold.clock import Clock, SystemClock
from keyfold.engine import Engine, operations, shapes
from keyfold.engine.item_cache import HotItems, Marks
from keyfold.engine.policies.principal import HOME_ACCOUNT
from keyfold.engine.sweeper import Sweeper
from keyfold.limits import MB
from keyfold.wire.front import FrontDoor
from keyfold.wire.log import RequestLines, RequestLog, SpanLog
from keyfold.wire.metrics import Metrics
from keyfold.wire.protocol import Connection
from keyfold.wire.registry import ConnectionRegistry
from keyfold.wire.settings import ServeError, ServerSettings
from keyfold.wire.tls import TlsListener, tls_context

_TICK_SECONDS = 1.0
_SWEEP_SECONDS = 10.0
# More of them would only keep the loop waiting longer for its turn: there is one interpreter.
_SLOW_THREADS = 2
_BACKLOG = 1024
_SWITCH_SECONDS = 0.0005
# glibc's names and numbers; each thread's heap keeps this much at its end.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 8 * MB


class Listener(Protocol):
    """What takes connections until it is closed."""

    def close(self) -> None: ...


class Server:
    """Serves one engine on one socket until it is drained."""

    def __init__(
        self,
        engine: Engine,
        settings: ServerSettings,
        *,
        metrics: Metrics | None = None,
        clock: Clock | None = None,
        sweeps: bool = True,
    ) -> None:
        self._engine, self._settings = engine, settings
        self._metrics = metrics or Metrics()
        self._clock = clock or SystemClock()
        self._sweeps = sweeps
        self._sweeper: Sweeper | None = None
        self._logs = _request_logs(settings, self._clock)
        waits_for_disk = settings.data != ":memory:" and settings.durability == "full"
        self._writer = ThreadPoolExecutor(1, "keyfold-writer") if waits_for_disk else None
        self._threads = ThreadPoolExecutor(_SLOW_THREADS, "keyfold-slow")
        self._registry: ConnectionRegistry
        self._listener: Listener
        self._ticking: asyncio.Task[None]
        self.port = settings.port

    async def start(self, listener: socket.socket | None = None) -> Self:
        """Listen; on a socket that is already bound, or on the host and port of the settings."""
        loop = asyncio.get_running_loop()
        front = FrontDoor(
            self._engine,
            self._settings,
            self._metrics,
            self._clock,
            self._logs,
            loop=loop,
            writer=self._writer,
            threads=self._threads,
        )
        self._registry = ConnectionRegistry(front, self._settings.clients, self._metrics)
        self._registry.now = loop.time()
        listener = listener or bind(self._settings)
        tls = tls_context(self._settings)
        if tls is None:
            self._listener = await loop.create_server(
                lambda: Connection(self._registry), sock=listener, backlog=_BACKLOG
            )
        else:
            self._listener = TlsListener(self._registry, listener, tls, _BACKLOG)
        self.port = listener.getsockname()[1]
        self._engine.endpoint = f"{self._settings.host}:{self.port}"
        self._ticking = asyncio.create_task(self._tick_forever())
        if self._sweeps:
            self._sweeper = Sweeper(self._engine, _SWEEP_SECONDS)
        return self

    async def drain(self) -> None:
        """Stop listening, answer what is under way, close."""
        self._listener.close()
        self._registry.drain()
        deadline = asyncio.get_running_loop().time() + self._settings.clients.drain_seconds
        while self._registry.open and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.01)
        self._ticking.cancel()
        await asyncio.gather(self._ticking, return_exceptions=True)
        if self._sweeper is not None:
            self._sweeper.stop()
        for connection in list(self._registry.open):
            connection.expire()
        for pool in (self._writer, self._threads):
            if pool is not None:
                await asyncio.to_thread(pool.shutdown)
        for log in self._logs:
            log.close()

    async def _tick_forever(self) -> None:
        loop = asyncio.get_running_loop()
        background: asyncio.Future[None] | None = None
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            self._registry.tick(loop.time())
            self._metrics.tick()
            # Beside the loop, and not behind long requests.
            if background is None:
                background = loop.run_in_executor(None, _settle)
            elif background.done() and self._registry.is_calm_again():
                background = loop.run_in_executor(None, _return_memory)
            for log in self._logs:
                log.flush()


def _settle() -> None:
    """Load what the start could do without, and have the allocator keep little.

    What is loaded in the middle of large requests lies between their objects for ever, and
    CPython gives back only megabytes in which nothing is left.
    """
    operations.load_all()
    shapes.compile_all()
    _c_library("mallopt", _M_TRIM_THRESHOLD, _KEPT_BYTES)
    # Else it would follow the threshold for trimming: large answers would be mapped each time.
    _c_library("mallopt", _M_MMAP_THRESHOLD, 2 * _KEPT_BYTES)


def _return_memory() -> None:
    """Give the system back what large requests have left, which the allocator would keep."""
    # TLS leaves cycles; what was there at the start is frozen and not looked at.
    gc.collect()
    # CPython 3.11 keeps a new string here for nearly every `case Name(field)` that it meets: each
    # of thousands holds the megabyte in which it was made.
    sys._clear_type_cache()
    _c_library("malloc_trim", 0)


def _c_library(function: str, *arguments: int) -> None:
    """Call a function of glibc; elsewhere nothing happens."""
    import ctypes

    found = getattr(ctypes.CDLL(None), function, None)
    if found is not None:
        found(*arguments)


def bind(settings: ServerSettings, *, shared: bool = False) -> socket.socket:
    """A socket bound to the settings' host and port; `shared` with other workers."""
    try:
        # As bytes: of text, Python would load its tables for names in all scripts.
        host = settings.host.encode() if settings.host.isascii() else settings.host
        found = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise ServeError(f"no address for host {settings.host}: {error.strerror}") from error
    listener = socket.socket(found[0], socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind(found[4])
    except OSError as error:
        listener.close()
        raise ServeError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
            "stop what uses it or choose another with --port"
        ) from error
    return listener


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
    marks: Marks | None = None,
) -> None:
    """Serve in this process until SIGTERM or SIGINT, or until the pipe `ends_with` ends.

    `marks` are those of workers that share memory.
    """
    metrics.work_as(worker)

    async def serve(engine: Engine) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        if ends_with is not None:
            loop.add_reader(ends_with, stop.set)
        server = Server(engine, settings, metrics=metrics, sweeps=worker == 0)
        await server.start(listener)
        # Requests make no cycles worth looking for in what start-up left behind.
        gc.freeze()
        gc.enable()
        gc.set_threshold(20_000, 50, 50)
        # A thread with long work gives way to the loop this soon.
        sys.setswitchinterval(_SWITCH_SECONDS)
        on_ready(server.port)
        await stop.wait()
        if ends_with is not None:
            loop.remove_reader(ends_with)
        await server.drain()

    options: dict[str, Any] = {
        "durability": settings.durability,
        "dialect": settings.dialect,
        "buckets": settings.buckets,
        "kinesis": settings.kinesis,
        "delays": settings.delays,
    }
    if settings.accounts:
        from keyfold.engine.replication import Accounts

        with Accounts(settings.data, **options) as accounts:
            loop_runner()(serve(accounts.engine(HOME_ACCOUNT, settings.region)))
        return
    if settings.regions:
        from keyfold.engine.replication import Regions

        with Regions(settings.data, **options) as regions:
            loop_runner()(serve(regions.engine(settings.region)))
        return
    hot = None if marks is None else HotItems(marks, worker)
    with Engine.open(settings.data, region=settings.region, hot=hot, **options) as engine:
        loop_runner()(serve(engine))


def loop_runner() -> Callable[..., None]:
    """uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run
