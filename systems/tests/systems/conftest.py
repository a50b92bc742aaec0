"""Where the systems' tests run: on our engine, or on the server that an address names.

`KEYFOLD_SYSTEMS_ADDRESS=http://127.0.0.1:8000 pytest systems/tests/systems/inviter` does so there.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Literal

import httpx
import pytest
import uvicorn

from keyfold_engine.clients import AsyncClient, connect_async
from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.operations import READS
from keyfold_engine.wire import BackgroundServer
from keyfold_web import Service
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.development import DevelopmentTokens

pytest.register_assert_rewrite(
    "tests.systems.access", "tests.systems.patterns", "tests.systems.repeats"
)

ADDRESS = os.environ.get("KEYFOLD_SYSTEMS_ADDRESS")
INDEX_LAG = float(os.environ.get("KEYFOLD_SYSTEMS_INDEX_LAG", "0"))
"""Seconds that the indexes of that server are behind; reads of them wait as long after a write."""


class Recorder:
    """A client that keeps every request, without the prefix of its tables' names."""

    def __init__(
        self, client: AsyncClient, table: str, engine: Engine | None = None, prefix: str = ""
    ) -> None:
        self._client, self._table, self.engine = client, table, engine
        self.prefix = prefix
        self.requests: list[tuple[str, Mapping[str, Any]]] = []
        self._written = 0.0

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        kept = _without(self.prefix, request) if self.prefix else request
        self.requests.append((operation, kept))
        if "IndexName" in request:
            await asyncio.sleep(max(0.0, self._written + INDEX_LAG - time.monotonic()))
        answer = await self._client.call(operation, request)
        if operation not in READS:
            self._written = time.monotonic()
        return answer

    async def close(self) -> None:
        await self._client.close()

    def catch_up(self) -> None:
        """Let lagging indexes see everything that was written."""
        if self.engine is not None:
            self.engine.release_indexes()

    async def items(self) -> list[dict[str, Any]]:
        """All that is in the system's table, by key."""
        found: list[dict[str, Any]] = []
        request: dict[str, Any] = {"TableName": f"{self.prefix}{self._table}"}
        while True:
            answer = await self._client.call("Scan", request)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return sorted(found, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _without(prefix: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name.removeprefix(prefix): _without(prefix, one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without(prefix, one) for one in value]
    return value.removeprefix(prefix) if isinstance(value, str) else value


BACKENDS = ["embedded", "http"] if ADDRESS is None else ["address"]
IndexLag = float | tuple[float, float] | Literal["held"] | None


@asynccontextmanager
async def recording(
    table: str, clock: ManualClock, *, backend: str = BACKENDS[0], index_lag: IndexLag = None
) -> AsyncIterator[Recorder]:
    """A recorder on an empty backend: our engine, the same over HTTP, or the server elsewhere."""
    client: AsyncClient
    if backend == "address":
        client = connect_async(ADDRESS or "")
        while names := (await client.call("ListTables", {}))["TableNames"]:
            for name in names:
                await client.call("DeleteTable", {"TableName": name})
        yield Recorder(client, table)
        await client.close()
        return
    with Engine.open(":memory:", clock=clock, index_lag=index_lag) as engine, ExitStack() as stack:
        client = AsyncEmbeddedClient(engine)
        if backend == "http":
            client = connect_async(stack.enter_context(BackgroundServer(engine)).url)
        yield Recorder(client, table, engine)
        await client.close()


@pytest.fixture(params=BACKENDS)
async def everywhere(
    request: pytest.FixtureRequest, clock: ManualClock, table: str
) -> AsyncIterator[Recorder]:
    """A recorder on every backend there is; a system says its `clock` and its `table`."""
    async with recording(table, clock, backend=request.param) as opened:
        yield opened


class Web:
    """A service behind real HTTP, used by several people at once."""

    def __init__(self, base: str, tokens: DevelopmentTokens) -> None:
        self.base, self._tokens = base, tokens
        self._people: dict[str, httpx.AsyncClient] = {}

    def __getitem__(self, user: str) -> httpx.AsyncClient:
        """What this person's browser sends with."""
        if user not in self._people:
            headers = {"authorization": f"Bearer {self.token(user)}"} if user else {}
            self._people[user] = httpx.AsyncClient(base_url=self.base, headers=headers, timeout=30)
        return self._people[user]

    def token(self, user: str) -> str:
        """A token of somebody, in the groups that stand behind a colon."""
        name, *groups = user.split(":")
        return self._tokens.issue(name, *groups)

    async def close(self) -> None:
        for one in self._people.values():
            await one.aclose()


@asynccontextmanager
async def served(service: Service) -> AsyncIterator[Web]:
    """The service on a socket of its own."""
    tokens = DevelopmentTokens()
    app = create_app([service], ApiSettings(tokens=tokens, on_loop="raise"))
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=3)
    )
    listening = socket.create_server(("127.0.0.1", 0))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    web = Web(f"http://127.0.0.1:{listening.getsockname()[1]}/{service.name}", tokens)
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield web
    finally:
        await web.close()
        server.should_exit = True
        await running
        listening.close()
