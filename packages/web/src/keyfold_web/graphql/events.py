"""GraphQL over server-sent events: each answer is an event, the last one says `complete`.

This is the graphql-sse protocol in distinct connections mode: one request, one stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Final

import orjson
from starlette.types import Receive, Send

EVENT_STREAM: Final = "text/event-stream"
STREAMS: Final = "keyfold.streams"
"""Marks the scope of a request with a streaming answer."""
ALIVE_SECONDS: Final = 15.0
"""Seconds without an event after which a keep-alive comment is sent."""
_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


async def send_events(
    receive: Receive, send: Send, answers: AsyncGenerator[dict[str, Any], None]
) -> None:
    """Send answers as events until the last one, or until the client disconnects."""
    sending = asyncio.create_task(_send_all(send, answers))
    leaving = asyncio.create_task(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)
        await answers.aclose()


async def _send_all(send: Send, answers: AsyncGenerator[dict[str, Any], None]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    # From here on the client knows that it misses nothing.
    await _send(send, b":\n\n")
    coming = asyncio.ensure_future(anext(answers, None))
    try:
        while True:
            await asyncio.wait({coming}, timeout=ALIVE_SECONDS)
            if not coming.done():
                await _send(send, b":\n\n")
                continue
            if (answer := coming.result()) is None:
                break
            await _send(send, b"event: next\ndata: " + orjson.dumps(answer) + b"\n\n")
            coming = asyncio.ensure_future(anext(answers, None))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
    await _send(send, b"event: complete\ndata: \n\n")
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
