"""Serving from the command line: options that are passed to worker processes, and the
application.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from keyfold.errors import KeyfoldError
from keyfold.migrations.plan_file import find
from keyfold.runtime.cursor import VARIABLE
from keyfold.streams.effect import Effects
from keyfold_engine.addresses import is_loopback
from keyfold_engine.tracing import process_tracer, send_spans
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.auth import JwksTokens, Tokens
from keyfold_web.connections import BoundedConnection
from keyfold_web.consumers import following
from keyfold_web.cors import cross_origin
from keyfold_web.development import DevelopmentTokens
from keyfold_web.exchange import BODY_BYTES
from keyfold_web.log import log_json_lines
from keyfold_web.metrics import MetricRegistry
from keyfold_web.ratelimit import RateLimit
from keyfold_web.service import Service
from keyfold_web.target import load_service

_TO_WORKERS: Final = "_KEYFOLD_API"
SHUTDOWN_SECONDS: Final = 10
RATE: Final = 20.0
BURST_SECONDS: Final = 10
SWITCH_SECONDS: Final = 0.0001


@dataclass(frozen=True)
class ApiOptions:
    """The options of `keyfold api`."""

    targets: list[str]
    backend: str
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    reload: bool = False
    table_prefix: str = ""
    table_names: Mapping[str, str] = field(default_factory=dict)
    migrations: list[str] = field(default_factory=list)
    """The migrations that the services follow, as named on the command line."""
    development_key: str | None = None
    issuer: str | None = None
    audience: str | None = None
    jwks: str | None = None
    admin_group: str = "admin"
    rate: float | None = None
    burst: int | None = None
    cursor_secret: str = ""
    origins: list[str] = field(default_factory=list)
    tracing: bool = False
    open_pages: bool = False
    metrics_folder: str | None = None
    consume: bool | None = None
    """Whether to follow the streams too; by default on an embedded engine only."""

    @property
    def allowed_rate(self) -> float:
        """Requests per second and caller; 0 without a limit, which is the default in
        development.
        """
        if self.rate is None:
            return RATE if self.development_key is None else 0.0
        return self.rate

    @property
    def makes_tables(self) -> bool:
        """Whether to create missing tables: on a developer's own server."""
        local = self.backend.startswith("http://") and not self.migrations
        return local and self.development_key is not None

    @property
    def consumes(self) -> bool:
        return "://" not in self.backend if self.consume is None else self.consume

    def check(self) -> None:
        """Refuse unsafe or impossible options."""
        if self.development_key is not None and not is_loopback(self.host):
            raise KeyfoldError(
                f"--development issues tokens to anyone, so it cannot listen on {self.host}; "
                "use 127.0.0.1, or --issuer and --audience"
            )
        secret = self.cursor_secret or os.environ.get(VARIABLE)
        if self.development_key is None and "://" in self.backend and not secret:
            raise KeyfoldError(
                f"Set {VARIABLE} or --cursor-secret-file: processes on {self.backend} must share "
                "one secret for cursors"
            )
        if not 1 <= self.port <= 65535:
            raise KeyfoldError(f"Invalid port {self.port}: choose 1 to 65535.")
        if self.workers < 1:
            raise KeyfoldError(f"--workers must be at least 1, not {self.workers}.")
        if self.workers > 1 and self.reload:
            raise KeyfoldError("--reload runs one process; remove --workers")
        if self.rate is not None and self.rate < 0:
            raise KeyfoldError(f"--rate must be at least 0, not {self.rate:g}.")
        if self.burst is not None and self.burst < 1:
            raise KeyfoldError(f"--burst must be at least 1, not {self.burst}.")
        if self.burst is not None and not self.rate:
            raise KeyfoldError("--burst needs --rate, the requests a second that refill it")
        if self.workers > 1 and self.backend == ":memory:":
            raise KeyfoldError("workers cannot share :memory:; use a file as --backend")
        cross_origin(self.origins)
        kinds = [load_service(target) for target in self.targets]
        if len(kinds) != len(set(kinds)):
            raise KeyfoldError(f"a service is named twice: {' '.join(self.targets)}")
        issued = self.issuer is not None and self.audience is not None
        if not issued and self.development_key is None:
            raise KeyfoldError(
                "Set --issuer and --audience of your tokens, or --development for tokens of this "
                "machine"
            )


