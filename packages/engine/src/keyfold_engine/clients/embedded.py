"""The engine in this process as a client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import orjson

from keyfold_engine.engine import Engine
from keyfold_engine.engine.commit_group import Result, Writes
from keyfold_engine.engine.lane import WouldStall
from keyfold_engine.engine.sweeper import Sweeper
from keyfold_engine.errors import SerializationError
from keyfold_engine.operations import OPERATIONS, STREAMS, WRITES, Runner

if TYPE_CHECKING:
    import asyncio

_THREADS: Final = 4
# Reading by key takes less time than switching to a thread and back.
_QUICK: Final = (
    frozenset(row.name for row in OPERATIONS.values() if row.runner is Runner.INLINE) - STREAMS
) | {"DescribeTable"}


class _Embedded:
    def __init__(self, engine: Engine, sweeper: Sweeper | None = None) -> None:
        self.engine, self._sweeper = engine, sweeper

    def on_commit(self, tell: Callable[[], None]) -> Callable[[], None]:
        return self.engine.on_commit(tell)

    def _close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.stop()
        self.engine.close()


class EmbeddedClient(_Embedded):
    """Calls an engine and closes it at the end."""

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        return self.engine.call(operation, _plain(request))

    def close(self) -> None:
        self._close()


class AsyncEmbeddedClient(_Embedded):
    """Calls an engine without blocking the event loop: blocking work runs in threads.

    Concurrent writes of several tasks share a commit and a thread switch.
    """

    def __init__(self, engine: Engine, sweeper: Sweeper | None = None) -> None:
        super().__init__(engine, sweeper)
        self._inline = _QUICK | WRITES if engine.path == ":memory:" else _QUICK
        self._threads = ThreadPoolExecutor(_THREADS, "keyfold-engine")
        self._commits = ThreadPoolExecutor(1, "keyfold-commits")
        self._gathered: tuple[asyncio.AbstractEventLoop, Writes] | None = None

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        plain = _plain(request)
        if operation in self._inline:
            return self.engine.call(operation, plain)
        import asyncio

        loop = asyncio.get_running_loop()
        if operation in WRITES:
            return await self._write(loop, operation, plain)
        return await loop.run_in_executor(self._threads, self.engine.call, operation, plain)

    async def _write(
        self, loop: asyncio.AbstractEventLoop, operation: str, request: dict[str, Any]
    ) -> dict[str, Any]:
        if self._gathered is None or self._gathered[0] is not loop:
            self._gathered = loop, Writes(self.engine, loop, self._commits)
        try:
            body = orjson.dumps(request)
        except orjson.JSONEncodeError:
            raise SerializationError("The request has text that is not valid Unicode") from None
        done: asyncio.Future[Result] = loop.create_future()

        def settle(result: Result) -> None:
            if not done.done():
                done.set_result(result)

        self._gathered[1].submit(operation, body, settle)
        result = await done
        if isinstance(result, WouldStall):
            return await loop.run_in_executor(self._threads, self.engine.call, operation, request)
        if isinstance(result, Exception):
            raise result
        answer: dict[str, Any] = orjson.loads(result) if result else {}
        return answer

    async def close(self) -> None:
        import asyncio

        for threads in (self._threads, self._commits):
            await asyncio.to_thread(threads.shutdown)
        self._close()


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    return request if isinstance(request, dict) else dict(request)
