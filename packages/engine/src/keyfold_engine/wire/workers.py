"""Several worker processes on one port and one file, supervised by one that serves nothing itself.

They are for reads. Each also executes the writes it receives: SQLite has one writer at a time, so
the processes take turns on its lock.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable

from keyfold_engine.engine import Engine
from keyfold_engine.wire.listener import bind, tls_context
from keyfold_engine.wire.metrics import Metrics
from keyfold_engine.wire.server import run_worker
from keyfold_engine.wire.settings import ServeError, ServerSettings

HANG_SECONDS = 30.0
"""A loop that made no iteration for this long is considered hung; long work runs in threads."""
_WATCH_SECONDS = 0.1
_RESTART_SECONDS = 1.0
_STOPS = (signal.SIGTERM, signal.SIGINT)


def serve(settings: ServerSettings, on_ready: Callable[[int], None]) -> None:
    """Serve until SIGTERM or SIGINT; calls `on_ready` with the port once every worker listens."""
    settings.check()
    tls_context(settings)
    if settings.workers == 1:
        with bind(settings) as listener:
            run_worker(settings, listener, Metrics(), 0, on_ready)
        return
    # A shared port would silently let a second server in: first check that it is free.
    bind(settings).close()
    with bind(settings, shared=True) as reserved:
        settings = settings._replace(port=reserved.getsockname()[1])
        # Creates the file, and fails here once if it cannot be used.
        Engine.open(settings.data, durability=settings.durability).close()
        Workers(settings).run(on_ready)


class Workers:
    """Starts the workers, restarts dead ones, forwards the stop signal."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._metrics = Metrics(settings.workers)
        self._running: dict[int, int] = {}
        self._seen: dict[int, tuple[float, float]] = {}
        """The ticks of each process, and since when they are the same."""
        self._stopping = False
        self._lifeline = os.pipe()
        """Nothing is ever written: the workers see its end when this process has gone."""

    def run(self, on_ready: Callable[[int], None]) -> None:
        for number in _STOPS:
            signal.signal(number, lambda *_: self._stop())
        pipes = [self._start(worker) for worker in range(self._settings.workers)]
        ready = [_says_ready(pipe) for pipe in pipes]
        if all(ready):
            on_ready(self._settings.port)
        elif not self._stopping:
            self._stop()
            self._watch()
            raise ServeError("a worker did not start; see its error above")
        self._watch()

    def _start(self, worker: int) -> int:
        reader, writer = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        # Signals are blocked until either the worker is listed here or its own handler is
        # installed.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        process = os.fork()
        if process:
            self._running[process] = worker
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            os.close(writer)
            return reader
        for number in _STOPS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        os.close(reader)
        parent_gone, parent_alive = self._lifeline
        os.close(parent_alive)
        code = 1
        try:
            with bind(self._settings, shared=True) as listener:
                run_worker(
                    self._settings,
                    listener,
                    self._metrics,
                    worker,
                    lambda _: _say_ready(writer),
                    ends_with=parent_gone,
                )
            code = 0
        except Exception as error:
            print(f"keyfold: worker {worker}: {error}", file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _watch(self) -> None:
        while self._running:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                self._end_hanging()
                time.sleep(_WATCH_SECONDS)
                continue
            worker = self._running.pop(process, None)
            self._seen.pop(process, None)
            if worker is None or self._stopping:
                continue
            code = os.waitstatus_to_exitcode(status)
            print(f"keyfold: worker {worker} ended with {code}; starting it again", file=sys.stderr)
            time.sleep(_RESTART_SECONDS)
            if not self._stopping:
                os.close(self._start(worker))

    def _end_hanging(self) -> None:
        """Kill a worker whose loop is hung; it is then restarted."""
        now = time.monotonic()
        for process, worker in self._running.items():
            ticks = self._metrics.ticks(worker)
            seen, since = self._seen.get(process, (-1.0, now))
            if ticks != seen:
                self._seen[process] = ticks, now
            elif now - since > HANG_SECONDS and not self._stopping:
                print(f"keyfold: worker {worker} hangs; ending it", file=sys.stderr)
                self._seen[process] = ticks, now
                os.kill(process, signal.SIGKILL)

    def _stop(self) -> None:
        self._stopping = True
        for process in list(self._running):
            os.kill(process, signal.SIGTERM)


def _say_ready(writer: int) -> None:
    # Nothing waits for a restarted worker to be ready.
    with contextlib.suppress(BrokenPipeError):
        os.write(writer, b"1")
    os.close(writer)


def _says_ready(reader: int) -> bool:
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read(1) == b"1"
