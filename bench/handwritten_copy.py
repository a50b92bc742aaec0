"""The copy of a migration as people write it today: a scan and batches with boto3, then a look.

It does less than a migration: what is written meanwhile is not followed, and nothing goes back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import boto3

TABLE = "OrdersByHand"
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
WRITTEN, READ = 25, 100
"""The most items of a batch."""

Item = dict[str, Any]


def copy_by_hand(url: str) -> tuple[float, float]:
    """Copy all orders, each with its pointer, and compare them: the seconds of each."""
    client = boto3.client("dynamodb", endpoint_url=url, **KEYS)
    names = ("PK", "SK")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names],
        KeySchema=[
            {"AttributeName": n, "KeyType": kind}
            for n, kind in zip(names, ("HASH", "RANGE"), strict=True)
        ],
    )
    began = time.perf_counter()
    for page in _pages(client):
        made = [item for old in page for item in _made(old)]
        for batch in _batches(made, WRITTEN):
            left = {TABLE: [{"PutRequest": {"Item": item}} for item in batch]}
            while left:
                left = client.batch_write_item(RequestItems=left)["UnprocessedItems"]
    copied = time.perf_counter()
    for page in _pages(client):
        made = [item for old in page for item in _made(old)]
        for batch in _batches(made, READ):
            keys = [{n: item[n] for n in names} for item in batch]
            found = client.batch_get_item(RequestItems={TABLE: {"Keys": keys}})["Responses"][TABLE]
            there = {(item["PK"]["S"], item["SK"]["S"]): item for item in found}
            differing = [i for i in batch if there.get((i["PK"]["S"], i["SK"]["S"])) != i]
            assert not differing
    verified = time.perf_counter()
    client.close()
    return copied - began, verified - copied


def _pages(client: Any) -> Iterator[list[Item]]:
    for page in client.get_paginator("scan").paginate(TableName="Orders"):
        yield page["Items"]


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _made(old: Item) -> list[Item]:
    order, season = old["orderId"]["S"], old["seasonId"]["S"]
    shared = {"orderId": old["orderId"], "seasonId": old["seasonId"]}
    cents = {"N": str(int(old["total"]["N"]) * 100)}
    item = {"PK": {"S": f"SEASON#{season}"}, "SK": {"S": f"ORDER#{order}"}, "type": {"S": "Order"}}
    pointer = {"PK": {"S": f"ORDER#{order}"}, "SK": {"S": "ORDER"}, "type": {"S": "OrderById"}}
    return [{**item, **shared, "cents": cents, "notes": old["notes"]}, {**pointer, **shared}]
