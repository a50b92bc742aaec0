from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest

from keyfold_engine.clients import ClientOptions, connect
from keyfold_engine.clients.credentials import FixedCredentials
from keyfold_engine.clients.signer import Credentials
from keyfold_engine.errors import InvalidSignature, UnrecognizedClient
from keyfold_engine.wire import ServerSettings

ALICE = Credentials("ALICE", "wonderland")
VISITOR = Credentials("VISITOR", "guest", "token+/=")
GUARDED = ServerSettings(credentials=(ALICE, VISITOR))
Sign = Callable[..., bytes]


@pytest.fixture
def guarded(serve: Any) -> Any:
    return serve(GUARDED)


def ask(asker: Any, sign: Sign, credentials: Credentials = ALICE, later: float = 0) -> Any:
    return asker.raw(sign(credentials, asker.port, "ListTables", b"{}", time.time() + later))


def test_a_right_signature_comes_in(guarded: Any, sign: Sign) -> None:
    assert ask(guarded, sign).json == {"TableNames": ["Things"]}


def test_our_client_signs_what_our_server_verifies(guarded: Any) -> None:
    url = f"http://127.0.0.1:{guarded.port}"
    client = connect(url, ClientOptions(credentials=FixedCredentials(ALICE)))
    assert client.call("ListTables", {}) == {"TableNames": ["Things"]}
    client.close()
    stranger = connect(
        url, ClientOptions(credentials=FixedCredentials(Credentials("ALICE", "guess")))
    )
    with pytest.raises(InvalidSignature):
        stranger.call("ListTables", {})
    stranger.close()


def test_a_signature_off_by_one_character_is_refused(guarded: Any, sign: Sign) -> None:
    data = sign(ALICE, guarded.port, "ListTables", b"{}", time.time())
    place = data.index(b"Signature=") + len(b"Signature=")
    for offset in (0, 31, 63):
        at = place + offset
        other = b"0" if data[at : at + 1] != b"0" else b"1"
        reply = guarded.raw(data[:at] + other + data[at + 1 :])
        assert reply.status == 400
        assert reply.json["__type"] == "com.amazon.coral.service#InvalidSignatureException"
        assert reply.json["message"].startswith(
            "The request signature we calculated does not match the signature you provided."
        )


def test_temporary_credentials_need_their_session_token(guarded: Any, sign: Sign) -> None:
    assert ask(guarded, sign, VISITOR).status == 200
    for token in (None, "token", "token+/=x"):
        reply = ask(guarded, sign, VISITOR._replace(token=token))
        assert reply.status == 400
        assert reply.json == {
            "__type": "com.amazon.coral.service#UnrecognizedClientException",
            "message": "The security token included in the request is invalid.",
        }
    assert ask(guarded, sign, ALICE._replace(token="token+/=")).status == 400


def test_a_session_token_changed_on_the_way_is_refused(guarded: Any, sign: Sign) -> None:
    data = sign(VISITOR, guarded.port, "ListTables", b"{}", time.time())
    assert guarded.raw(data.replace(b"token+/=", b"other+/=")).status == 400


def test_a_body_changed_on_the_way_is_refused(guarded: Any, sign: Sign) -> None:
    data = sign(ALICE, guarded.port, "ListTables", b'{"Limit": 1}', time.time())
    assert guarded.raw(data).status == 200
    assert guarded.raw(data.replace(b'"Limit": 1', b'"Limit": 2')).status == 400


def test_a_target_changed_on_the_way_is_refused(guarded: Any, sign: Sign) -> None:
    data = sign(ALICE, guarded.port, "ListTables", b"{}", time.time())
    assert guarded.raw(data.replace(b".ListTables", b".DescribeTable")).status == 400


def test_an_unknown_key_is_refused(guarded: Any, sign: Sign) -> None:
    url = f"http://127.0.0.1:{guarded.port}"
    client = connect(
        url, ClientOptions(credentials=FixedCredentials(Credentials("BOB", "builder")))
    )
    with pytest.raises(UnrecognizedClient, match="The security token included in the request"):
        client.call("ListTables", {})
    client.close()


@pytest.mark.parametrize(
    ("later", "message"),
    [(-16 * 60, "Signature expired: "), (16 * 60, "Signature not yet current: ")],
)
def test_a_clock_more_than_a_quarter_hour_off_is_refused(
    guarded: Any, sign: Sign, later: float, message: str
) -> None:
    reply = ask(guarded, sign, later=later)
    assert reply.status == 400
    assert reply.json["message"].startswith(message)
    assert "15 min.)" in reply.json["message"]


