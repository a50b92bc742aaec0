"""Log lines of operations."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from keyfold_engine.tracing import JsonLines, instance, new_instance
from keyfold_web import ANONYMOUS, Identity, Missing, Service, Tokens
from keyfold_web.app import ApiSettings, create_app
from keyfold_web.dispatch import Caller, Dispatch


async def test_an_operation_is_logged_as_one_json_line_with_the_request_id(
    clubs: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keyfold_web")
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


class BrokenTokens(Tokens):
    async def identity(self, token: str) -> Identity:
        raise RuntimeError("SECRET")


async def test_what_goes_wrong_with_a_token_is_in_the_log(
    clubs: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keyfold_web")
    app = create_app([clubs], ApiSettings(tokens=BrokenTokens()))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"authorization": "Bearer x"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers
    ) as web:
        assert (await web.get("/clubs/clubs/go")).status_code == 500
    lines = [json.loads(JsonLines().format(one)) for one in caplog.records]
    assert any("RuntimeError: SECRET" in one.get("error", "") for one in lines)
    assert [one["code"] for one in lines if "operation" in one] == ["INTERNAL"]


def test_an_id_that_could_forge_log_lines_is_replaced() -> None:
    for odd in ("", "short", "x" * 200, 'a"b' * 5, "line\nbreak-in-it"):
        assert new_instance(odd) != odd
