"""The logs of a server: one JSON line per answer, and what went wrong with data files."""

from __future__ import annotations

import logging
import sys
from time import monotonic
from typing import Protocol

import orjson

from keyfold_engine.clock import Clock
from keyfold_engine.errors import StorageError

_LOGGER = logging.getLogger(__name__)
_QUIET_SECONDS = 10.0


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


class TroubleLog:
    """Logs each kind of error at once, then at most every ten seconds."""

    def __init__(self) -> None:
        self._told: dict[type[StorageError], float] = {}
        self._untold = 0

    def note(self, request_id: str, error: StorageError) -> None:
        now, kind = monotonic(), type(error)
        if now - self._told.get(kind, -_QUIET_SECONDS) < _QUIET_SECONDS:
            self._untold += 1
            return
        more = f" ({self._untold} more requests failed since the last line)" if self._untold else ""
        _LOGGER.error("request %s failed: %s%s", request_id, error, more)
        self._told[kind], self._untold = now, 0

    @staticmethod
    def note_fault(request_id: str, error: Exception) -> None:
        """Log an unexpected error each time, with its traceback."""
        _LOGGER.error("request %s failed", request_id, exc_info=error)
