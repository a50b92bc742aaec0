"""Spans and log lines of operations."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from keyfold.serve import ANONYMOUS, Missing, Service
from keyfold.serve.dispatch import Caller, Dispatch
from keyfold.serve.tracing import JsonLines, instance, new_instance, opentelemetry_tracer


class Recorder:
    """A tracer that keeps the names of its spans."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any]]] = []

    @contextmanager
    def start_as_current_span(self, name: str, *, attributes: dict[str, Any]) -> Iterator[None]:
        self.spans.append((name, attributes))
        yield


async def test_each_operation_is_a_span_where_tracing_is_on(clubs: Service) -> None:
    recorder = Recorder()
    dispatch = Dispatch(clubs, tracer=recorder)
    operation = clubs.operations["club"]
    await dispatch.call(operation, lambda: {"club_id": "chess"}, Caller(ANONYMOUS), "rest")
    assert recorder.spans == [("club", {"keyfold.service": "clubs"})]


async def test_opentelemetry_is_used_where_it_is_installed(clubs: Service) -> None:
    dispatch = Dispatch(clubs, tracer=opentelemetry_tracer())
    operation = clubs.operations["club"]
    club = await dispatch.call(operation, lambda: {"club_id": "chess"}, Caller(ANONYMOUS), "rest")
    assert club.club_id == "chess"


async def test_an_operation_is_logged_as_one_json_line_with_the_request_id(
    clubs: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keyfold.serve")
    given = new_instance("from-the-proxy-1")
    assert given == instance() == "from-the-proxy-1"
    with pytest.raises(Missing):
        await Dispatch(clubs).call(
            clubs.operations["club"], lambda: {"club_id": "go"}, Caller(ANONYMOUS), "rest"
        )
    line = json.loads(JsonLines().format(caplog.records[-1]))
    assert line["instance"] == "from-the-proxy-1"
    assert (line["operation"], line["code"], line["caller"]) == ("club", "NOT_FOUND", None)


async def test_what_went_wrong_inside_is_in_the_log_only(
    clubs: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(RuntimeError):
        await Dispatch(clubs).call(
            clubs.operations["fail"],
            lambda: {"kind": "unforeseen"},
            Caller(ANONYMOUS.of("root", "admin")),
            "rest",
        )
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "RuntimeError: SECRET" in json.loads(JsonLines().format(errors[0]))["error"]


def test_an_id_that_could_forge_log_lines_is_replaced() -> None:
    for odd in ("", "short", "x" * 200, 'a"b' * 5, "line\nbreak-in-it"):
        assert new_instance(odd) != odd
