"""Metrics that only administrators see are read with a token."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from keyfold.cli import main

DESIGN = """
design: shop
tables: {Shop: {key: PK}}
entities:
  Order: {key: {PK: "ORDER#{id}"}, attributes: {id: string}}
"""


class Guarded(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = self.headers["Authorization"] == "Bearer the-token"
        self.send_response(200 if known else 401)
        self.end_headers()
        if known:
            self.wfile.write(b'keyfold_design_calls_total{name="create Order"} 1\n')

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def metrics() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
        server.shutdown()


@pytest.fixture
def record(tmp_path: Path, metrics: str) -> list[str]:
    (tmp_path / "shop.yaml").write_text(DESIGN)
    (tmp_path / "token").write_text("the-token\n")
    command = ["workload", "record", str(tmp_path / "shop.yaml"), "--backend", ":memory:"]
    return [*command, "--metrics", metrics, "--seconds", "0.01", "--every", "0.01"]


def test_metrics_are_read_with_a_token(record: list[str], tmp_path: Path) -> None:
    assert main([*record, "--token-file", str(tmp_path / "token")]) == 0


def test_a_server_may_answer_more_slowly_than_it_is_watched(
    record: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Guarded.do_GET

    def slowly(self: Guarded) -> None:
        time.sleep(0.1)
        answer(self)

    monkeypatch.setattr(Guarded, "do_GET", slowly)
    assert main([*record, "--token-file", str(tmp_path / "token")]) == 0


def test_without_one_the_remedy_is_named(
    record: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(record) == 2
    assert "give --token-file with an administrator's token" in capsys.readouterr().err


def test_a_token_that_cannot_be_read_is_named(
    record: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*record, "--token-file", str(tmp_path / "none")]) == 2
    assert "the token cannot be read" in capsys.readouterr().err
