from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer, ServeError, Server, ServerSettings


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter


def test_a_request_is_a_span(serve: Any, spans: InMemorySpanExporter) -> None:
    asker = serve(ServerSettings(tracing=True))
    reply = asker.call("ListTables", {})
    (span,) = spans.get_finished_spans()
    assert span.name == "DynamoDB.ListTables"
    assert span.kind is trace.SpanKind.SERVER
    assert span.attributes is not None
    assert span.attributes["aws.request_id"] == reply.headers["x-amzn-requestid"]
    assert span.attributes["http.response.status_code"] == 200
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.start_time <= span.end_time


def test_a_log_that_cannot_be_written_is_explained(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ServeError, match="cannot write the request log"):
        Server(engine, ServerSettings(request_log=str(tmp_path / "none" / "log")))


def test_the_log_is_whole_when_the_server_has_stopped(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        BackgroundServer(engine, ServerSettings(port=0, request_log=str(log))) as server,
        socket.create_connection(("127.0.0.1", server.port)) as client,
    ):
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 0\r\n\r\n"
        )
        assert client.recv(65536)
    assert b'"operation":"Unknown","status":400' in log.read_bytes()
