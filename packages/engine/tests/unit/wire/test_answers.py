from __future__ import annotations

import gzip
import re
from typing import Any
from zlib import crc32

import orjson
import pytest

JSON_HEADERS = {"Content-Type": "application/x-amz-json-1.0"}


def kind(reply: Any) -> str:
    return str(reply.json["__type"]).rpartition("#")[2]


def test_an_answer_has_dynamodbs_headers(asker: Any) -> None:
    reply = asker.call("ListTables", {})
    assert reply.status == 200
    assert reply.json == {"TableNames": ["Things"]}
    assert reply.headers["content-type"] == "application/x-amz-json-1.0"
    assert int(reply.headers["x-amz-crc32"]) == crc32(reply.body)
    assert re.fullmatch("[A-Z0-9]{52}", reply.headers["x-amzn-requestid"])


def test_request_ids_are_never_the_same(asker: Any) -> None:
    ids = {asker.call("ListTables", {}).headers["x-amzn-requestid"] for _ in range(20)}
    assert len(ids) == 20


def test_health_reads_as_dynamodbs(asker: Any) -> None:
    reply = asker.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert reply.body == b"healthy: dynamodb.us-east-1.amazonaws.com "
    assert asker.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").body == b"ok\n"


def test_only_the_head_is_sent_when_only_the_head_is_asked_for(asker: Any) -> None:
    with asker.connect() as connection:
        connection.sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert data.endswith(b"\r\n\r\n")
    assert b"Content-Length: 42\r\n" in data


@pytest.mark.parametrize(
    "target",
    [None, "", "ListTables", "DynamoDB_20120810.Nothing", "DynamoDBStreams_20120810.PutItem"],
)
def test_an_unknown_target_is_an_unknown_operation(asker: Any, target: str | None) -> None:
    reply = asker.send(target=target)
    assert reply.status == 400
    assert reply.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}


@pytest.mark.parametrize("body", [b"", b"{", b"[1,", b"\xff\xfe", b"nonsense"])
def test_what_is_not_json_is_a_serialization_error(asker: Any, body: bytes) -> None:
    reply = asker.send(body)
    assert (reply.status, kind(reply)) == (400, "SerializationException")


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-amz-json-1.1"])
def test_another_content_type_is_not_found(asker: Any, content_type: str) -> None:
    reply = asker.send(headers={"Content-Type": content_type})
    assert (reply.status, reply.body) == (404, b"<UnknownOperationException/>\n")


def test_an_empty_post_is_an_unknown_operation(asker: Any) -> None:
    # dynalite's tests, which were verified on Amazon: 404 in XML only if there is a body.
    reply = asker.send(b"", target=None, headers={"Content-Type": ""})
    assert (reply.status, reply.headers["content-type"]) == (400, "application/json")
    assert kind(reply) == "UnknownOperationException"


def test_plain_json_is_taken_and_answered_as_such(asker: Any) -> None:
    reply = asker.send(headers={"Content-Type": "application/json; charset=utf-8"})
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_not_found(asker: Any, method: str) -> None:
    assert asker.send(method=method).status == 404


def test_a_request_without_a_signature_is_refused(asker: Any) -> None:
    reply = asker.send(headers={"Authorization": ""})
    assert reply.status == 400
    assert kind(reply) == "MissingAuthenticationTokenException"
    assert reply.json["message"] == "Request is missing Authentication Token"


def test_half_a_signature_says_what_is_missing(asker: Any) -> None:
    reply = asker.send(headers={"Authorization": "AWS4-HMAC-SHA256 Credential=a", "X-Amz-Date": ""})
    assert kind(reply) == "IncompleteSignatureException"
    assert reply.json["message"] == (
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256 Credential=a"
    )


def test_a_signature_in_both_places_is_refused(asker: Any) -> None:
    reply = asker.send(url="/?X-Amz-Algorithm=AWS4-HMAC-SHA256")
    assert kind(reply) == "InvalidSignatureException"
    assert reply.json["message"].startswith("Found both 'X-Amz-Algorithm'")


def test_half_a_presigned_url_says_what_is_missing(asker: Any) -> None:
    reply = asker.send(url="/?X-Amz-Algorithm=AWS4-HMAC-SHA256", headers={"Authorization": ""})
    assert reply.json["message"] == (
        "AWS query-string parameters must include 'X-Amz-Credential'. "
        "AWS query-string parameters must include 'X-Amz-Signature'. "
        "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
        "AWS query-string parameters must include 'X-Amz-Date'. "
        "Re-examine the query-string parameters."
    )


def test_a_gzipped_body_is_unpacked(asker: Any) -> None:
    for body in (gzip.compress(b"{}"), gzip.compress(b"{") + gzip.compress(b"}")):
        reply = asker.send(body, headers={"Content-Encoding": "gzip"})
        assert reply.json == {"TableNames": ["Things"]}


