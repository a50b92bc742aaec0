"""What somebody hears of a service that is on a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import orjson
from tests.systems.conftest import Web

PATIENCE = 20


@asynccontextmanager
async def heard(
    web: Web, who: str, query: str, **variables: Any
) -> AsyncIterator[asyncio.Queue[Any]]:
    """What somebody hears over server-sent events; it has begun when this does."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    headers = {"authorization": f"Bearer {web.token(who)}", "accept": "text/event-stream"}
    body = {"query": query, "variables": variables}

    async def read(answer: httpx.Response) -> None:
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                queue.put_nowait(orjson.loads(line.removeprefix("data: ")))

    async with (
        httpx.AsyncClient(timeout=30) as client,
        client.stream("POST", f"{web.base}/graphql", json=body, headers=headers) as answer,
    ):
        reading = asyncio.create_task(read(answer))
        yield queue
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


async def next_of(queue: asyncio.Queue[Any]) -> Any:
    """What is heard next."""
    return await asyncio.wait_for(queue.get(), PATIENCE)


async def until(queue: asyncio.Queue[Any], wanted: dict[str, Any]) -> None:
    """Listen until this is heard."""
    async with asyncio.timeout(PATIENCE):
        while (await queue.get()).get("data") != wanted:
            pass


async def refusal(queue: asyncio.Queue[Any]) -> str:
    """Why nothing is heard."""
    code: str = (await next_of(queue))["errors"][0]["extensions"]["code"]
    return code
