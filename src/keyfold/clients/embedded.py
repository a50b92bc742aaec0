"""The engine in this process as a client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from keyfold.engine import Engine

_THREADS: Final = 4
# A key's read takes less time than the way to a thread and back.
_QUICK: Final = frozenset(
    {"GetItem", "Query", "BatchGetItem", "TransactGetItems", "DescribeTable", "ListTables"}
)
_WRITES: Final = frozenset(
    {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
)


class EmbeddedClient:
    """Calls an engine and closes it at the end."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self.engine.call(operation, _plain(request))

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        return self.engine.on_commit(tell)

    def close(self) -> None:
        self.engine.close()


class AsyncEmbeddedClient:
    """Calls an engine without holding up the event loop: what may wait runs in threads.

    Writes of several tasks meet in the engine and share their commits.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._inline = _QUICK | _WRITES if engine.path == ":memory:" else _QUICK
        self._threads = ThreadPoolExecutor(_THREADS, "keyfold-engine")

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        plain = _plain(request)
        if operation in self._inline:
            return self.engine.call(operation, plain)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.engine.call, operation, plain)

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        return self.engine.on_commit(tell)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.close()


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    return request if isinstance(request, dict) else dict(request)
