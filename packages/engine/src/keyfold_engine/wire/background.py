"""A server in a thread of this process, for tests and embedding programs."""

from __future__ import annotations

import threading
from typing import Self

from keyfold_engine.engine import Engine
from keyfold_engine.wire.server import Server
from keyfold_engine.wire.settings import ServerSettings


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
        self._server: Server
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

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._server = Server(self._engine, self._settings).start()
            self.port = self._server.port
            self._started.set()
            self._server.run()
        except BaseException as error:
            self._failure = error
        finally:
            self._started.set()
