"""The same two operations as people write them today: FastAPI and boto3.

`python bench/handwritten.py PORT ENDPOINT` serves a group's feed and a new hangout.
"""

from __future__ import annotations

import sys
import uuid
from typing import Any

import boto3
import uvicorn
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from fastapi import FastAPI
from pydantic import BaseModel


class NewHangout(BaseModel):
    title: str
    startsAt: str
    endsAt: str
    groupIds: list[str] = []


def build(endpoint: str) -> FastAPI:
    client = boto3.client(
        "dynamodb",
        "us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="keyfold",
        aws_secret_access_key="keyfold",
    )
    read, write = TypeDeserializer().deserialize, TypeSerializer().serialize
    app = FastAPI()

    @app.get("/groups/{group_id}/feed")
    def feed(group_id: str, limit: int = 50) -> dict[str, Any]:
        answer = client.query(
            TableName="InviterTable",
            KeyConditionExpression="PK = :p AND begins_with(SK, :s)",
            ExpressionAttributeValues={
                ":p": {"S": f"GROUP#{group_id}"},
                ":s": {"S": "HANGOUT#"},
            },
            Limit=limit,
        )
        return {"items": [{k: read(v) for k, v in item.items()} for item in answer["Items"]]}

    @app.post("/hangouts", status_code=201)
    def create(input: NewHangout) -> dict[str, Any]:
        hangout = {"hangoutId": uuid.uuid4().hex, "hostId": "u", **input.model_dump()}
        puts = [_put({"PK": f"EVENT#{hangout['hangoutId']}", "SK": "METADATA", **hangout})]
        for group in input.groupIds:
            pointer = {k: v for k, v in hangout.items() if k != "groupIds"}
            keys = {"PK": f"GROUP#{group}", "SK": f"HANGOUT#{hangout['hangoutId']}"}
            puts.append(_put({**keys, **pointer, "gsi1pk": keys["PK"], "startTimestamp": 1}))
        client.transact_write_items(TransactItems=puts)
        return hangout

    def _put(item: dict[str, Any]) -> dict[str, Any]:
        wire = {name: write(value) for name, value in item.items()}
        return {"Put": {"TableName": "InviterTable", "Item": wire}}

    return app


if __name__ == "__main__":
    port, endpoint = int(sys.argv[1]), sys.argv[2]
    uvicorn.run(build(endpoint), port=port, log_level="error")