@pytest.mark.parametrize("later", [-14 * 60, 14 * 60])
def test_a_clock_a_little_off_is_not(guarded: Any, sign: Sign, later: float) -> None:
    assert ask(guarded, sign, later=later).status == 200


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"AWS4-HMAC-SHA256 ", b"AWS4-HMAC-SHA1 ", "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1'"),
        (b"/us-east-1/", b"/eu-west-1/", "Credential should be scoped to a valid region, not"),
        (b"/dynamodb/", b"/s3/", "Credential should be scoped to correct service: 'dynamodb'."),
        (b"/aws4_request", b"/aws5", "Credential should be scoped with a valid terminator"),
        (b"/us-east-1/dynamodb", b"/dynamodb", "Credential must have exactly 5 slash-delimited"),
        (b";host;", b";", "'Host' must be a 'SignedHeader' in the AWS Authorization."),
    ],
)
def test_a_wrong_scope_is_explained(
    guarded: Any, sign: Sign, old: bytes, new: bytes, message: str
) -> None:
    data = sign(ALICE, guarded.port, "ListTables", b"{}", time.time())
    assert guarded.raw(data.replace(old, new)).json["message"].startswith(message)


def test_a_date_in_another_format_is_explained(guarded: Any) -> None:
    reply = guarded.call("ListTables", {}, **{"X-Amz-Date": "yesterday"})
    assert reply.json["message"] == (
        "Date must be in ISO-8601 'basic format'. Got 'yesterday'. "
        "See http://en.wikipedia.org/wiki/ISO_8601"
    )


class BodySigned(botocore.auth.SigV4QueryAuth):  # type: ignore[misc]
    """botocore moves a body into the query; here it stays where DynamoDB wants it."""

    def payload(self, request: Any) -> str:
        return sha256(b"{}").hexdigest()


def presigned(port: int, seconds: int, credentials: Credentials = ALICE) -> str:
    request: Any = botocore.awsrequest.AWSRequest(
        "POST",
        f"http://127.0.0.1:{port}/",
        headers={"Host": f"127.0.0.1:{port}", "X-Amz-Target": "DynamoDB_20120810.ListTables"},
    )
    keys = botocore.credentials.Credentials(*credentials)
    BodySigned(keys, "dynamodb", "us-east-1", seconds).add_auth(request)
    return str(request.url).partition(f":{port}")[2]


def ask_presigned(asker: Any, url: str) -> Any:
    return asker.raw(
        f"POST {url} HTTP/1.1\r\nHost: 127.0.0.1:{asker.port}\r\nContent-Length: 2\r\n"
        "Content-Type: application/json\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n"
        "\r\n{}".encode()
    )


def test_a_presigned_url_comes_in(guarded: Any) -> None:
    assert ask_presigned(guarded, presigned(guarded.port, 60)).status == 200


def test_a_presigned_url_carries_its_session_token(guarded: Any) -> None:
    assert ask_presigned(guarded, presigned(guarded.port, 60, VISITOR)).status == 200
    without = VISITOR._replace(token=None)
    assert ask_presigned(guarded, presigned(guarded.port, 60, without)).status == 400


def test_a_presigned_url_with_another_secret_does_not(guarded: Any) -> None:
    guess = ALICE._replace(secret_key="guess")
    reply = ask_presigned(guarded, presigned(guarded.port, 60, guess))
    assert reply.json["__type"].endswith("#InvalidSignatureException")


def test_a_target_that_is_not_signed_is_refused(guarded: Any) -> None:
    class WithoutTarget(botocore.auth.SigV4Auth):  # type: ignore[misc]
        def headers_to_sign(self, request: Any) -> Any:
            headers = super().headers_to_sign(request)
            del headers["X-Amz-Target"]
            return headers

    request: Any = botocore.awsrequest.AWSRequest(
        "POST",
        f"http://127.0.0.1:{guarded.port}/",
        data=b"{}",
        headers={"X-Amz-Target": "DynamoDB_20120810.ListTables"},
    )
    WithoutTarget(botocore.credentials.Credentials(*ALICE), "dynamodb", "us-east-1").add_auth(
        request
    )
    request.headers["Host"] = f"127.0.0.1:{guarded.port}"
    lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    reply = guarded.raw(
        f"POST / HTTP/1.1\r\n{lines}Content-Type: application/json\r\n"
        "Content-Length: 2\r\n\r\n{}".encode()
    )
    assert reply.json["__type"].endswith("#InvalidSignatureException")
    assert reply.json["message"] == (
        "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization."
    )
