"""A server in a thread of this process, for tests and for programs that bring their own."""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self

from keyfold.engine import Engine
from keyfold.wire.server import Server, loop_runner
from keyfold.wire.settings import ServerSettings


class BackgroundServer:
    """Serves an engine while the `with` block lasts.

    with BackgroundServer(engine) as server:
        boto3.client("dynamodb", endpoint_url=server.url, ...)
    """

    def __init__(self, engine: Engine, settings: ServerSettings | None = None) -> None:
        self._engine = engine
        self._settings = settings or ServerSettings(port=0)
        self._thread = threading.Thread(target=self._run, name="keyfold-server", daemon=True)
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.port = 0

    @property
    def url(self) -> str:
        scheme = "https" if self._settings.tls_certificate else "http"
        return f"{scheme}://{self._settings.host}:{self.port}"

    def __enter__(self) -> Self:
        self._settings.check()
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            loop_runner()(self._serve())
        except BaseException as error:
            self._failure = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await Server(self._engine, self._settings).start()
        self.port = server.port
        self._started.set()
        await self._stop.wait()
        await server.drain()
