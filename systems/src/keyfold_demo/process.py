"""The running demo: one engine, the systems' pages on one port, DynamoDB's API on another."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from keyfold.errors import KeyfoldError
from keyfold_demo.customers import customers
from keyfold_demo.data import fill, incomplete_systems, open_data, renew
from keyfold_demo.examples import REGION, overview
from keyfold_demo.journal import Journal
from keyfold_demo.studio import example_values, former_system, studio_system
from keyfold_demo.systems import System, find_systems
from keyfold_demo.visitors import VisitorTokens
from keyfold_engine.addresses import open_port
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold_engine.wire import Server as DynamoDbServer
from keyfold_engine.wire import ServerSettings as DynamoDbSettings
from keyfold_web.app import ApiSettings as WebSettings
from keyfold_web.app import create_app
from keyfold_web.connections import BoundedConnection
from keyfold_web.consumers import following
from keyfold_web.exchange import BODY_BYTES
from keyfold_web.log import log_json_lines
from keyfold_workbench.studio import Gate, StudioSystem, create_studio

HOST = "127.0.0.1"
STUDIO = "/studio"
Say = Callable[[str], None]


@dataclass(frozen=True)
class DemoOptions:
    """The options of `keyfold demo`."""

    data: Path
    port: int
    dynamodb_port: int


def run_demo(options: DemoOptions, say: Say) -> None:
    """Serve until Ctrl-C; a second run reuses the data of the first."""
    web = open_port(HOST, options.port)
    dynamodb = open_port(HOST, options.dynamodb_port, option="--dynamodb-port")
    log_json_lines(logging.WARNING)
    with web, dynamodb, open_data(options.data) as engine:
        client = AsyncEmbeddedClient(engine)
        asyncio.run(_serve(client, find_systems(), web, dynamodb, options, say))


async def _serve(
    client: AsyncEmbeddedClient,
    systems: Sequence[System],
    web: socket.socket,
    dynamodb: socket.socket,
    options: DemoOptions,
    say: Say,
) -> None:
    new = await incomplete_systems(client, systems)
    for system in new:
        say(f"Filling {system.title} ...")
        say(f"  {await fill(client, system):,} items")
    formers = [system.before for system in systems if system.before is not None]
    for former in await incomplete_systems(client, formers):
        await fill(client, former)
    for system in systems:
        if system not in new:
            renew(client.engine, system)
    databases = [await system.design.open_async(client) for system in systems]
    services = [system.serve(db) for system, db in zip(systems, databases, strict=True)]
    people = {service.name: system.users for system, service in zip(systems, services, strict=True)}
    addresses = _address(web), _address(dynamodb)
    shown = EmbeddedClient(client.engine)
    studied = {
        service.name: studio_system(system, service, shown, options.data, addresses[1])
        for system, service in zip(systems, services, strict=True)
    }
    settings = WebSettings(
        development=True,
        tokens=VisitorTokens(one for those in people.values() for one in those),
        people=people,
        examples={name: partial(example_values, one) for name, one in studied.items()},
    )
    settings_of_server = DynamoDbSettings(
        data=str(options.data), durability="relaxed", region=REGION
    )
    database = DynamoDbServer(client.engine, settings_of_server).start(dynamodb)

    served = [(system, service.name) for system, service in zip(systems, services, strict=True)]
    app, gate, journal = create_app(services, settings), Gate(), Journal()
    app.router.routes[:0] = journal.routes()
    formers_shown = [
        former_system(system, system.before, shown, options.data, addresses[1])
        for system in systems
        if system.before is not None
    ]
    start_with_studio(app, [*studied.values(), *formers_shown], gate)
    start = f"{addresses[0]}{STUDIO}/?token={gate.token}"
    page = PageServer(app, lambda: say(overview(served, start, *addresses, options.data)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, page.stop)
    async with _running(database), following(databases, [journal]), customers(client, formers):
        await page.serve(sockets=[web])
    if not page.started:
        raise KeyfoldError("a system could not be started; see its error above")
    say("Stopped.")


@asynccontextmanager
async def _running(database: DynamoDbServer) -> AsyncIterator[None]:
    """The DynamoDB endpoint in its own thread; at the end it answers requests in progress."""
    running = asyncio.create_task(asyncio.to_thread(database.run))
    try:
        yield
    finally:
        database.stop()
        await running


def start_with_studio(app: Starlette, systems: Sequence[StudioSystem], gate: Gate) -> None:
    """Make the studio the start page; the services' index moves to /services."""

    async def start(_request: Request) -> Response:
        return RedirectResponse(f"{STUDIO}/", 303)

    own = app.router.routes
    index = next(route for route in own if isinstance(route, Route) and route.path == "/")
    own.remove(index)
    own[:0] = [
        Mount(STUDIO, create_studio(systems, gate)),
        Route("/", start),
        Route("/services", index.endpoint),
    ]


class PageServer(uvicorn.Server):
    """Uvicorn without log output and signal handlers: the demo stops both servers."""

    def __init__(self, app: Starlette, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_level="warning",
                log_config=None,
                http=BoundedConnection,
                ws_max_size=BODY_BYTES,
                timeout_graceful_shutdown=3,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    def stop(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"http://{host}:{port}"
