from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keyfold_engine.clients.signer import Credentials
from keyfold_engine.wire import ServeError, ServerSettings
from keyfold_engine.wire.settings import read_credentials


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_this_machine_needs_no_credentials(host: str) -> None:
    ServerSettings(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.10", "db.example.org"])
def test_any_other_address_needs_credentials_or_insistence(host: str) -> None:
    open_to_others = ServerSettings(host=host)
    with pytest.raises(ServeError, match="--credentials FILE"):
        open_to_others.check()
    open_to_others._replace(credentials=(Credentials("A", "s"),)).check()
    open_to_others._replace(insecure_bind=True).check()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dialect": "klingon"}, "unknown dialect 'klingon'"),
        ({"port": 70000}, "port 70000"),
        ({"workers": 0}, "--workers must be at least 1"),
        ({"tls_key": Path("key.pem")}, "both --tls-cert and --tls-key"),
    ],
)
def test_what_cannot_work_is_explained(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ServeError, match=message):
        ServerSettings(**wrong).check()


def test_credentials_are_read_as_aws_tools_keep_them(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text(
        "[default]\naws_access_key_id = A\naws_secret_access_key = s/+=%x\n"
        "[other]\naws_access_key_id = B\naws_secret_access_key = t\naws_session_token = u=\n"
    )
    users = "arn:aws:iam::123456789012:user"
    assert read_credentials(file, {}) == (
        Credentials("A", "s/+=%x", None, f"{users}/default"),
        Credentials("B", "t", "u=", f"{users}/other"),
    )


def test_a_credentials_file_says_whose_a_key_is(tmp_path: Path) -> None:
    role = "arn:aws:iam::999999999999:role/reporter"
    file = tmp_path / "credentials"
    file.write_text(f"[r]\naws_access_key_id = A\naws_secret_access_key = s\nprincipal = {role}\n")
    assert read_credentials(file, {}) == (Credentials("A", "s", None, role),)


def test_credentials_come_from_the_environment_too() -> None:
    found = read_credentials(None, {"KEYFOLD_CREDENTIALS": "A:s:x, B:t"})
    users = "arn:aws:iam::123456789012:user"
    assert found == (
        Credentials("A", "s:x", None, f"{users}/A"),
        Credentials("B", "t", None, f"{users}/B"),
    )
    assert read_credentials(None, {}) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "has no credentials"),
        (b"[a]\naws_access_key_id = A\n", r"\[a\] needs aws_access_key_id and"),
        (b"not ini", "is not a credentials file"),
        (b"\xff\xfe", "is not a credentials file"),
    ],
)
def test_a_wrong_credentials_file_is_explained(tmp_path: Path, text: bytes, message: str) -> None:
    file = tmp_path / "credentials"
    file.write_bytes(text)
    with pytest.raises(ServeError, match=message):
        read_credentials(file, {})


def test_a_missing_credentials_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServeError, match=r"cannot read credentials from .*none"):
        read_credentials(tmp_path / "none", {})


def test_a_wrong_credentials_variable_is_explained() -> None:
    with pytest.raises(ServeError, match="ACCESS_KEY:SECRET"):
        read_credentials(None, {"KEYFOLD_CREDENTIALS": "just-a-key"})


def test_regions_are_served_by_one_worker() -> None:
    ServerSettings(regions=True).check()
    with pytest.raises(ServeError, match="--regions needs --workers 1"):
        ServerSettings(regions=True, workers=2).check()
