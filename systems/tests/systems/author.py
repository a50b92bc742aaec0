"""The author of a document: boto3 on a system's table, with no line of ours."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import boto3
from boto3.dynamodb.types import TypeDeserializer
from tests.systems.conftest import ADDRESS, INDEX_LAG

from keyfold_engine.engine import Engine
from keyfold_engine.wire import BackgroundServer

KEYS = {
    "aws_access_key_id": os.environ.get("AWS_ACCESS_KEY_ID", "x"),
    "aws_secret_access_key": os.environ.get("AWS_SECRET_ACCESS_KEY", "x"),
    "region_name": "us-east-1",
}
Item = dict[str, Any]


@contextmanager
def server(**options: Any) -> Iterator[str]:
    """The address of an empty server of ours, or of the one elsewhere."""
    if ADDRESS is not None:
        yield ADDRESS
        return
    with ExitStack() as stack:
        engine = stack.enter_context(Engine.open(":memory:", **options))
        yield stack.enter_context(BackgroundServer(engine)).url


class Author:
    """Asks one table raw; its indexes are GSI1 to GSI3 with their `PK` and `SK`."""

    def __init__(self, address: str, table: str) -> None:
        self.resource = boto3.resource("dynamodb", endpoint_url=address, **KEYS)
        self.name = table
        self.table = self.resource.Table(table)
        self.streams = boto3.client("dynamodbstreams", endpoint_url=address, **KEYS)

    def query(self, index: str | None, pk: str, begins: str = "", **more: Any) -> list[Item]:
        """Query an index, or the table, by a partition and the beginning of the sort key."""
        time.sleep(INDEX_LAG if index else 0)
        names = {"#pk": f"{index or ''}PK"}
        values, condition = {":pk": pk}, "#pk = :pk"
        if begins:
            names["#sk"] = f"{index or ''}SK"
            values[":sk"], condition = begins, f"{condition} AND begins_with(#sk, :sk)"
        request = {
            **({"IndexName": index} if index else {}),
            "KeyConditionExpression": condition,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
            **more,
        }
        found: list[Item] = self.table.query(**request)["Items"]
        return found

    def get(self, pk: str, sk: str) -> Item:
        found: Item = self.table.get_item(Key={"PK": pk, "SK": sk}).get("Item", {})
        return found

    def items(self) -> list[Item]:
        found: list[Item] = self.table.scan()["Items"]
        return found

    def records(self) -> list[Item]:
        """The new images of the stream, as a Lambda function is given them."""
        self.table.load()
        arn, read = self.table.latest_stream_arn, TypeDeserializer()
        shards = self.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        images = []
        for shard in shards:
            place = self.streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            for record in self.streams.get_records(ShardIterator=place)["Records"]:
                image = record["dynamodb"].get("NewImage", {})
                images.append({name: read.deserialize(value) for name, value in image.items()})
        return images

    def create_table(self, items: list[Item]) -> None:
        """A table with three indexes, made and filled by the author's own code."""
        pairs = [("PK", "SK"), *((f"GSI{n}PK", f"GSI{n}SK") for n in (1, 2, 3))]
        schemas = [
            [{"AttributeName": a, "KeyType": "HASH"}, {"AttributeName": b, "KeyType": "RANGE"}]
            for a, b in pairs
        ]
        made = self.resource.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=schemas[0],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for pair in pairs for name in pair
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": f"GSI{n}",
                    "KeySchema": schemas[n],
                    "Projection": {"ProjectionType": "ALL"},
                }
                for n in (1, 2, 3)
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        made.wait_until_exists()
        with made.batch_writer() as batch:
            for item in items:
                batch.put_item(item)


def by_key(items: list[Item]) -> dict[tuple[str, str], Item]:
    return {(item["PK"], item["SK"]): item for item in items}
