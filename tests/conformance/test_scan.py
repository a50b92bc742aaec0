from __future__ import annotations

from typing import Any

import pytest

from keyfold.errors import ValidationError


@pytest.fixture
def many(call: Any, people: str) -> str:
    for number in range(30):
        item = {"id": {"S": f"p{number}"}, "n": {"N": str(number)}}
        call("PutItem", TableName=people, Item=item)
    return people


def _ids(items: list[dict[str, Any]]) -> set[str]:
    return {item["id"]["S"] for item in items}


def test_everything_page_by_page(call: Any, many: str) -> None:
    items: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    while True:
        answer = call("Scan", TableName=many, Limit=7, **more)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        more = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert len(items) == 30
    assert _ids(items) == {f"p{number}" for number in range(30)}


def test_segments_share_the_table_out(call: Any, many: str) -> None:
    segments = [
        call("Scan", TableName=many, TotalSegments=4, Segment=number)["Items"]
        for number in range(4)
    ]
    assert sum(map(len, segments)) == 30
    assert set.union(*map(_ids, segments)) == {f"p{number}" for number in range(30)}


def test_filters(call: Any, many: str) -> None:
    answer = call(
        "Scan",
        TableName=many,
        FilterExpression="n < :n",
        ExpressionAttributeValues={":n": {"N": "3"}},
    )
    assert _ids(answer["Items"]) == {"p0", "p1", "p2"}
    assert (answer["Count"], answer["ScannedCount"]) == (3, 30)
    old = call(
        "Scan",
        TableName=many,
        ScanFilter={"n": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": "3"}]}},
    )
    assert _ids(old["Items"]) == {"p0", "p1", "p2"}


def test_an_index_holds_only_items_that_have_its_keys(call: Any, five_orders: str) -> None:
    bare = {"customer": {"S": "Bob"}, "number": {"N": "1"}}
    call("PutItem", TableName=five_orders, Item=bare)
    assert call("Scan", TableName=five_orders)["Count"] == 6
    assert call("Scan", TableName=five_orders, IndexName="byState")["Count"] == 5


def test_projections(call: Any, many: str) -> None:
    answer = call("Scan", TableName=many, ProjectionExpression="n", Limit=1)
    assert list(answer["Items"][0]) == ["n"]
    assert call("Scan", TableName=many, Select="COUNT") == {"Count": 30, "ScannedCount": 30}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present",
        ),
        (
            {"TotalSegments": 2},
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present",
        ),
        (
            {"Segment": 2, "TotalSegments": 2},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 2 is not less than TotalSegments: 2",
        ),
        (
            {"Limit": 0},
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Scanning using an IndexName",
        ),
    ],
)
def test_scans_that_are_refused(
    refusal: Any, people: str, change: dict[str, Any], message: str
) -> None:
    assert refusal(ValidationError, "Scan", TableName=people, **change) == message
