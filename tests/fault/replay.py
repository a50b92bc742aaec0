"""What a table's stream tells, from its beginning."""

from __future__ import annotations

from typing import Any

from keyfold_engine.engine import Engine


def replayed(engine: Engine, table: str | None = None) -> dict[str, Any]:
    """The items by their partition key, as the records of the table's only stream make them."""
    asked = {} if table is None else {"TableName": table}
    arn = engine.call("ListStreams", asked)["Streams"][0]["StreamArn"]
    stream = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    place = engine.call(
        "GetShardIterator",
        {
            "StreamArn": arn,
            "ShardId": stream["Shards"][0]["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        },
    )
    items: dict[str, Any] = {}
    while True:
        answer = engine.call("GetRecords", place)
        if not answer["Records"]:
            return items
        for record in answer["Records"]:
            image = record["dynamodb"]["NewImage"]
            items[image["pk"]["S"]] = image
        place = {"ShardIterator": answer["NextShardIterator"]}
