"""A database for one test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, TypedDict, Unpack

from keyfold.errors import KeyfoldError
from keyfold.runtime import AsyncDb, Db, Design
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, Faults
from keyfold_engine.suggestion import nearest

START = datetime(2026, 1, 1, 12, tzinfo=UTC)

Request = tuple[str, Mapping[str, Any]]


class FaultOptions(TypedDict, total=False):
    """How often requests meet each fault; see `keyfold_engine.engine.Faults`."""

    seed: int
    throttle: float
    rate_exceeded: float
    limit_exceeded: float
    hot_keys: bool
    conflict: float
    unprocessed: float
    latency: tuple[float, float]
    lose_answer: float


class Sandbox:
    """An in-memory engine with a manual clock, and designs opened on it.

    `requests` lists every request of the opened designs, in order: the operation and its body.
    """

    def __init__(
        self,
        *,
        start: datetime = START,
        index_lag: float | tuple[float, float] | Literal["held"] | None = None,
        **faults: Unpack[FaultOptions],
    ) -> None:
        known = ("start", "index_lag", *FaultOptions.__annotations__)
        for name in sorted(faults.keys() - set(known)):
            raise TypeError(f"unknown argument {name!r}; {nearest(name, known)}")
        if not isinstance(start, datetime):
            raise TypeError(f"start is a datetime: {start!r}")
        self.clock = ManualClock(start.timestamp())
        self.engine = Engine.open(
            ":memory:",
            clock=self.clock,
            index_lag=index_lag,
            faults=Faults(**faults) if faults else None,
        )
        self.requests: list[Request] = []
        self._clients: list[_AsyncRecorder] = []

    def open(self, design: Design) -> Db:
        """Open a design in the sandbox; a loop of single reads is an error here."""
        return design.open(_Recorder(self), clock=self.clock, on_loop="raise")

    async def open_async(self, design: Design) -> AsyncDb:
        """Open a design in the sandbox for an event loop."""
        client = _AsyncRecorder(self)
        self._clients.append(client)
        return await design.open_async(client, clock=self.clock, on_loop="raise")

    def items(self, table: str) -> list[dict[str, Any]]:
        """Everything a table holds, as stored."""
        return list(self.engine.call("Scan", {"TableName": table})["Items"])

    def close(self) -> None:
        """Close it; in a running event loop use `aclose`."""
        if self._clients:
            if _in_event_loop():
                raise KeyfoldError(
                    "a sandbox opened in an event loop must be closed there: use "
                    "`async with Sandbox() as sandbox`, or `await sandbox.aclose()`"
                )
            asyncio.run(self._close_clients())
        self.engine.close()

    async def aclose(self) -> None:
        """Close it in a running event loop."""
        await self._close_clients()
        self.engine.close()

    async def _close_clients(self) -> None:
        for client in self._clients:
            await client.close()
        self._clients.clear()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Recorder(EmbeddedClient):
    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox.engine)
        self._requests = sandbox.requests

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self._requests.append((operation, request))
        return super().call(operation, request)


class _AsyncRecorder(AsyncEmbeddedClient):
    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox.engine)
        self._requests = sandbox.requests

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        self._requests.append((operation, request))
        return await super().call(operation, request)
