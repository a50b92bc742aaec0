from __future__ import annotations

from typing import Any

import pytest

from keyfold_engine.errors import ValidationError
from keyfold_engine.values.wire import check_item, check_value

INVALID = "One or more parameter values were invalid: "


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "leaf"}
    for level in range(levels):
        value = {"M": {"n": value}} if level % 2 else {"L": [value]}
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"SS": []}, f"{INVALID}An string set  may not be empty"),
        ({"NS": []}, f"{INVALID}An number set  may not be empty"),
        ({"BS": []}, f"{INVALID}Binary sets should not be empty"),
        ({"SS": ["a", "a"]}, f"{INVALID}Input collection [a, a] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        (
            {"BS": ["YQ==", "YQ=="]},
            f"{INVALID}Input collection [YQ==, YQ==]of type BS contains duplicates.",
        ),
        (
            {"NULL": False},
            f"{INVALID}Null attribute value types must have the value of true",
        ),
        ({"N": "x"}, "The parameter cannot be converted to a numeric value: x"),
        ({"NS": ["x"]}, "The parameter cannot be converted to a numeric value: x"),
        (
            {},
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
        (
            {"S": "a", "N": "1"},
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one "
            "of the supported datatypes",
        ),
        ({"S": "a", "N": "x"}, "The parameter cannot be converted to a numeric value: x"),
        ({"L": [{"SS": []}]}, f"{INVALID}An string set  may not be empty"),
        ({"M": {"a": {"L": [{"N": ""}]}}}, "The parameter cannot be converted to a numeric value"),
    ],
)
def test_refusals_are_dynamodbs_words(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        check_value(value)
    assert caught.value.message == message


def test_numbers_come_out_canonical_at_every_depth() -> None:
    given: dict[str, Any] = {
        "n": {"N": "1.0"},
        "s": {"NS": ["2.50", "1"]},
        "l": {"L": [{"M": {"x": {"N": "+3"}}}]},
    }
    assert check_item(given) == {
        "n": {"N": "1"},
        "s": {"NS": ["1", "2.5"]},
        "l": {"L": [{"M": {"x": {"N": "3"}}}]},
    }
    assert given["n"] == {"N": "1.0"}


def test_empty_strings_and_binaries_are_values() -> None:
    assert check_item({"s": {"S": ""}, "b": {"B": ""}}) == {"s": {"S": ""}, "b": {"B": ""}}


def test_the_32nd_level_is_the_deepest() -> None:
    check_value(_nested(31))
    with pytest.raises(ValidationError) as caught:
        check_value(_nested(32))
    assert caught.value.message == (
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit"
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"SS": ["b", "a", ""]}, {"SS": ["", "a", "b"]}),
        ({"SS": ["\U0001f600", "\uffff"]}, {"SS": ["\uffff", "\U0001f600"]}),
        ({"NS": ["10", "9", "-1"]}, {"NS": ["-1", "9", "10"]}),
        ({"BS": ["/w==", "", "AA=="]}, {"BS": ["", "AA==", "/w=="]}),
    ],
)
def test_sets_are_kept_in_order_and_may_have_an_empty_member(
    given: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert check_value(given) == kept
    assert check_item({"tags": given}) == {"tags": kept}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "Empty attribute name"),
        ("n" * 65536, "Attribute name is too large, must be less than 65536 bytes"),
    ],
)
def test_a_name_is_neither_empty_nor_longer_than_65535_bytes(name: str, message: str) -> None:
    check_item({"n" * 65535: {"S": ""}})
    with pytest.raises(ValidationError) as caught:
        check_item({name: {"S": ""}})
    assert caught.value.message == message
