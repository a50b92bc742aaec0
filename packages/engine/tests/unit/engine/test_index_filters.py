from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.errors import ValidationError


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.open() as opened:
        opened.call(
            "CreateTable",
            {
                "TableName": "tab",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "city", "AttributeType": "S"},
                ],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "cities",
                        "KeySchema": [{"AttributeName": "city", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "KEYS_ONLY"},
                    }
                ],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        item = {"pk": {"S": "a"}, "city": {"S": "Rome"}, "secret": {"N": "1"}}
        opened.call("PutItem", {"TableName": "tab", "Item": item})
        yield opened


def test_a_query_may_not_filter_by_what_its_index_does_not_show(engine: Engine) -> None:
    with pytest.raises(ValidationError) as caught:
        engine.call(
            "Query",
            {
                "TableName": "tab",
                "IndexName": "cities",
                "KeyConditionExpression": "city = :c",
                "FilterExpression": "secret = :h AND attribute_exists(absent)",
                "ExpressionAttributeValues": {":c": {"S": "Rome"}, ":h": {"N": "1"}},
            },
        )
    assert caught.value.message == (
        "One or more parameter values were invalid: Secondary index cities does not project one "
        "or more filter attributes: [absent, secret]"
    )


@pytest.mark.parametrize(
    ("expression", "count"),
    [("attribute_exists(secret)", 0), ("attribute_not_exists(secret)", 1)],
)
def test_a_scan_of_an_index_filters_what_the_index_shows(
    engine: Engine, expression: str, count: int
) -> None:
    request: dict[str, Any] = {"TableName": "tab", "IndexName": "cities"}
    assert engine.call("Scan", {**request, "FilterExpression": expression})["Count"] == count
