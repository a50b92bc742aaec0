from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.errors import ValidationError
from keyfold_engine.values.codec import decode, decode_item, encode, encode_item
from keyfold_engine.values.wire import check_value

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
DECIMALS = st.decimals(min_value=-(10**20), max_value=10**20, allow_nan=False, places=6)
SCALARS = TEXT | DECIMALS | st.binary(max_size=10) | st.booleans() | st.none()
SETS = (
    st.sets(TEXT.filter(bool), min_size=1, max_size=4)
    | st.sets(DECIMALS, min_size=1, max_size=4)
    | st.sets(st.binary(min_size=1, max_size=4), min_size=1, max_size=4)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | SETS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@given(VALUES)
def test_python_values_survive_the_round_trip(value: Any) -> None:
    wire = encode(value)
    assert decode(wire) == value
    assert check_value(wire) == wire


@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_items_survive_the_round_trip(item: dict[str, Any]) -> None:
    assert decode_item(encode_item(item)) == item


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_integers_of_38_digits_are_exact(number: int) -> None:
    assert decode(encode(number)) == number


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (True, {"BOOL": True}),
        (0.1, {"N": "0.1"}),
        (1e100, {"N": "1" + "0" * 100}),
        (Decimal("1E2"), {"N": "100"}),
        ((1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
        (frozenset({"b", "a"}), {"SS": ["a", "b"]}),
        (bytearray(b"hi"), {"B": "aGk="}),
        (OrderedDict(a=1), {"M": {"a": {"N": "1"}}}),
        (Colour.RED, {"S": "red"}),
        (Level.HIGH, {"N": "3"}),
    ],
)
def test_python_types_and_their_wire_values(value: object, wire: dict[str, Any]) -> None:
    assert encode(value) == wire


@pytest.mark.parametrize("value", [object(), {1: "a"}, {"a", 1}, {None}, 1j])
def test_what_has_no_wire_value_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**130, set()])
def test_values_outside_dynamodbs_range_are_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        encode(value)
