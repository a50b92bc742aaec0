from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.values.normal import NormalItem, at_sight
from keyfold_engine.values.size import item_size
from keyfold_engine.values.wire import check_item

numbers = st.one_of(
    st.integers(-(10**40), 10**40).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.sampled_from(["0", "-0", "007", "1.50", "1e3", ".5", "5.", "x", "", "٣"]),
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
binaries = st.one_of(st.binary(max_size=6).map(lambda raw: b64encode(raw).decode()), texts)
scalars = st.one_of(
    st.builds(lambda text: {"S": text}, texts),
    st.builds(lambda text: {"N": text}, numbers),
    st.builds(lambda text: {"B": text}, binaries),
    st.builds(lambda flag: {"BOOL": flag}, st.booleans()),
    st.builds(lambda flag: {"NULL": flag}, st.booleans()),
    st.builds(lambda members: {"SS": members}, st.lists(texts, max_size=3)),
    st.builds(lambda members: {"NS": members}, st.lists(numbers, max_size=3)),
    st.builds(lambda members: {"BS": members}, st.lists(binaries, max_size=3)),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda elements: {"L": elements}, st.lists(inner, max_size=3)),
        st.builds(lambda entries: {"M": entries}, st.dictionaries(texts, inner, max_size=3)),
    ),
    max_leaves=6,
)


@given(st.dictionaries(texts, values, max_size=4))
def test_what_is_normal_at_sight_needs_no_change_and_is_measured(item: dict[str, Any]) -> None:
    found = at_sight(item)
    if found is not None:
        assert found == item
        assert check_item(dict(item)) == item
        assert found.size == item_size(item)


@given(st.dictionaries(texts, values, max_size=4))
def test_checking_makes_it_normal_at_sight(item: dict[str, Any]) -> None:
    try:
        checked = check_item(item)
    except Exception:
        assert at_sight(item) is None
        return
    assert checked.size == item_size(checked)
    if not _has_broken_binary(item):
        assert at_sight(dict(checked)) == checked


def _has_broken_binary(item: dict[str, Any]) -> bool:
    """Base64 is checked with a request's types, before `check_item`."""
    return at_sight(_binaries(item)) is None


def _binaries(item: Any) -> Any:
    """The binaries of an item, out of their nests."""
    found: dict[str, Any] = {}

    def look(value: dict[str, Any]) -> None:
        for kind, content in value.items():
            if kind == "B":
                found[str(len(found))] = {"B": content}
            elif kind == "BS":
                for member in content:
                    found[str(len(found))] = {"B": member}
            elif kind == "L":
                for element in content:
                    look(element)
            elif kind == "M":
                for element in content.values():
                    look(element)

    for value in item.values():
        look(value)
    return found


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {},
        {"S": "a", "N": "1"},
        {"S": 1},
        {"S": None},
        {"N": 1},
        {"B": 1},
        {"BOOL": "true"},
        {"NULL": 1},
        {"SS": "ab"},
        {"SS": [1]},
        {"NS": [{}]},
        {"L": {}},
        {"L": ["a"]},
        {"M": []},
        {"M": {"a": "b"}},
        {"X": "unknown"},
    ],
)
def test_a_value_of_the_wrong_shape_goes_the_long_way(value: Any) -> None:
    assert at_sight({"a": value}) is None


def test_nesting_is_followed_to_its_limit() -> None:
    deep: Any = {"S": "leaf"}
    for _ in range(31):
        deep = {"L": [deep]}
    assert at_sight({"a": deep}) is not None
    assert at_sight({"a": {"L": [deep]}}) is None


def test_an_item_in_normal_form_is_not_checked_again() -> None:
    item = NormalItem({"a": {"S": "b"}}, 2)
    assert check_item(item) is item
