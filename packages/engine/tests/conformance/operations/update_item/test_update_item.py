"""UpdateItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ConditionFailed, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def _update(call: Call, table: str, expression: str, **more: Any) -> dict[str, Any]:
    values = {f":{n}": v for n, v in more.pop("values", {}).items()}
    request = {"TableName": table, "Key": KEY, "UpdateExpression": expression, **more}
    if values:
        request["ExpressionAttributeValues"] = values
    return call("UpdateItem", request)


def test_a_missing_item_is_made(call: Call, table: str) -> None:
    answer = _update(
        call,
        table,
        "SET v = :v ADD c :one",
        values={"v": {"S": "x"}, "one": {"N": "1"}},
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"] == {**KEY, "v": {"S": "x"}, "c": {"N": "1"}}


def test_every_action_works_from_the_item_as_it_was(call: Call, table: str, put: Any) -> None:
    put("a", 1, x=1, y=2, gone="g", tags={"SS": ["a", "b"]}, items={"L": [{"S": "0"}]})
    answer = _update(
        call,
        table,
        "SET x = y, y = x, #i = list_append(#i, :more), z = if_not_exists(z, :zero) + :five "
        "REMOVE gone DELETE tags :b",
        values={
            "more": {"L": [{"S": "1"}]},
            "zero": {"N": "0"},
            "five": {"N": "5"},
            "b": {"SS": ["b"]},
        },
        ExpressionAttributeNames={"#i": "items"},
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"] == {
        **KEY,
        "x": {"N": "2"},
        "y": {"N": "1"},
        "z": {"N": "5"},
        "tags": {"SS": ["a"]},
        "items": {"L": [{"S": "0"}, {"S": "1"}]},
    }


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, "v": {"S": "old"}, "other": {"S": "o"}}),
        ("UPDATED_OLD", {"v": {"S": "old"}}),
        ("ALL_NEW", {**KEY, "v": {"S": "new"}, "other": {"S": "o"}}),
        ("UPDATED_NEW", {"v": {"S": "new"}}),
    ],
)
def test_return_values_show_what_they_say(
    call: Call, table: str, put: Any, which: str, expected: dict[str, Any] | None
) -> None:
    put("a", 1, v="old", other="o")
    answer = _update(call, table, "SET v = :v", values={"v": {"S": "new"}}, ReturnValues=which)
    assert answer.get("Attributes") == expected


@pytest.mark.parametrize("expression", ["REMOVE v", "REMOVE v.x, seq[0]", "DELETE tags :v"])
@pytest.mark.parametrize("which", ["ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD"])
def test_taking_away_from_a_missing_item_makes_none(
    call: Call, table: str, expression: str, which: str
) -> None:
    values = {"v": {"SS": ["a"]}} if ":v" in expression else {}
    answer = _update(call, table, expression, values=values, ReturnValues=which)
    assert "Attributes" not in answer
    assert "Item" not in call("GetItem", {"TableName": table, "Key": KEY})
    wish = {"TableName": table, "Key": KEY, "UpdateExpression": "REMOVE v"}
    call("TransactWriteItems", {"TransactItems": [{"Update": wish}]})
    assert "Item" not in call("GetItem", {"TableName": table, "Key": KEY})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("SET seq[1] = :v", {"seq": {"L": [{"S": "new"}]}}),
        ("SET seq[3] = :v", {"seq": {"L": [{"S": "new"}]}}),
        ("SET seq[100] = :v", None),
        ("REMOVE seq[1]", {"seq": {"L": [{"S": "c"}]}}),
        ("REMOVE seq[2]", None),
        ("SET m.x = :v, m.y = :v REMOVE m.z", {"m": {"M": {"x": {"S": "new"}, "y": {"S": "new"}}}}),
    ],
)
def test_updated_new_reads_the_paths_in_the_new_item(
    call: Call, table: str, put: Any, expression: str, expected: dict[str, Any] | None
) -> None:
    put("a", 1, seq={"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]}, m={"M": {"z": {"S": "z"}}})
    values = {"v": {"S": "new"}} if ":v" in expression else {}
    answer = _update(call, table, expression, values=values, ReturnValues="UPDATED_NEW")
    assert answer.get("Attributes") == expected


def test_sets_stay_in_order(call: Call, table: str, put: Any) -> None:
    put("a", 1, words={"SS": ["b", ""]}, numbers={"NS": ["10", "9"]}, gone={"BS": ["AA==", ""]})
    answer = _update(
        call,
        table,
        "ADD words :w, numbers :n DELETE gone :g",
        values={"w": {"SS": ["a", "b"]}, "n": {"NS": ["1", "100"]}, "g": {"BS": ["AA=="]}},
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"] == {
        **KEY,
        "words": {"SS": ["", "a", "b"]},
        "numbers": {"NS": ["1", "9", "10", "100"]},
        "gone": {"BS": [""]},
    }


def test_a_counter_counts_exactly(call: Call, table: str, put: Any) -> None:
    put("a", 1, n={"N": "99999999999999999999999999999999999999"})
    with pytest.raises(ValidationError, match="Number overflow"):
        _update(call, table, "SET n = n + :v", values={"v": {"N": "0.1"}})
    put("a", 1, n={"N": "0.1"})
    answer = _update(
        call, table, "SET n = n + :v", values={"v": {"N": "0.2"}}, ReturnValues="UPDATED_NEW"
    )
    assert answer["Attributes"] == {"n": {"N": "0.3"}}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "SET pk = :v",
            "One or more parameter values were invalid: Cannot update attribute pk. This attribute "
            "is part of the key",
        ),
        (
            "SET absent.x = :v",
            "The document path provided in the update expression is invalid for update",
        ),
        (
            "SET v = absent",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "ADD words :v",
            "An operand in the update expression has an incorrect data type",
        ),
        (
            "SET g.x = :v",
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: IndexKey: g",
        ),
        (
            "SET g = sk",
            "The update expression attempted to update the secondary index key to unsupported type",
        ),
        (
            "SET g = :v",
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
            "Actual: N IndexName: everything",
        ),
    ],
)
def test_a_wrong_update_is_refused_and_changes_nothing(
    call: Call, table: str, put: Any, expression: str, message: str
) -> None:
    item = put("a", 1, words="w")
    values = {"v": {"N": "1"}} if ":v" in expression else {}
    with pytest.raises(ValidationError) as caught:
        _update(call, table, expression, values=values)
    assert caught.value.message == message
    assert call("GetItem", {"TableName": table, "Key": KEY})["Item"] == item


def test_an_index_key_is_not_updated_to_be_empty(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="group", nothing="")
    for expression, values in (("SET g = :v", {"v": {"S": ""}}), ("SET g = nothing", {})):
        with pytest.raises(ValidationError) as caught:
            _update(call, table, expression, values=values)
        assert caught.value.message == (
            "One or more parameter values are not valid. The update expression attempted to update "
            "a secondary index key to a value that is not supported. The AttributeValue for a key "
            "attribute cannot contain an empty string value."
        )


def test_a_condition_guards_the_update(call: Call, table: str, put: Any) -> None:
    put("a", 1, version=1)
    guarded = {
        "values": {"one": {"N": "1"}, "two": {"N": "2"}},
        "ConditionExpression": "version = :one",
    }
    _update(call, table, "SET version = :two", **guarded)
    with pytest.raises(ConditionFailed):
        _update(call, table, "SET version = :two", **guarded)


def test_an_updated_item_moves_in_its_indexes(call: Call, table: str, put: Any) -> None:
    put("a", 1, g="before")
    _update(call, table, "SET g = :g", values={"g": {"S": "after"}})
    for group, count in (("before", 0), ("after", 1)):
        answer = call(
            "Query",
            {
                "TableName": table,
                "IndexName": "everything",
                "KeyConditionExpression": "g = :g",
                "ExpressionAttributeValues": {":g": {"S": group}},
            },
        )
        assert answer["Count"] == count


def test_legacy_attribute_updates_work(call: Call, table: str, put: Any) -> None:
    put("a", 1, n=1, gone="g")
    call(
        "UpdateItem",
        {
            "TableName": table,
            "Key": KEY,
            "AttributeUpdates": {
                "n": {"Action": "ADD", "Value": {"N": "2"}},
                "gone": {"Action": "DELETE"},
                "v": {"Value": {"S": "x"}},
            },
        },
    )
    item = call("GetItem", {"TableName": table, "Key": KEY})["Item"]
    assert item == {**KEY, "n": {"N": "3"}, "v": {"S": "x"}}
