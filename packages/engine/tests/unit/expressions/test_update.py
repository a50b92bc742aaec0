from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.bind import Placeholders
from keyfold_engine.values.codec import decode_item, encode, encode_item

TYPE = "An operand in the update expression has an incorrect data type"
PATH = "The document path provided in the update expression is invalid for update"
MISSING = "The provided expression refers to an attribute that does not exist in the item"


def _updated(text: str, item: dict[str, Any], **values: Any) -> dict[str, Any]:
    placeholders = {f":{name}": encode(value) for name, value in values.items()}
    update = Placeholders.with_literals(None, placeholders or None).update(text)
    return decode_item(update.apply(encode_item(item), placeholders))


@pytest.mark.parametrize(
    ("text", "values", "before", "after"),
    [
        ("SET a = :v", {"v": 1}, {}, {"a": 1}),
        ("SET a = :v", {"v": 1}, {"a": "x", "b": 2}, {"a": 1, "b": 2}),
        ("SET a = b, b = a", {}, {"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ("SET a = a + :v", {"v": 5}, {"a": 1}, {"a": 6}),
        ("SET a = :v - a", {"v": 5}, {"a": 1}, {"a": 4}),
        ("SET a = if_not_exists(a, :v)", {"v": 1}, {}, {"a": 1}),
        ("SET a = if_not_exists(a, :v) + :v", {"v": 1}, {"a": 9}, {"a": 10}),
        ("SET a = list_append(a, :v)", {"v": [3]}, {"a": [1, 2]}, {"a": [1, 2, 3]}),
        ("SET a = list_append(:v, a)", {"v": [3]}, {"a": [1]}, {"a": [3, 1]}),
        ("SET a.b = :v", {"v": 1}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ("SET a[1] = :v", {"v": 9}, {"a": [1, 2, 3]}, {"a": [1, 9, 3]}),
        ("SET a[7] = :v, a[5] = :w", {"v": 8, "w": 6}, {"a": [1]}, {"a": [1, 6, 8]}),
        ("REMOVE a, z", {}, {"a": 1, "b": 2}, {"b": 2}),
        ("REMOVE a[0], a[2]", {}, {"a": [1, 2, 3, 4]}, {"a": [2, 4]}),
        ("REMOVE a[9]", {}, {"a": [1]}, {"a": [1]}),
        ("REMOVE a[0] SET a[9] = :v", {"v": 3}, {"a": [1, 2]}, {"a": [2, 3]}),
        ("REMOVE a[2] SET a[9] = :v", {"v": 3}, {"a": [1, 2]}, {"a": [1, 2, 3]}),
        ("REMOVE a[0], a[1][0]", {}, {"a": [0, [1, 2]]}, {"a": [[2]]}),
        ("ADD a :v", {"v": 5}, {}, {"a": 5}),
        ("ADD a :v", {"v": -5}, {"a": 2}, {"a": -3}),
        ("ADD a.b :v", {"v": 1}, {"a": {"b": 1}}, {"a": {"b": 2}}),
        ("ADD a :v", {"v": {"y"}}, {}, {"a": {"y"}}),
        ("ADD a :v", {"v": {"x", "y"}}, {"a": {"x"}}, {"a": {"x", "y"}}),
        ("DELETE a :v", {"v": {"x", "z"}}, {"a": {"x", "y"}}, {"a": {"y"}}),
        ("DELETE a :v", {"v": {"x"}}, {"a": {"x"}, "b": 1}, {"b": 1}),
        ("DELETE a :v", {"v": {"x"}}, {"b": 1}, {"b": 1}),
    ],
)
def test_updates(
    text: str, values: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert _updated(text, before, **values) == after


@pytest.mark.parametrize(
    ("text", "values", "item", "message"),
    [
        ("SET a = a + :v", {"v": 1}, {"a": "x"}, TYPE),
        ("SET a = list_append(b, :v)", {"v": [1]}, {"b": 1}, TYPE),
        ("ADD a :v", {"v": 1}, {"a": "x"}, TYPE),
        ("ADD a :v", {"v": {"x"}}, {"a": {1}}, TYPE),
        ("DELETE a :v", {"v": {"x"}}, {"a": 1}, TYPE),
        ("SET a = b", {}, {}, MISSING),
        ("SET a = a + :v", {"v": 1}, {}, MISSING),
        ("SET a.b = :v", {"v": 1}, {}, PATH),
        ("SET a.b = :v", {"v": 1}, {"a": [1]}, PATH),
        ("SET a[0] = :v", {"v": 1}, {"a": {"b": 1}}, PATH),
        ("REMOVE a.b", {}, {"a": 1}, PATH),
        ("SET a = b, c = c + :v", {"v": 1}, {"c": "x"}, TYPE),
        ("SET a = b, x.y = :v", {"v": 1}, {}, PATH),
    ],
)
def test_updates_that_the_item_does_not_allow(
    text: str, values: dict[str, Any], item: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _updated(text, item, **values)
    assert caught.value.message == message


def test_a_sum_out_of_range_is_refused() -> None:
    with pytest.raises(ValidationError, match="Number overflow"):
        _updated("ADD a :v", {"a": 9 * 10**125}, v=9 * 10**125)


def test_the_old_item_is_left_alone() -> None:
    item = encode_item({"l": [1, {"m": [2]}], "s": {"x"}, "n": 1})
    before = deepcopy(item)
    values = {":v": encode(9), ":s": encode({"y"})}
    update = Placeholders.with_literals(None, values).update(
        "SET l[1].m[0] = :v, l[5] = :v REMOVE l[0] ADD s :s, n :v"
    )
    update.apply(item, values)
    assert item == before


def test_elements_are_written_where_they_were_before_removals() -> None:
    updated = _updated("SET l[2].x = :v, l[9] = :v REMOVE l[0], l[1]", {"l": [0, 1, {"x": 0}]}, v=5)
    assert updated == {"l": [{"x": 5}, 5]}


def test_a_value_may_be_too_deep_for_the_place_it_is_put_in() -> None:
    def nested(levels: int) -> Any:
        return {"n": nested(levels - 1)} if levels else "leaf"

    assert _updated("SET a.b = :v", {"a": {}}, v=nested(30)) == {"a": {"b": nested(30)}}
    with pytest.raises(ValidationError, match=r"^Nesting Levels have exceeded supported limits$"):
        _updated("SET a.b = :v", {"a": {}}, v=nested(31))


@given(st.lists(st.integers(0, 9), max_size=6), st.sets(st.integers(0, 9), min_size=1, max_size=4))
def test_removed_list_positions_are_those_before_the_update(
    elements: list[int], removed: set[int]
) -> None:
    text = "REMOVE " + ", ".join(f"l[{index}]" for index in removed)
    left = [value for at, value in enumerate(elements) if at not in removed]
    assert _updated(text, {"l": elements})["l"] == left
