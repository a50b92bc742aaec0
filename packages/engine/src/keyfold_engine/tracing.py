"""What tells requests apart: their ids, log lines that have them, and a tracer."""

from __future__ import annotations

import contextvars
import logging
import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import orjson

from keyfold_engine.errors import KeyfoldError

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_SANE: Final = re.compile(r"[A-Za-z0-9._:-]{8,128}")
_current: contextvars.ContextVar[str] = contextvars.ContextVar("keyfold_instance", default="")


def new_instance(given: str | None = None) -> str:
    """Start a request: its id is the one a proxy gave, where that is sane, or a new one."""
    instance = given if given and _SANE.fullmatch(given) else uuid.uuid4().hex
    _current.set(instance)
    return instance


def instance() -> str:
    """The id of the request under way."""
    return _current.get()


def process_tracer(name: str) -> Tracer:
    """The tracer of this process.

    Where nobody has set up a provider, spans go by OTLP over HTTP to where
    `OTEL_EXPORTER_OTLP_ENDPOINT` says.
    """
    try:
        from opentelemetry import trace

        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            provider = TracerProvider()
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            trace.set_tracer_provider(provider)
    except ModuleNotFoundError as missing:
        raise KeyfoldError(
            f"tracing needs {missing.name}; install it with: pip install 'keyfold-engine[tracing]'"
        ) from None
    return trace.get_tracer(name)


def send_spans() -> None:
    """Send what waits to be sent; a process that a signal ends has no other chance."""
    from opentelemetry import trace

    flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush is not None:
        flush()


class JsonLines(logging.Formatter):
    """One JSON object per log record; what is passed as `extra={"fields": …}` is merged in."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if instance():
            line["instance"] = instance()
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()
