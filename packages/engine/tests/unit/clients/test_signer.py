from __future__ import annotations

import hmac
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import botocore.auth
import botocore.awsrequest
import botocore.credentials
from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold_engine.clients.signer import CONTENT_TYPE, Credentials, Signer, SigningKey

ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=","))


def as_headers(lines: bytes) -> dict[str, str]:
    pairs = (line.split(": ", 1) for line in lines.decode().split("\r\n") if line)
    return dict(pairs)


def botocore_authorization(sent: dict[str, str], credentials: Credentials, body: bytes) -> str:
    """The reference: what botocore would have signed for the same request at the same time."""
    moment = datetime.strptime(sent["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    request: Any = botocore.awsrequest.AWSRequest(
        "POST",
        f"https://{sent['Host']}/",
        data=body,
        headers={
            "Host": sent["Host"],
            "Content-Type": CONTENT_TYPE,
            "X-Amz-Target": sent["X-Amz-Target"],
        },
    )
    auth = botocore.auth.SigV4Auth(
        botocore.credentials.Credentials(*credentials), "dynamodb", "eu-west-1"
    )
    with patch("botocore.auth.get_current_datetime", return_value=moment):
        auth.add_auth(request)
    return str(request.headers["Authorization"])


@settings(max_examples=60)
@given(
    access=ASCII.filter(lambda text: text and "/" not in text),
    secret=ASCII.filter(bool),
    token=st.none() | ASCII.filter(bool),
    body=st.binary(max_size=200),
    now=st.integers(0, 4_000_000_000),
)
def test_signatures_are_those_of_botocore(
    access: str, secret: str, token: str | None, body: bytes, now: int
) -> None:
    credentials = Credentials(access, secret, token)
    target = "DynamoDB_20120810.GetItem"
    signer = Signer("dynamodb.eu-west-1.amazonaws.com", "eu-west-1", target)
    sent = as_headers(signer.headers(credentials, body, now))
    assert sent["Authorization"] == botocore_authorization(sent, credentials, body)


def test_a_new_second_is_signed_anew() -> None:
    signer = Signer("localhost", "us-east-1", "X.Y")
    first = signer.headers(Credentials("a", "b"), b"{}", 1_700_000_000.2)
    assert first == signer.headers(Credentials("a", "b"), b"{}", 1_700_000_000.9)
    assert first != signer.headers(Credentials("a", "b"), b"{}", 1_700_000_001.0)


def test_other_credentials_are_signed_with_at_once() -> None:
    signer = Signer("localhost", "us-east-1", "X.Y")
    first = signer.headers(Credentials("a", "b"), b"{}", 1_700_000_000.2)
    renewed = signer.headers(Credentials("a", "b", "token"), b"{}", 1_700_000_000.2)
    assert b"X-Amz-Security-Token: token\r\n" in renewed
    assert signer.headers(Credentials("a", "b"), b"{}", 1_700_000_000.2) == first


@given(key=st.binary(max_size=64), text=st.binary(max_size=300))
def test_a_signing_key_signs_as_hmac_does(key: bytes, text: bytes) -> None:
    assert SigningKey(key).signature(text) == hmac.digest(key, text, "sha256").hex()


def test_a_secret_never_shows() -> None:
    assert "hush" not in repr(Credentials("AKIA", "hush", "token"))
