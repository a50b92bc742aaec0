from __future__ import annotations

import itertools
from zlib import crc32

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.clients.answer import Answer, AnswerReader, result, usual
from keyfold_engine.errors import (
    ConditionFailed,
    InternalFailure,
    RequestTooLarge,
    TransportError,
    UnexpectedAnswer,
)
from keyfold_engine.wire.answer import render

BODIES = st.binary(max_size=300)


def with_length(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: %d\r\nX-Amz-Crc32: %d\r\n\r\n%b" % (
        len(body),
        crc32(body),
        body,
    )


def chunked(body: bytes, sizes: list[int]) -> bytes:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for size in sizes:
        if chunk := body[:size]:
            data += b"%x;note=1\r\n%b\r\n" % (len(chunk), chunk)
        body = body[size:]
    return data + (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if a < b]


def read(parts: list[bytes]) -> Answer | None:
    reader = AnswerReader()
    found = None
    for part in parts:
        assert found is None, "an answer came before its end"
        found = reader.feed(part)
    return found


@given(BODIES, st.lists(st.integers(0, 1000), max_size=6))
def test_an_answer_is_the_same_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    assert read(pieces(with_length(body), cuts)) == Answer(200, body, True)


@given(BODIES, st.lists(st.integers(1, 50)), st.lists(st.integers(0, 1000), max_size=6))
def test_chunks_are_put_together(body: bytes, sizes: list[int], cuts: list[int]) -> None:
    found = read(pieces(chunked(body, sizes), cuts))
    assert found == Answer(200, body, True)


@given(BODIES.filter(bool), st.data(), st.booleans())
def test_half_an_answer_is_never_taken_for_a_whole_one(
    body: bytes, data: st.DataObject, in_chunks: bool
) -> None:
    whole = chunked(body, [7]) if in_chunks else with_length(body)
    reader = AnswerReader()
    assert reader.feed(whole[: data.draw(st.integers(0, len(whole) - 1))]) is None
    with pytest.raises(TransportError):
        reader.finish()


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.0 200 OK\r\n\r\n{}") is None
    assert reader.finish() == Answer(200, b"{}", False)


def test_interim_answers_are_passed_over() -> None:
    found = read([b"HTTP/1.1 100 Continue\r\n\r\n" + with_length(b"{}")])
    assert found is not None
    assert found.body == b"{}"


def test_connection_close_is_heeded() -> None:
    found = read([b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n"])
    assert found is not None
    assert not found.keep_alive


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"x" * 70_000,
    ],
)
def test_what_is_not_an_answer_is_refused(data: bytes) -> None:
    with pytest.raises(TransportError):
        AnswerReader().feed(data)


def test_a_wrong_checksum_is_a_damaged_answer() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-crc32: 1\r\n\r\n{}"
    assert usual(data) is None
    with pytest.raises(TransportError, match="checksum"):
        AnswerReader().feed(data)


@given(BODIES)
def test_an_answer_as_the_server_writes_it_is_taken_as_the_reader_would(body: bytes) -> None:
    data = render(200, body, b"ID")
    assert usual(data) == AnswerReader().feed(data) == Answer(200, body, True)


@given(st.data())
def test_what_is_not_whole_or_not_usual_is_left_to_the_reader(data: st.DataObject) -> None:
    whole = render(200, b'{"Item":{}}', b"ID")
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert usual(whole[:cut]) is None
    assert usual(whole + b"x") is None
    assert usual(render(400, b"{}", b"ID")) is None
    assert usual(render(200, b"{}", b"ID", keep_alive=False)) is None


def test_an_error_is_raised_as_its_class_with_its_item() -> None:
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed",
        "Item": {"pk": {"S": "1"}},
    }
    with pytest.raises(ConditionFailed) as caught:
        result(Answer(400, orjson.dumps(body), True))
    assert caught.value.item == {"pk": {"S": "1"}}


def test_answers_of_proxies_are_errors_that_say_so() -> None:
    with pytest.raises(InternalFailure, match="Bad gateway"):
        result(Answer(502, b"<h1>Bad gateway</h1>", True))
    with pytest.raises(UnexpectedAnswer, match="HTTP 404"):
        result(Answer(404, b"nothing here", True))
    with pytest.raises(RequestTooLarge):
        result(Answer(413, b"", True))
    with pytest.raises(TransportError, match="is this a DynamoDB endpoint"):
        result(Answer(200, b"<html>", True))
