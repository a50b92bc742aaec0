"""Every trouble that a backend can be in, and a client that meets it."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from keyfold.errors import (
    InternalFailure,
    Throttled,
    TransactionConflict,
    TransactionInProgress,
    TransportError,
    VersionConflict,
)
from keyfold_engine.clients import AsyncClient, Client, ClientOptions, connect, connect_async
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clients.retry import RetryPolicy
from keyfold_engine.clock import SystemClock
from keyfold_engine.engine import Engine, Faults
from keyfold_engine.wire import BackgroundServer

T = TypeVar("T")

REFUSALS: Final = (Throttled, TransactionConflict, TransactionInProgress, VersionConflict)
"""Nothing was done: try again."""
LOST: Final = (TransportError, InternalFailure)
"""Whether it was done is unknown."""
PASSING: Final = (*REFUSALS, *LOST)
PATIENCE: Final = 400
HURRY: Final = 100


class HurriedClock:
    """Seconds that last ten milliseconds, so that nobody waits for leases and cool partitions."""

    def __init__(self) -> None:
        self._real, self._start = time.monotonic(), SystemClock().now()

    def now(self) -> float:
        return self._start + self.monotonic()

    def monotonic(self) -> float:
        return HURRY * (time.monotonic() - self._real)


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, and how often."""

    faults: Mapping[str, Any] = field(default_factory=dict)
    partition_units: int | None = None
    """Units that one partition key takes in a second, instead of DynamoDB's thousands."""
    drops: float = 0.0
    """How often a connection ends instead of taking a request, or of bringing its answer."""

    @contextmanager
    def engine(self, path: Path, seed: int) -> Iterator[Engine]:
        faults = Faults(seed=seed, hot_keys=self.partition_units is not None, **self.faults)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("PARTITION_READ_UNITS", "PARTITION_WRITE_UNITS"):
                if self.partition_units is not None:
                    patch.setattr(f"keyfold_engine.engine.faults.{name}", self.partition_units)
            with Engine.open(
                path, durability="memory", faults=faults, clock=HurriedClock()
            ) as engine:
                yield engine

    @contextmanager
    def client(self, path: Path, seed: int) -> Iterator[Client]:
        with self.engine(path, seed) as engine, self.connected(engine, seed) as client:
            yield client

    @contextmanager
    def connected(self, engine: Engine, seed: int) -> Iterator[Client]:
        if not self.drops:
            yield EmbeddedClient(engine)
            return
        with BackgroundServer(engine) as server, Droppy(server.port, self.drops, seed) as line:
            client = connect(line.url, _ONE_ATTEMPT)
            yield client
            client.close()

    @asynccontextmanager
    async def async_client(self, path: Path, seed: int) -> AsyncIterator[AsyncClient]:
        with self.engine(path, seed) as engine:
            if not self.drops:
                yield AsyncEmbeddedClient(engine)
                return
            with BackgroundServer(engine) as server, Droppy(server.port, self.drops, seed) as line:
                client = connect_async(line.url, _ONE_ATTEMPT)
                yield client
                await client.close()


_ONE_ATTEMPT: Final = ClientOptions(retries=RetryPolicy(attempts=1))

TROUBLES: Final[dict[str, Trouble]] = {
    "throttling": Trouble({"throttle": 0.1}),
    "hot partitions": Trouble(partition_units=12),
    "conflicts": Trouble({"conflict": 0.15}),
    "unprocessed": Trouble({"unprocessed": 0.5}),
    "latency": Trouble({"latency": (0.0, 0.002)}),
    "commit, then timeout": Trouble({"lose_answer": 0.1}),
    "dropped connections": Trouble(drops=0.03),
    "all of them": Trouble(
        {"throttle": 0.05, "conflict": 0.05, "unprocessed": 0.3, "lose_answer": 0.02}, 40, 0.01
    ),
}

in_every_trouble = pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)


def insistently(work: Callable[[], T], until_it_passes: tuple[type[Exception], ...] = PASSING) -> T:
    """The result of work that may be done twice, tried again while trouble lasts."""
    for _ in range(PATIENCE):
        try:
            return work()
        except until_it_passes:
            time.sleep(0.0005)
    raise AssertionError(f"{PATIENCE} attempts were not enough")


class Droppy:
    """A line to a server on which connections end: before a request, or before its answer."""

    def __init__(self, port: int, drops: float, seed: int) -> None:
        self._port, self._drops, self._chance = port, drops, random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> Droppy:
        self._thread.start()
        starting = asyncio.start_server(self._carry, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            await asyncio.gather(self._pass(reader, onward), self._pass(there, writer))
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, onward):
                end.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(2**20):
            if self._chance.random() < self._drops:
                raise EOFError
            sink.write(data)
            await sink.drain()
        raise EOFError