def test_of_a_name_that_is_twice_in_a_body_the_last_is_checked_and_used(asker: Any) -> None:
    keys = b'"Key": {"pk": {"S": "1"}}'
    get = "DynamoDB_20120810.GetItem"
    reply = asker.send(b'{"TableName": 5, "TableName": "Things", ' + keys + b"}", target=get)
    assert reply.json == {}
    reply = asker.send(b'{"TableName": "Things", "TableName": 5, ' + keys + b"}", target=get)
    assert kind(reply) == "SerializationException"


def test_a_damaged_or_endless_gzipped_body_is_refused(asker: Any) -> None:
    bomb = gzip.compress(b" " * (17 * 1024 * 1024) + b"{}")
    crumbs = gzip.compress(b" ") * 1000 + gzip.compress(b"{}")
    for body in (b"not gzip", gzip.compress(b"{}")[:-4], bomb, crumbs):
        reply = asker.send(body, headers={"Content-Encoding": "gzip"})
        assert kind(reply) == "SerializationException"


@pytest.mark.parametrize("accepted", ["gzip", "deflate, GZIP;q=0.5", "gzip, br"])
def test_a_large_answer_is_compressed_for_who_asks(asker: Any, accepted: str) -> None:
    item = {"pk": {"S": "1"}, "text": {"S": "large " * 10_000}}
    asker.call("PutItem", {"TableName": "Things", "Item": item})
    request = {"TableName": "Things", "Key": {"pk": {"S": "1"}}}
    reply = asker.call("GetItem", request, **{"Accept-Encoding": accepted})
    assert reply.headers["content-encoding"] == "gzip"
    assert len(reply.body) < 10_000
    assert int(reply.headers["x-amz-crc32"]) == crc32(reply.body)
    assert orjson.loads(gzip.decompress(reply.body)) == {"Item": item}


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "gzip; q=0.000", "br"])
def test_nobody_gets_a_compressed_answer_unasked(asker: Any, accepted: str) -> None:
    item = {"pk": {"S": "1"}, "text": {"S": "large " * 10_000}}
    asker.call("PutItem", {"TableName": "Things", "Item": item})
    request = {"TableName": "Things", "Key": {"pk": {"S": "1"}}}
    reply = asker.call("GetItem", request, **{"Accept-Encoding": accepted})
    assert "content-encoding" not in reply.headers
    assert reply.json == {"Item": item}


def test_a_small_answer_is_not_compressed(asker: Any) -> None:
    reply = asker.call("ListTables", {}, **{"Accept-Encoding": "gzip"})
    assert "content-encoding" not in reply.headers


def test_errors_of_the_engine_keep_their_status_and_checksum(asker: Any) -> None:
    reply = asker.call("GetItem", {"TableName": "Nothing", "Key": {"pk": {"S": "1"}}})
    assert (reply.status, kind(reply)) == (400, "ResourceNotFoundException")
    assert int(reply.headers["x-amz-crc32"]) == crc32(reply.body)


def test_a_fault_inside_is_an_internal_error_without_details(
    asker: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(operation: str, body: bytes) -> bytes:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(engine, "call_bytes", broken)
    reply = asker.call("ListTables", {})
    assert (reply.status, kind(reply)) == (500, "InternalServerError")
    assert b"secret" not in reply.body


def test_a_page_of_this_machine_may_ask(asker: Any) -> None:
    reply = asker.call("ListTables", {}, Origin="http://localhost:3000")
    assert reply.headers["access-control-allow-origin"] == "http://localhost:3000"
    preflight = asker.send(
        b"",
        method="OPTIONS",
        headers={
            "Origin": "http://127.0.0.1:8001",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-amz-target",
        },
    )
    assert preflight.status == 200
    assert "x-amz-target" in preflight.headers["access-control-allow-headers"]


def test_a_page_from_elsewhere_may_not(asker: Any) -> None:
    for origin in ("http://evil.example", "http://localhost.evil.example:80", "null"):
        assert asker.call("ListTables", {}, Origin=origin).status == 403


def test_metrics_count_answers(asker: Any) -> None:
    for _ in range(3):
        asker.call("ListTables", {})
    asker.call("GetItem", {"TableName": "Nothing", "Key": {"pk": {"S": "1"}}})
    text = asker.raw(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body.decode()
    assert 'keyfold_requests_total{operation="ListTables",status="2xx"} 3\n' in text
    assert 'keyfold_requests_total{operation="GetItem",status="4xx"} 1\n' in text
    assert 'keyfold_request_seconds_count{operation="ListTables"} 3\n' in text
    assert 'keyfold_request_seconds_bucket{operation="ListTables",le="+Inf"} 3\n' in text


def test_items_pass_unharmed(asker: Any) -> None:
    item = {"pk": {"S": "é\u2028✓"}, "n": {"N": "1"}, "m": {"M": {"x": {"BOOL": True}}}}
    asker.call("PutItem", {"TableName": "Things", "Item": item})
    reply = asker.call("GetItem", {"TableName": "Things", "Key": {"pk": item["pk"]}})
    assert orjson.loads(reply.body) == {"Item": item}
