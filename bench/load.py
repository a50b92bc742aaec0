"""A load generator that costs little: prepared request bytes over a few open connections."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Any

import orjson


def prepared(port: int, operation: str, requests: Sequence[Any]) -> list[bytes]:
    """Requests as they go over the wire; servers that check signatures need other ones."""
    found = []
    for request in requests:
        body = orjson.dumps(request)
        head = (
            "POST / HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{port}\r\n"
            f"X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
            "Content-Type: application/x-amz-json-1.0\r\n"
            "Authorization: AWS4-HMAC-SHA256 Credential=keyfold/20250101/us-east-1/dynamodb/"
            "aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature="
            + "0"
            * 64
            + "\r\nX-Amz-Date: 20250101T000000Z\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        found.append(head.encode() + body)
    return found


class _Connection(asyncio.Protocol):
    """Sends the next request when an answer is complete."""

    def __init__(self, requests: itertools.cycle[bytes], stop_at: float, times: list[float]):
        self._requests, self._stop_at, self._times = requests, stop_at, times
        self._buffer = b""
        self.failed = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._send()

    def _send(self) -> None:
        self._started = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        at = head.find(b"content-length:")
        if at < 0:
            if b"chunked" in head and not self._buffer.endswith(b"0\r\n\r\n"):
                return
            length = len(self._buffer) - end - 4
        else:
            stop = head.find(b"\r\n", at)
            length = int(head[at + 15 : stop if stop > 0 else None])
        if len(self._buffer) - end - 4 < length:
            return
        now = time.perf_counter()
        self._times.append(now - self._started)
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self.failed += 1
        self._buffer = b""
        if now >= self._stop_at:
            self._transport.close()
            self.done.set_result(None)
        else:
            self._send()

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.done.done():
            self.failed += 1
            self.done.set_result(None)


def drive(port: int, requests: list[bytes], connections: int, seconds: float) -> dict[str, float]:
    """Answers a second, the slowest one in a hundred, and how many failed."""

    async def all_of_them() -> dict[str, float]:
        loop = asyncio.get_running_loop()
        source, times = itertools.cycle(requests), list[float]()
        started = time.perf_counter()
        opened = []
        for _ in range(connections):
            _, connection = await loop.create_connection(
                lambda: _Connection(source, started + seconds, times), "127.0.0.1", port
            )
            opened.append(connection)
        await asyncio.wait_for(asyncio.gather(*(one.done for one in opened)), seconds + 30)
        elapsed = time.perf_counter() - started
        times.sort()
        return {
            "per_second": len(times) / elapsed,
            "p99_ms": times[int(len(times) * 0.99)] * 1e3 if times else 0.0,
            "failed": float(sum(one.failed for one in opened)),
        }

    try:
        import uvloop
    except ImportError:
        return asyncio.run(all_of_them())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(all_of_them())
