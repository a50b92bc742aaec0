"""Operations as OpenTelemetry's own SDK records them."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from keyfold import Design, Entity, Id, Index, Key, On, create
from keyfold_engine.clients import connect
from keyfold_web import Missing, Service, anyone, mutation, query
from keyfold_web.app import ApiSettings, create_app

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLER = {"traceparent": f"00-{TRACE}-{PARENT}-01"}

design = Design("notes")
table = design.table("Notes", indexes=[Index("ByAuthor", "author", "note")])


class Note(Entity, table=table):
    note_id: Id
    author_id: str

    key = Key("NOTE#{note_id}", "METADATA")
    by_author = On("ByAuthor", "AUTHOR#{author_id}", "NOTE#{note_id}")


class Notes(Service):
    design: ClassVar[Design] = design

    @query("/notes/{note_id}", allow=anyone)
    async def note(self, note_id: str) -> Note:
        """A note."""
        if note_id == "broken":
            raise RuntimeError("the disk is on fire")
        if (found := await self.db.find(Note.key(note_id=note_id))) is None:
            raise Missing()
        return found

    @mutation("/notes/{note_id}", method="PUT", allow=anyone)
    async def write(self, note_id: str, author_id: str) -> None:
        """A new note, and a copy of it."""
        copy = Note(note_id=f"{note_id}-copy", author_id=author_id)
        await self.db.transact(create(Note(note_id=note_id, author_id=author_id)), create(copy))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def site(exporter: InMemorySpanExporter) -> AsyncIterator[httpx.AsyncClient]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    async with await design.open_async(":memory:") as db:
        await db.create(Note(note_id="a", author_id="ada"))
        app = create_app([Notes(db)], ApiSettings(tracer=provider.get_tracer("keyfold")))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


def spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {one.name: one for one in exporter.get_finished_spans()}


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_an_operation_is_a_span_with_its_requests_under_it(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter
) -> None:
    assert (await site.get("/notes/notes/a")).status_code == 200
    made = spans(exporter)
    assert set(made) == {"note", "GetItem Notes"}
    operation, request = made["note"], made["GetItem Notes"]
    assert (operation.kind, request.kind) == (SpanKind.SERVER, SpanKind.CLIENT)
    assert operation.parent is None
    assert operation.context is not None
    assert request.parent is not None
    assert request.parent.span_id == operation.context.span_id
    assert attributes(operation) == {
        "keyfold.service": "notes",
        "keyfold.operation": "note",
        "keyfold.surface": "rest",
        "keyfold.code": "OK",
    }
    assert attributes(request) == {
        "db.system.name": "aws.dynamodb",
        "db.operation.name": "GetItem",
        "aws.dynamodb.table_names": ("Notes",),
        "keyfold.consumed_units": 1.0,
    }


async def test_a_transaction_names_its_tables_and_what_it_consumed(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter
) -> None:
    assert (await site.put("/notes/notes/b", json={"authorId": "bob"})).status_code == 204
    found = attributes(spans(exporter)["TransactWriteItems Notes"])
    assert found["aws.dynamodb.table_names"] == ("Notes",)
    assert found["keyfold.consumed_units"] >= 4


@pytest.mark.parametrize("surface", ["rest", "graphql"])
async def test_the_callers_trace_goes_on(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter, surface: str
) -> None:
    if surface == "rest":
        await site.get("/notes/notes/a", headers=CALLER)
    else:
        asked = {"query": '{ note(noteId: "a") { authorId } }'}
        await site.post("/notes/graphql", json=asked, headers=CALLER)
    made = spans(exporter)
    assert {f"{one.context.trace_id:032x}" for one in made.values() if one.context} == {TRACE}
    operation = made["note"]
    assert operation.parent is not None
    assert f"{operation.parent.span_id:016x}" == PARENT
    assert attributes(operation)["keyfold.surface"] == surface
    assert not get_current_span().get_span_context().is_valid


async def test_what_went_wrong_here_is_recorded_with_its_error(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter
) -> None:
    assert (await site.get("/notes/notes/broken")).status_code == 500
    span = spans(exporter)["note"]
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == attributes(span)["keyfold.code"] == "INTERNAL"
    (event,) = span.events
    assert (event.attributes or {})["exception.message"] == "the disk is on fire"


async def test_what_the_caller_got_wrong_is_no_error_of_the_operation(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter
) -> None:
    assert (await site.get("/notes/notes/z")).status_code == 404
    span = spans(exporter)["note"]
    assert span.status.status_code is StatusCode.UNSET
    assert attributes(span)["keyfold.code"] == "NOT_FOUND"
    assert not span.events


async def test_a_refused_request_to_the_backend_says_by_which_error(
    site: httpx.AsyncClient, exporter: InMemorySpanExporter
) -> None:
    assert (await site.put("/notes/notes/a", json={"authorId": "eve"})).status_code == 409
    request = spans(exporter)["TransactWriteItems Notes"]
    assert request.status.status_code is StatusCode.ERROR
    assert attributes(request)["error.type"] == "TransactionCanceled"


class Collector(BaseHTTPRequestHandler):
    """Takes spans as an OpenTelemetry collector does."""

    received: ClassVar[list[ExportTraceServiceRequest]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.received.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def collector() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


API = ("api", "keyfold_systems.inviter.service", "--development", "--backend", ":memory:")
WIRE = ("serve", "--data", ":memory:")


@pytest.mark.parametrize(
    ("command", "name"), [(API, "user"), (WIRE, "DynamoDB.ListTables")], ids=["api", "serve"]
)
def test_a_collector_gets_the_spans_of_a_command(
    collector: str, tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    Collector.received.clear()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "keyfold", *command, "--tracing", "--port", str(port)],
        cwd=tmp_path,
        env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        transport = httpx.HTTPTransport(retries=8)
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(transport=transport, base_url=url, timeout=30) as client:
            if command is API:
                token = client.post("/sign-in", json={"user": "ada"}).json()["token"]
                headers = {"authorization": f"Bearer {token}"}
                assert client.get("/inviter/users/ada", headers=headers).status_code == 404
            else:
                client.get("/")
                with closing(connect(url)) as dynamodb:
                    dynamodb.call("ListTables", {})
    finally:
        process.terminate()
        process.wait(30)
    received = [
        span.name
        for request in Collector.received
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert name in received
