"""`keyfold api`, as a command: what it logs, and what it says when it cannot listen."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyfold.cli import main

SERVICE = """
import logging
from typing import Any, ClassVar
from keyfold import Design
from keyfold_web import Service, anyone, authenticated, query
from keyfold_web.lambdas import LambdaHandler

design = Design("words")
design.table("Words")


class Words(Service):
    '''Words.'''

    design: ClassVar[Design] = design

    @query("/word", allow=anyone)
    async def word(self, length: int = 1) -> str:
        '''A word.'''
        return "a" * length

    @query("/mine", allow=authenticated)
    async def mine(self) -> str:
        '''My word.'''
        return "mine"

    @query("/failing", allow=anyone)
    async def failing(self) -> str:
        '''No word.'''
        logging.getLogger("words").warning("this will fail")
        raise RuntimeError("SECRET")

    @query("/undeclared", allow=anyone)
    async def undeclared(self) -> str:
        '''What is no word.'''
        wrong: Any = object()
        return wrong
"""
CODES = {
    "/word": "OK",
    "/word?length=x": "INVALID",
    "/mine": "NOT_AUTHENTICATED",
    "/failing": "INTERNAL",
}


@contextmanager
def serving(folder: Path, port: int, *options: str) -> Iterator[Path]:
    """The command, and its log."""
    log = folder / "log"
    command = [sys.executable, "-m", "keyfold", "api", "words_service", "--backend", "words.db"]
    with log.open("wb") as err:
        process = subprocess.Popen(
            [*command, "--port", str(port), *options], cwd=folder, stderr=err
        )
    try:
        deadline = time.monotonic() + 60
        while not answers(f"http://127.0.0.1:{port}/ready"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield log
    finally:
        process.terminate()
        process.wait(30)


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def lines_of(log: str) -> list[dict[str, Any]]:
    """Every line, as the JSON object that it is."""
    return [json.loads(line) for line in log.splitlines()]


@pytest.mark.parametrize(
    "options",
    [
        ["--development", "--workers", "2"],
        ["--issuer", "https://id.example", "--audience", "words"],
    ],
    ids=["development with workers", "issuer"],
)
def test_every_operation_and_failure_is_one_json_line_with_its_instance(
    tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "words_service.py").write_text(SERVICE)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ids = {}
    with serving(tmp_path, port, *options) as log:
        for path in (*CODES, "/undeclared"):
            answer = httpx.get(f"http://127.0.0.1:{port}/words{path}")
            ids[path] = answer.headers["x-request-id"]
            if answer.status_code == 500:
                assert answer.json()["instance"] == ids[path]
    lines = lines_of(log.read_text())
    operations = {one["instance"]: one for one in lines if "operation" in one}
    for path, code in CODES.items():
        line = operations[ids[path]]
        assert (line["code"], line["caller"], line["service"]) == (code, None, "words")
        assert line["milliseconds"] >= 0
    errors = {one["instance"]: one["error"] for one in lines if "error" in one}
    assert set(errors) == {ids["/failing"], ids["/undeclared"]}
    assert "RuntimeError: SECRET" in errors[ids["/failing"]]
    own = [one["instance"] for one in lines if one["logger"] == "words"]
    assert own == [ids["/failing"]]


def test_a_function_on_lambda_logs_the_same_lines(tmp_path: Path) -> None:
    (tmp_path / "words_service.py").write_text(SERVICE)
    http = {
        "rawPath": "/failing",
        "headers": {},
        "requestContext": {"http": {"method": "GET", "sourceIp": "10.0.0.1"}},
    }
    field = {"info": {"parentTypeName": "Query", "fieldName": "undeclared"}}
    script = f"""
import logging
logging.getLogger().addHandler(logging.NullHandler())  # as the runtime of Lambda has its own
import words_service
handler = words_service.LambdaHandler(words_service.Words, ":memory:")
print(handler({http!r})["headers"]["x-request-id"])
print(handler([{field!r}])[0]["errorType"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "AWS_LAMBDA_FUNCTION_NAME": "words"},
        capture_output=True,
        text=True,
        check=True,
    )
    instance, kind = done.stdout.split()
    assert kind == "INTERNAL"
    lines = lines_of(done.stderr)
    failed = {one["message"]: one["instance"] for one in lines if "error" in one}
    assert failed.pop("failing failed") == instance
    assert failed.pop("undeclared failed") not in ("", instance)
    coded = [(one["operation"], one["code"]) for one in lines if "code" in one]
    assert coded == [("failing", "INTERNAL"), ("undeclared", "OK")]


def test_a_port_in_use_is_named_before_an_address_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words_of_port.py").write_text(SERVICE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = ["api", "words_of_port", "--backend", "words.db", "--development"]
        assert main([*command, "--port", port]) == 2
    printed = capsys.readouterr()
    assert f"cannot listen on 127.0.0.1 port {port}" in printed.err
    assert "choose another: --port NUMBER" in printed.err
    assert printed.out == ""
