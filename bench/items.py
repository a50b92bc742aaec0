"""The table and items that all cases use: about one kilobyte each, fifty to a partition."""

from __future__ import annotations

from typing import Any

TABLE: dict[str, Any] = {
    "TableName": "bench",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
PER_PARTITION = 50


def key(number: int) -> dict[str, Any]:
    group, place = divmod(number, PER_PARTITION)
    return {"PK": {"S": f"GROUP#{group:08d}"}, "SK": {"S": f"ITEM#{place:04d}"}}


def item(number: int, size: int = 1000, *, indexed: bool = True) -> dict[str, Any]:
    """An item with twelve attributes."""
    found = {
        **key(number),
        "title": {"S": f"Item {number}"},
        "count": {"N": str(number)},
        "price": {"N": "12.5"},
        "live": {"BOOL": True},
        "tags": {"SS": ["a", "b", "c"]},
        "at": {"S": "2025-01-01T00:00:00.000000Z"},
        "place": {"M": {"city": {"S": "Bern"}, "zip": {"N": "3000"}}},
        "text": {"S": "x" * max(0, size - 260)},
    }
    if indexed:
        group, place = divmod(number, PER_PARTITION)
        found["GSI1PK"] = {"S": f"BY#{group:08d}"}
        found["GSI1SK"] = {"S": f"AT#{place:04d}"}
    return found
