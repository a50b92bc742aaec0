"""Without credentials a signature has only to look like one, however that is seen."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keyfold_engine.errors import OperationError
from keyfold_engine.wire import signed_request

NAMES = ["Credential=", "SignedHeaders=", "Signature="]
PARTS = st.sampled_from(["AWS4-HMAC-SHA256 ", "AWS4-", *NAMES, "a", ", ", ",", " "])
USUAL = "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=" + "0b" * 32


def is_refused(authorization: str) -> bool:
    headers = {b"authorization": authorization.encode(), b"x-amz-date": b"20260101T000000Z"}
    try:
        signed_request.read(b"/", headers)
    except OperationError:
        return True
    return False


def test_the_server_takes_what_reads_as_a_signature_and_nothing_else(asker: Any) -> None:
    @settings(deadline=None)
    @given(
        st.lists(PARTS, min_size=1, max_size=9).map("".join)
        | st.tuples(st.integers(0, len(USUAL)), PARTS).map(
            lambda change: USUAL[: change[0]] + change[1] + USUAL[change[0] :]
        )
        | st.integers(1, len(USUAL)).map(lambda end: USUAL[:end])
    )
    def agree(authorization: str) -> None:
        authorization = authorization.strip()
        if authorization:
            reply = asker.send(headers={"Authorization": authorization})
            assert (reply.status == 400) == is_refused(authorization)

    agree()
