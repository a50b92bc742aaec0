"""The request log: one JSON line per answer."""

from __future__ import annotations

import sys
from typing import Protocol

import orjson

from keyfold_engine.clock import Clock


class RequestLog(Protocol):
    """Receives every answer."""

    def write(
        self, request_id: str, operation: str, status: int, sent: int, seconds: float
    ) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class RequestLines:
    """Writes whole lines, buffered until `flush` to save system calls."""

    def __init__(self, target: str, clock: Clock) -> None:
        self._out = sys.stdout.buffer if target == "-" else open(target, "ab")  # noqa: PTH123, SIM115
        self._clock = clock
        self._lines: list[bytes] = []

    def write(
        self, request_id: str, operation: str, status: int, sent: int, seconds: float
    ) -> None:
        self._lines.append(
            orjson.dumps(
                {
                    "time": round(self._clock.now(), 6),
                    "request_id": request_id,
                    "operation": operation,
                    "status": status,
                    "bytes": sent,
                    "seconds": round(seconds, 6),
                }
            )
        )

    def flush(self) -> None:
        if self._lines:
            self._out.write(b"\n".join(self._lines) + b"\n")
            self._out.flush()
            self._lines.clear()

    def close(self) -> None:
        self.flush()
        if self._out is not sys.stdout.buffer:
            self._out.close()


class SpanLog:
    """Answers as OpenTelemetry spans, through the process's provider."""

    def __init__(self, clock: Clock) -> None:
        from keyfold_engine.tracing import process_tracer

        self._tracer = process_tracer("keyfold_engine.wire")
        from opentelemetry.trace import SpanKind

        self._kind = SpanKind.SERVER
        self._clock = clock

    def write(
        self, request_id: str, operation: str, status: int, sent: int, seconds: float
    ) -> None:
        ended = self._clock.now()
        span = self._tracer.start_span(
            f"DynamoDB.{operation}",
            kind=self._kind,
            start_time=int((ended - seconds) * 1e9),
            attributes={
                "db.system.name": "aws.dynamodb",
                "db.operation.name": operation,
                "aws.request_id": request_id,
                "http.response.status_code": status,
                "http.response.body.size": sent,
            },
        )
        span.end(int(ended * 1e9))

    def flush(self) -> None:
        """Nothing to do: spans have their own exporter."""

    def close(self) -> None:
        """Nothing to do: the provider belongs to the process."""