def targets_without_consumer(options: ApiOptions) -> list[str]:
    """Targets whose streams must be followed, but not by this server."""
    if options.consumes:
        return []
    return [one for one in options.targets if Effects(load_service(one).design).needed]


def run(options: ApiOptions) -> None:
    """Serve until stopped; requests in progress are finished."""
    options.check()
    log_json_lines()
    with tempfile.TemporaryDirectory(prefix="keyfold-") as folder:
        sent = {**asdict(options), "metrics_folder": folder}
        os.environ[_TO_WORKERS] = orjson.dumps(sent).decode()
        uvicorn.run(
            "keyfold_web.process:application",
            factory=True,
            host=options.host,
            port=options.port,
            workers=options.workers if options.workers > 1 else None,
            reload=options.reload,
            access_log=False,
            log_config=None,  # what uvicorn logs is JSON too
            log_level="warning",
            http=BoundedConnection,
            ws_max_size=BODY_BYTES,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )


def application() -> Application:
    """The application of each worker."""
    log_json_lines()
    end_with_parent()
    return Application(ApiOptions(**orjson.loads(os.environ[_TO_WORKERS])))


class Application:
    """Opens the databases in the server's event loop, then becomes the application."""

    def __init__(self, options: ApiOptions) -> None:
        self._options = options
        self._app: Starlette | None = None
        self._open = AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            assert self._app is not None
            await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._start()
        except Exception as error:
            await self._open.aclose()
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._open.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        if self._options.tracing:
            self._open.push_async_callback(asyncio.to_thread, send_spans)
        services = [await self._service(target) for target in self._options.targets]
        if self._options.consumes:
            followed = following([one.db for one in services])
            await self._open.enter_async_context(followed)
        self._app = create_app(services, _settings(self._options))
        await self._open.enter_async_context(self._app.router.lifespan_context(self._app))
        # Freeze start-up objects: collecting them would delay requests by 30 ms each time.
        gc.collect()
        gc.freeze()
        # The committing thread yields at each statement, and would wait 5 ms for its turn.
        sys.setswitchinterval(SWITCH_SECONDS)

    async def _service(self, target: str) -> Service:
        options, kind = self._options, load_service(target)
        db = await kind.design.open_async(
            options.backend,
            table_prefix=options.table_prefix,
            table_names=options.table_names,
            create_tables=options.makes_tables or None,
            cursor_secret=options.cursor_secret,
            on_undecodable="log",
            migration=[find(plan) for plan in options.migrations],
        )
        self._open.push_async_callback(db.close)
        return cast("Any", kind)(db)  # type: ignore[no-any-return]


def _settings(options: ApiOptions) -> ApiSettings:
    tokens: Tokens | None = None
    if options.development_key is not None:
        tokens = DevelopmentTokens(options.development_key)
    elif options.issuer is not None and options.audience is not None:
        issuer, audience = options.issuer, options.audience
        url = options.jwks or f"{issuer.rstrip('/')}/.well-known/jwks.json"
        tokens = JwksTokens(url, issuer=issuer, audience=audience, admin_group=options.admin_group)
    limit = None
    if rate := options.allowed_rate:
        limit = RateLimit(rate, options.burst or max(1, int(rate * BURST_SECONDS)))
    return ApiSettings(
        development=options.development_key is not None,
        open_pages=options.open_pages,
        tokens=tokens,
        limit=limit,
        origins=options.origins,
        registry=MetricRegistry(Path(options.metrics_folder) if options.metrics_folder else None),
        tracer=process_tracer("keyfold") if options.tracing else None,
    )


def end_with_parent() -> None:
    """Exit when the supervisor is killed: an orphaned worker would hold the port for ever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="keyfold-parent", daemon=True).start()
