from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from keyfold_engine.clients.credentials import ANY, CredentialsError, Refreshing, source
from keyfold_engine.clients.signer import Credentials


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return file


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    found = source(profile=None, is_amazon=True).ready()
    assert found == Credentials("AKIA", "secret", "token")


def test_a_server_that_is_not_amazons_gets_any_credentials() -> None:
    assert source(profile=None, is_amazon=False).ready() == ANY


def test_a_profile_is_read_by_botocore(no_credentials: Path) -> None:
    no_credentials.write_text("[work]\naws_access_key_id = W\naws_secret_access_key = s\n")
    found = source(profile="work", is_amazon=True)
    assert found.ready() is None
    assert found.load() == Credentials("W", "s", None)
    assert found.ready() == Credentials("W", "s", None)


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(CredentialsError, match="work"):
        source(profile="work", is_amazon=True)


def test_no_credentials_at_all_says_what_to_do() -> None:
    with pytest.raises(CredentialsError, match="aws configure"):
        source(profile=None, is_amazon=True).load()


def test_without_botocore_the_environment_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore.session", None)
    with pytest.raises(CredentialsError, match=r"pip install 'keyfold-engine\[aws\]'"):
        source(profile=None, is_amazon=True)


def test_temporary_credentials_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frozen:
        access_key, secret_key = "A", "s"

        def __init__(self, token: str) -> None:
            self.token = token

    class Session:
        tokens = iter(["first", "second"])

        def get_credentials(self) -> Session:
            return self

        def get_frozen_credentials(self) -> Frozen:
            return Frozen(next(self.tokens))

    moment = [1000.0]
    monkeypatch.setattr("keyfold_engine.clients.credentials.time.monotonic", lambda: moment[0])
    renewing = Refreshing(Session())
    assert renewing.load().token == "first"
    moment[0] += 30
    ready = renewing.ready()
    assert ready is not None
    assert ready.token == "first"
    moment[0] += 31
    assert renewing.ready() is None
    assert renewing.load().token == "second"


class _Role(BaseHTTPRequestHandler):
    """What a container's agent and an instance's metadata service answer."""

    def do_PUT(self) -> None:
        self._answer(b"a token for the session")

    def do_GET(self) -> None:
        if self.path.endswith("security-credentials/"):
            self._answer(b"the-role")
            return
        found = {
            "Code": "Success",
            "AccessKeyId": "ROLE",
            "SecretAccessKey": "s",
            "Token": "t",
            "Expiration": "2099-01-01T00:00:00Z",
        }
        self._answer(json.dumps(found).encode())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("variable", "path"),
    [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "/credentials"),
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "/"),
    ],
)
def test_a_role_is_taken_from_the_container_or_the_instance(
    monkeypatch: pytest.MonkeyPatch, variable: str, path: str
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Role) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
        monkeypatch.setenv(variable, f"http://127.0.0.1:{service.server_port}{path}")
        found = source(profile=None, is_amazon=True).load()
        service.shutdown()
    assert found == Credentials("ROLE", "s", "t")
