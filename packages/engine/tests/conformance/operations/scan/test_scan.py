"""Scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyfold_engine.errors import ValidationError

Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def _all(call: Call, request: dict[str, Any]) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []
    while True:
        answer = call("Scan", request)
        seen += [(item["pk"]["S"], item["sk"]["N"]) for item in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            return seen
        request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


@pytest.mark.parametrize("total", [1, 3, 7])
@pytest.mark.parametrize("index", [None, "everything"])
def test_segments_share_the_items_out(
    call: Call, table: str, put: Any, total: int, index: str | None
) -> None:
    for number in range(30):
        put(f"p{number % 10}", number, g=f"g{number % 4}")
    more = {} if index is None else {"IndexName": index}
    segments = [
        _all(call, {"TableName": table, "Segment": n, "TotalSegments": total, "Limit": 4, **more})
        for n in range(total)
    ]
    seen = [key for each in segments for key in each]
    assert len(seen) == 30
    assert len(set(seen)) == 30


def test_an_index_is_scanned_with_the_items_that_have_its_key(
    call: Call, table: str, put: Any
) -> None:
    put("a", 1, g="group")
    put("b", 2)
    assert _all(call, {"TableName": table, "IndexName": "everything"}) == [("a", "1")]


def test_a_filter_takes_away_but_its_items_were_read(call: Call, table: str, put: Any) -> None:
    for number in range(6):
        put("a", number)
    answer = call(
        "Scan",
        {
            "TableName": table,
            "FilterExpression": "sk >= :n",
            "ExpressionAttributeValues": {":n": {"N": "4"}},
        },
    )
    assert (answer["Count"], answer["ScannedCount"]) == (2, 6)


@pytest.mark.parametrize(
    ("changes", "message"),
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
            {"Segment": 0, "ScanFilter": {"v": {"ComparisonOperator": "EQ"}}},
            "Invalid number of argument(s) for the EQ ComparisonOperator",
        ),
        (
            {"ExclusiveStartKey": {"pk": {"S": "a"}}},
            "The provided starting key is invalid: The provided key element does not match the "
            "schema",
        ),
        (
            {"FilterExpression": "attribute_exists(g[0])"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: IndexKey: g",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES",
        ),
    ],
)
def test_a_wrong_scan_is_refused_in_dynamodbs_words(
    call: Call, table: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        call("Scan", {"TableName": table, **changes})
    assert caught.value.message.endswith(message)
