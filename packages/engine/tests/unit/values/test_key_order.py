from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.values.key_order import key_bytes, sort_key

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def _binary(content: bytes) -> dict[str, str]:
    return {"B": b64encode(content).decode()}


@given(TEXT, TEXT)
def test_strings_are_ordered_by_their_utf8_bytes(a: str, b: str) -> None:
    expected = a.encode() < b.encode()
    assert (sort_key({"S": a}) < sort_key({"S": b})) == expected
    assert (key_bytes({"S": a}) < key_bytes({"S": b})) == expected


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_binaries_are_ordered_by_unsigned_bytes(a: bytes, b: bytes) -> None:
    assert (sort_key(_binary(a)) < sort_key(_binary(b))) == (a < b)
    assert (key_bytes(_binary(a)) < key_bytes(_binary(b))) == (a < b)


@given(st.integers(), st.integers())
def test_numbers_are_ordered_by_value(a: int, b: int) -> None:
    if abs(a) < 10**38 and abs(b) < 10**38:
        assert (key_bytes({"N": str(a)}) < key_bytes({"N": str(b)})) == (a < b)
    assert (sort_key({"N": str(a)}) < sort_key({"N": str(b)})) == (a < b)


@pytest.mark.parametrize("value", [{"BOOL": True}, {"L": []}, {}])
def test_other_types_have_no_key_order(value: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        key_bytes(value)
    with pytest.raises(TypeError):
        sort_key(value)
