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
    """Sends the next request when an answer is complete; `closed` is set when it is over."""

    def __init__(self, requests: itertools.cycle[bytes], stop_at: float, times: list[float]):
        self._requests, self._stop_at, self._times = requests, stop_at, times
        self._buffer = b""
        self.failed = 0
        self.answered = 0
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._send()

    def _send(self) -> None:
        self._started = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end >= 0 and self._is_complete(self._buffer[:end].lower(), len(self._buffer) - end - 4):
            self._answered()

    def _is_complete(self, head: bytes, received: int) -> bool:
        at = head.find(b"content-length:")
        if at < 0:
            return b"chunked" in head and self._buffer.endswith(b"0\r\n\r\n")
        stop = head.find(b"\r\n", at)
        return received >= int(head[at + 15 : stop if stop > 0 else None])

    def _answered(self) -> None:
        now = time.perf_counter()
        self._times.append(now - self._started)
        self.answered += 1
        if self._buffer[9:10] != b"2":
            self.failed += 1
        closing = b"connection: close" in self._buffer[:1000].lower()
        self._buffer = b""
        if now >= self._stop_at or closing:
            self._transport.close()
        else:
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._buffer:
            self._answered()
        elif not self.answered:
            self.failed += 1
        if not self.closed.done():
            self.closed.set_result(None)


def drive(port: int, requests: list[bytes], connections: int, seconds: float) -> dict[str, float]:
    """Answers a second, the slowest one in a hundred, and how many failed."""

    async def all_of_them() -> dict[str, float]:
        loop = asyncio.get_running_loop()
        source, times = itertools.cycle(requests), list[float]()
        started = time.perf_counter()
        failed = 0

        async def one() -> None:
            nonlocal failed
            # Servers that close after an answer are connected to again.
            while time.perf_counter() < started + seconds and failed < 1000:
                _, connection = await loop.create_connection(
                    lambda: _Connection(source, started + seconds, times), "127.0.0.1", port
                )
                await asyncio.wait([connection.closed], timeout=seconds + 10)
                failed += connection.failed

        await asyncio.gather(*(one() for _ in range(connections)))
        elapsed = time.perf_counter() - started
        times.sort()
        return {
            "per_second": len(times) / elapsed,
            "p99_ms": times[int(len(times) * 0.99)] * 1e3 if times else 0.0,
            "failed": float(failed),
        }

    try:
        import uvloop
    except ImportError:
        return asyncio.run(all_of_them())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(all_of_them())
