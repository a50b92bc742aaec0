"""Processor time of one GetItem through each client, against one `keyfold serve`."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

from bench import load, peers
from bench.cases import typed
from bench.harness import Budget, Case, Outcome, Side, compare
from bench.items import TABLE, item, key
from bench.processor import one_core
from keyfold_engine.clients import AsyncClient, connect, connect_async

BATCH = 20
FLOOR = "a bare socket with prepared bytes"
SYNC = "client, GetItem"
REQUEST: dict[str, Any] = {"TableName": "bench", "Key": key(1)}


class Loop:
    """An event loop in this thread, for sides that are asynchronous."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def run(self, work: Callable[[], Awaitable[object]]) -> None:
        async def several() -> None:
            for _ in range(BATCH):
                await work()

        self.loop.run_until_complete(several())


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
    with one_core(), ExitStack() as stack:
        url = _server(stack)
        yield _sync(SYNC, url, stack, budget, "pydynox_client", "dyntastic_model")
        yield _async(url, stack, budget)
    with ExitStack() as stack:
        yield _sync(f"{SYNC}, client and server on two cores", _server(stack), stack, budget)


def _server(stack: ExitStack) -> str:
    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    url = f"http://127.0.0.1:{port}"
    client = connect(url)
    client.call("CreateTable", TABLE)
    client.call("PutItem", {"TableName": "bench", "Item": item(1)})
    client.close()
    typed.fill(url)
    return url


def _sync(title: str, url: str, stack: ExitStack, budget: Budget, *strangers: str) -> Outcome:
    import boto3

    client = connect(url)
    stack.callback(client.close)
    boto = boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="keyfold",
        aws_secret_access_key="keyfold",
    )
    missing: list[str] = []
    outcome = compare(
        "clients",
        title,
        [
            Side("keyfold", lambda: client.call("GetItem", REQUEST)),
            Side("boto3", lambda: boto.get_item(**REQUEST)),
            Side("PynamoDB", _pynamodb(url)),
            Side(FLOOR, _floor(url, stack)),
            *_strangers(stack, url, missing, *strangers),
        ],
        budget,
        reference="boto3",
        missing=missing,
    )
    # No client, but the least that any of them can take.
    outcome.figures[FLOOR] = f"{outcome.time(FLOOR):.1f} µs"
    outcome.rows = [row for row in outcome.rows if row.side != FLOOR]
    outcome.take_goal(5)
    outcome.in_readme = title == SYNC
    return outcome


def _async(url: str, stack: ExitStack, budget: Budget) -> Outcome:
    loop = Loop()
    ours = loop.loop.run_until_complete(_opened(url))
    stack.callback(lambda: loop.loop.run_until_complete(ours.close()))
    sides = [
        Side(
            "keyfold",
            lambda: loop.run(lambda: ours.call("GetItem", REQUEST)),
            operations=BATCH,
        )
    ]
    missing: list[str] = []
    try:
        sides += _aiodynamo(url, loop, stack)
    except ImportError as problem:
        missing.append(f"aiodynamo: {problem}")
    sides += _strangers(stack, url, missing, "pydynox_client_async")
    return compare(
        "clients",
        "client, GetItem, async",
        sides,
        budget,
        reference="aiodynamo" if len(sides) > 1 else "keyfold",
        factor=3,
        missing=missing,
    )


def _floor(url: str, stack: ExitStack) -> Callable[[], object]:
    """Sends prepared bytes and receives the answer, without looking at it."""
    port = int(url.rpartition(":")[2])
    (data,) = load.prepared("GetItem", [REQUEST])
    bare = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    bare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    room = bytearray(64 * 1024)

    def exchange() -> int:
        bare.sendall(data)
        return bare.recv_into(room)

    return exchange


async def _opened(url: str) -> AsyncClient:
    return connect_async(url)


def _aiodynamo(url: str, loop: Loop, stack: ExitStack) -> Iterator[Side]:
    """On each of the two HTTP clients that it can use."""
    from aiodynamo.client import Client
    from aiodynamo.credentials import Key, StaticCredentials
    from aiodynamo.http.aiohttp import AIOHTTP
    from aiodynamo.http.httpx import HTTPX
    from aiohttp import ClientSession
    from httpx import AsyncClient
    from yarl import URL

    async def session() -> ClientSession:
        return ClientSession()

    httpx, aiohttp = AsyncClient(), loop.loop.run_until_complete(session())
    stack.callback(lambda: loop.loop.run_until_complete(httpx.aclose()))
    stack.callback(lambda: loop.loop.run_until_complete(aiohttp.close()))
    wanted = {"PK": key(1)["PK"]["S"], "SK": key(1)["SK"]["S"]}
    credentials = StaticCredentials(Key("keyfold", "keyfold"))
    for name, http in (("aiodynamo", HTTPX(httpx)), ("aiodynamo on aiohttp", AIOHTTP(aiohttp))):
        table = Client(http, credentials, "us-east-1", URL(url)).table("bench")
        get = partial(table.get_item, wanted)
        yield Side(name, partial(loop.run, get), operations=BATCH)


def _pynamodb(url: str) -> Callable[[], object]:
    from pynamodb.connection import Connection

    connection = Connection(
        region="us-east-1",
        host=url,
        aws_access_key_id="keyfold",
        aws_secret_access_key="keyfold",
    )
    wanted = key(1)
    connection.describe_table("bench")
    return lambda: connection.get_item("bench", wanted["PK"]["S"], range_key=wanted["SK"]["S"])


def _strangers(stack: ExitStack, url: str, missing: list[str], *kinds: str) -> Iterator[Side]:
    """Peers in their own environments, on an item of the same size."""
    for kind in kinds:
        name = kind.partition("_")[0]
        try:
            peer = peers.Stranger(stack, name, kind, url)
        except peers.Missing as problem:
            missing.append(str(problem))
            continue
        yield Side(
            f"{name}, as a model" if kind.endswith("model") else name,
            partial(peer.processor, 1),
            elsewhere=peer.processor,
        )


CASES = [Case("clients", "Clients, processor time per request", run)]
