"""What is known about the request under way: its id, and a span where tracing is on."""

from __future__ import annotations

import contextvars
import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import orjson

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


class Tracer(Protocol):
    """The part of an OpenTelemetry tracer that is used here."""

    def start_as_current_span(self, name: str, *, attributes: dict[str, Any]) -> Any: ...


@contextmanager
def span(tracer: Tracer | None, name: str, attributes: dict[str, Any]) -> Iterator[None]:
    """A span around an operation, or nothing where tracing is off."""
    if tracer is None:
        yield
        return
    with tracer.start_as_current_span(name, attributes=attributes):
        yield


def opentelemetry_tracer() -> Tracer:
    """The tracer of the process's OpenTelemetry provider; the package must be installed."""
    from opentelemetry import trace

    tracer: Tracer = trace.get_tracer("keyfold")
    return tracer


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
