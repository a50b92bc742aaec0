from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.values.size import attribute_size, item_size


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "abc"}, 3),
        ({"S": "grüß"}, 6),
        ({"S": "😀"}, 4),
        ({"B": b64encode(b"hello").decode()}, 5),
        ({"B": ""}, 0),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"N": "0"}, 1),
        ({"N": "1"}, 2),
        ({"N": "-1"}, 3),
        ({"N": "12"}, 2),
        ({"N": "123"}, 3),
        ({"N": "1.5"}, 3),
        ({"N": "123456"}, 4),
        ({"N": "3.14159"}, 5),
        ({"N": "0.001"}, 2),
        ({"N": "10.05"}, 3),
        ({"N": "100.5"}, 4),
        ({"N": "-12.345"}, 5),
        ({"N": "1" + "0" * 125}, 2),
        ({"SS": ["a", "bc"]}, 3),
        ({"NS": ["1", "12"]}, 4),
        ({"BS": ["aGk=", "YQ=="]}, 3),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + 3 + 2),
        ({"M": {}}, 3),
        ({"M": {"k": {"S": "v"}}}, 3 + 2 + 1),
    ],
)
def test_values_count_as_dynamodb_counts_them(value: dict[str, object], size: int) -> None:
    assert attribute_size(value) == size


def test_an_item_counts_its_names_and_values() -> None:
    assert item_size({"pk": {"S": "abc"}, "größe": {"N": "12"}}) == 2 + 3 + 7 + 2


@given(st.binary(max_size=100))
def test_binary_counts_decoded_bytes(content: bytes) -> None:
    assert attribute_size({"B": b64encode(content).decode()}) == len(content)
