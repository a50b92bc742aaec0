from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import ConditionFailed, ValidationError

KEY = {"id": {"S": "ada"}}


def _update(call: Any, table: str, expression: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = call(
        "UpdateItem", TableName=table, Key=KEY, UpdateExpression=expression, **more
    )
    return answer


def _item(call: Any, table: str) -> dict[str, Any]:
    item: dict[str, Any] = call("GetItem", TableName=table, Key=KEY)["Item"]
    return item


def test_an_update_makes_the_item_it_does_not_find(call: Any, people: str) -> None:
    _update(call, people, "SET a = :a", ExpressionAttributeValues={":a": {"N": "1"}})
    assert _item(call, people) == {**KEY, "a": {"N": "1"}}
    call("UpdateItem", TableName=people, Key={"id": {"S": "bare"}})
    bare = call("GetItem", TableName=people, Key={"id": {"S": "bare"}})
    assert bare["Item"] == {"id": {"S": "bare"}}


def test_all_kinds_of_actions(call: Any, people: str) -> None:
    call(
        "PutItem",
        TableName=people,
        Item={
            **KEY,
            "n": {"N": "1"},
            "l": {"L": [{"S": "a"}]},
            "m": {"M": {"k": {"S": "old"}}},
            "ss": {"SS": ["x", "y"]},
            "gone": {"S": "x"},
        },
    )
    _update(
        call,
        people,
        "SET n = n + :one, l = list_append(l, :l), m.k = :s, d = if_not_exists(d, :s) "
        "REMOVE gone ADD c :one DELETE ss :x",
        ExpressionAttributeValues={
            ":one": {"N": "1"},
            ":l": {"L": [{"S": "b"}]},
            ":s": {"S": "new"},
            ":x": {"SS": ["x"]},
        },
    )
    assert _item(call, people) == {
        **KEY,
        "n": {"N": "2"},
        "l": {"L": [{"S": "a"}, {"S": "b"}]},
        "m": {"M": {"k": {"S": "new"}}},
        "ss": {"SS": ["y"]},
        "d": {"S": "new"},
        "c": {"N": "1"},
    }


@pytest.mark.parametrize(
    ("which", "returned"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, "a": {"N": "1"}, "b": {"S": "kept"}}),
        ("ALL_NEW", {**KEY, "a": {"N": "2"}, "b": {"S": "kept"}, "c": {"S": "new"}}),
        ("UPDATED_OLD", {"a": {"N": "1"}}),
        ("UPDATED_NEW", {"a": {"N": "2"}, "c": {"S": "new"}}),
    ],
)
def test_return_values(call: Any, people: str, which: str, returned: Any) -> None:
    call("PutItem", TableName=people, Item={**KEY, "a": {"N": "1"}, "b": {"S": "kept"}})
    answer = _update(
        call,
        people,
        "SET a = :a, c = :c",
        ExpressionAttributeValues={":a": {"N": "2"}, ":c": {"S": "new"}},
        ReturnValues=which,
    )
    assert answer.get("Attributes") == returned


def test_nested_changes_return_only_what_changed(call: Any, people: str) -> None:
    call(
        "PutItem",
        TableName=people,
        Item={**KEY, "m": {"M": {"a": {"N": "1"}, "b": {"N": "2"}}}},
    )
    answer = _update(
        call,
        people,
        "SET m.a = :v",
        ExpressionAttributeValues={":v": {"N": "9"}},
        ReturnValues="UPDATED_NEW",
    )
    assert answer["Attributes"] == {"m": {"M": {"a": {"N": "9"}}}}


def test_a_condition_guards_the_update(call: Any, people: str) -> None:
    guarded: dict[str, Any] = {
        "ConditionExpression": "attribute_exists(id)",
        "ExpressionAttributeValues": {":a": {"N": "1"}},
    }
    with pytest.raises(ConditionFailed):
        _update(call, people, "SET a = :a", **guarded)
    assert "Item" not in call("GetItem", TableName=people, Key=KEY)


def test_attribute_updates(call: Any, people: str) -> None:
    call("PutItem", TableName=people, Item={**KEY, "n": {"N": "1"}, "gone": {"S": "x"}})
    call(
        "UpdateItem",
        TableName=people,
        Key=KEY,
        AttributeUpdates={
            "a": {"Value": {"S": "new"}},
            "n": {"Action": "ADD", "Value": {"N": "5"}},
            "gone": {"Action": "DELETE"},
        },
    )
    assert _item(call, people) == {**KEY, "a": {"S": "new"}, "n": {"N": "6"}}


@pytest.mark.parametrize(
    ("expression", "values", "message"),
    [
        (
            "SET id = :v",
            {":v": {"S": "x"}},
            "One or more parameter values were invalid: Cannot update attribute id. This attribute "
            "is part of the key",
        ),
        (
            "SET a = missing_one",
            None,
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET a.b = :v",
            {":v": {"S": "x"}},
            "The document path provided in the update expression is invalid for update",
        ),
        (
            "SET text = :v + :v",
            {":v": {"S": "x"}},
            "Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: "
            "text",
        ),
        (
            "SET a = s + :v",
            {":v": {"N": "1"}},
            "An operand in the update expression has an incorrect data type",
        ),
        ("", None, "Invalid UpdateExpression: The expression can not be empty;"),
    ],
)
def test_updates_that_are_refused(
    call: Any, refusal: Any, people: str, expression: str, values: Any, message: str
) -> None:
    call("PutItem", TableName=people, Item={**KEY, "s": {"S": "text"}})
    request: dict[str, Any] = {"UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = values
    told = refusal(ValidationError, "UpdateItem", TableName=people, Key=KEY, **request)
    assert told == message
    assert _item(call, people) == {**KEY, "s": {"S": "text"}}
