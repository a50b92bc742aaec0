"""What UpdateItem charges its statement for, as 31 of 33 regions did in October 2026."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ConditionFailed, ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
LIMIT = 409_600
TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
KEY = {"pk": {"S": "a"}}
# The statement itself, `SET b = ...` without its value.
BESIDE = 3 + 19 + 1


@pytest.fixture
def plain(call: Call, name: str) -> str:
    """A table with a key pk and no index."""
    call(
        "CreateTable",
        {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        },
    )
    return name


def _is_accepted(call: Call, table: str, request: dict[str, Any]) -> bool:
    try:
        call("UpdateItem", {"TableName": table, "Key": KEY, **request})
    except ValidationError as error:
        if error.message != TOO_LARGE:
            raise
        return False
    return True


@pytest.mark.parametrize(
    ("clause", "item", "values", "charge"),
    [
        ("SET c = tenletters", {"tenletters": {"S": "x"}}, {}, 20 + 1 + 14 + 10),
        ("SET c = m.z", {"m": {"M": {"z": {"S": "x"}}}}, {}, 20 + 1 + 15 + 15),
        ("SET c = l[10]", {"l": {"L": [{"N": "1"}] * 11}}, {}, 20 + 1 + 15 + 16),
        ("SET m.k = :v", {"m": {"M": {}}}, {":v": {"S": "four"}}, 19 + 1 + 5 + 4),
        ("SET l[0] = :v", {"l": {"L": []}}, {":v": {"S": "four"}}, 19 + 1 + 5 + 4),
        (
            "SET l = list_append(l, :v)",
            {"l": {"L": []}},
            {":v": {"L": [{"S": "four"}]}},
            20 + 37 + 16 + 3 + 1 + 4,
        ),
        ("SET n = n + :v", {"n": {"N": "1"}}, {":v": {"N": "1"}}, 20 + 34 + 16 + 2),
        ("SET n = n - :v", {"n": {"N": "1"}}, {":v": {"N": "1"}}, 20 + 37 + 16 + 2),
        ("SET c = if_not_exists(c, :v)", {}, {":v": {"S": "four"}}, 20 + 39 + 16 + 4),
        (
            "SET c = if_not_exists(c, :v)",
            {"c": {"S": "x"}},
            {":v": {"S": "four"}},
            20 + 39 + 16 + 4,
        ),
        (
            "SET c = if_not_exists(c, :v), d = if_not_exists(d, :v)",
            {"c": {"S": "x"}, "d": {"S": "x"}},
            {":v": {"S": "four"}},
            2 * (20 + 39 + 16 + 4),
        ),
        ("ADD ss :v", {"ss": {"SS": ["there", "four"]}}, {":v": {"SS": ["four"]}}, 19 + 2 + 4),
        ("REMOVE tenletters", {"tenletters": {"S": "x"}}, {}, 1 + 10),
        ("REMOVE m.y", {"m": {"M": {"y": {"S": "x"}}}}, {}, 1 + 1 + 5),
        ("REMOVE l[10]", {"l": {"L": [{"N": "1"}]}}, {}, 1 + 1 + 6),
        ("DELETE ss :v", {"ss": {"SS": ["four", "more"]}}, {":v": {"SS": ["four"]}}, 1 + 2),
    ],
)
def test_a_clause_is_charged_by_what_it_says(
    call: Call,
    plain: str,
    clause: str,
    item: dict[str, Any],
    values: dict[str, Any],
    charge: int,
) -> None:
    word, _, rest = clause.partition(" ")
    expression = f"SET b = :pad, {rest}" if word == "SET" else f"SET b = :pad {clause}"

    def request(size: int) -> dict[str, Any]:
        padded = {":pad": {"S": "x" * size}, **values}
        return {"UpdateExpression": expression, "ExpressionAttributeValues": padded}

    most = LIMIT - BESIDE - charge
    call("PutItem", {"TableName": plain, "Item": {**KEY, **item}})
    assert not _is_accepted(call, plain, request(most + 1))
    assert _is_accepted(call, plain, request(most))


def test_a_statement_that_costs_too_much_is_refused_before_its_condition(
    call: Call, plain: str
) -> None:
    call("PutItem", {"TableName": plain, "Item": {**KEY, "c": {"S": "small"}}})
    request = {
        "UpdateExpression": "SET c = if_not_exists(c, :v)",
        "ExpressionAttributeValues": {":v": {"S": "x" * (LIMIT + 100)}},
    }
    for condition in ({}, {"ConditionExpression": "attribute_exists(nope)"}):
        assert not _is_accepted(call, plain, {**request, **condition})
    cheap = {**request, "ExpressionAttributeValues": {":v": {"S": "x"}}}
    with pytest.raises(ConditionFailed):
        _is_accepted(call, plain, {**cheap, "ConditionExpression": "attribute_exists(nope)"})


def test_attribute_updates_are_measured_by_the_finished_item_alone(call: Call, plain: str) -> None:
    room = LIMIT - len("pka") - len("b")
    for size, fits in ((room, True), (room + 1, False)):
        value = {"Value": {"S": "x" * size}}
        assert _is_accepted(call, plain, {"AttributeUpdates": {"b": value}}) is fits


def test_updates_of_partiql_and_transactions_are_measured_by_the_finished_item_alone(
    call: Call, plain: str
) -> None:
    room = LIMIT - len("pka") - len("b")
    expression = {
        "UpdateExpression": "SET b = :b",
        "ExpressionAttributeValues": {":b": {"S": "x" * room}},
    }
    assert not _is_accepted(call, plain, expression)
    update = {"TableName": plain, "Key": KEY, **expression}
    call("TransactWriteItems", {"TransactItems": [{"Update": update}]})
    call(
        "ExecuteStatement",
        {
            "Statement": f"UPDATE \"{plain}\" SET b = ? WHERE pk = 'a'",
            "Parameters": [{"S": "y" * room}],
        },
    )
