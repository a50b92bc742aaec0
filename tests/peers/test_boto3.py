"""boto3, client and resource, against `keyfold serve`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

pytestmark = pytest.mark.usefixtures("credentials")


@pytest.fixture
def table(keyfold_url: str) -> Any:
    resource: Any = boto3.resource("dynamodb", endpoint_url=keyfold_url)
    table = resource.create_table(
        TableName="BotoOrders",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("customer", "S"), ("number", "N"), ("status", "S"))
        ],
        KeySchema=[
            {"AttributeName": "customer", "KeyType": "HASH"},
            {"AttributeName": "number", "KeyType": "RANGE"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-status",
                "KeySchema": [
                    {"AttributeName": "status", "KeyType": "HASH"},
                    {"AttributeName": "number", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    table.wait_until_exists()
    yield table
    table.delete()
    table.wait_until_not_exists()


def test_the_resource_writes_queries_and_updates(table: Any) -> None:
    with table.batch_writer() as batch:
        for number in range(60):
            status = "open" if number % 2 else "paid"
            batch.put_item(
                Item={
                    "customer": "ada",
                    "number": number,
                    "status": status,
                    "total": Decimal("12.50"),
                    "tags": {"a", "b"},
                    "photo": b"\x00\xff",
                    "lines": [{"sku": "x", "count": 2}],
                    "note": None,
                }
            )
    page = table.query(
        KeyConditionExpression=Key("customer").eq("ada") & Key("number").between(10, 19),
        FilterExpression=Attr("status").eq("open"),
    )
    assert [int(item["number"]) for item in page["Items"]] == [11, 13, 15, 17, 19]
    by_status = table.query(
        IndexName="by-status",
        KeyConditionExpression=Key("status").eq("paid"),
        ScanIndexForward=False,
        Limit=3,
    )
    assert [int(item["number"]) for item in by_status["Items"]] == [58, 56, 54]
    assert by_status["LastEvaluatedKey"]["number"] == 54

    updated = table.update_item(
        Key={"customer": "ada", "number": 1},
        UpdateExpression="SET #s = :paid, #t = #t + :tip ADD tags :tag",
        ConditionExpression=Attr("status").eq("open"),
        ExpressionAttributeNames={"#s": "status", "#t": "total"},
        ExpressionAttributeValues={":paid": "paid", ":tip": Decimal("0.50"), ":tag": {"c"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    assert updated["total"] == Decimal("13.00")
    assert updated["tags"] == {"a", "b", "c"}
    assert updated["photo"] == b"\x00\xff"

    with pytest.raises(ClientError) as caught:
        table.put_item(
            Item={"customer": "ada", "number": 1}, ConditionExpression=Attr("number").not_exists()
        )
    assert caught.value.response["Error"]["Code"] == "ConditionalCheckFailedException"


def test_the_client_pages_transacts_and_reads_the_stream(table: Any, keyfold_url: str) -> None:
    client: Any = boto3.client("dynamodb", endpoint_url=keyfold_url)

    def put(number: int, **more: Any) -> dict[str, Any]:
        item = {"customer": {"S": "bob"}, "number": {"N": str(number)}}
        return {"Put": {"TableName": "BotoOrders", "Item": item, **more}}

    client.transact_write_items(TransactItems=[put(number) for number in range(30)])
    with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
        client.transact_write_items(
            TransactItems=[put(99), put(1, ConditionExpression="attribute_not_exists(customer)")]
        )
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]

    pages = client.get_paginator("query").paginate(
        TableName="BotoOrders",
        KeyConditionExpression="customer = :c",
        ExpressionAttributeValues={":c": {"S": "bob"}},
        PaginationConfig={"PageSize": 7},
    )
    numbers = [int(item["number"]["N"]) for page in pages for item in page["Items"]]
    assert numbers == list(range(30))

    streams: Any = boto3.client("dynamodbstreams", endpoint_url=keyfold_url)
    arn = table.latest_stream_arn
    shards = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = streams.get_shard_iterator(
        StreamArn=arn, ShardId=shards[0]["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    records = streams.get_records(ShardIterator=iterator)["Records"]
    assert {record["eventName"] for record in records} == {"INSERT"}
    assert len(records) == 30


def test_what_is_not_there_is_told_apart(keyfold_url: str) -> None:
    client: Any = boto3.client("dynamodb", endpoint_url=keyfold_url)
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.describe_table(TableName="Nowhere")
    with pytest.raises(ClientError, match="ValidationException"):
        client.query(TableName="Nowhere")


def test_answers_without_a_body_and_the_endpoint_of_this_machine(
    table: Any, keyfold_url: str
) -> None:
    client: Any = boto3.client("dynamodb", endpoint_url=keyfold_url)
    arn = table.table_arn
    tagged = client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert tagged["ResponseMetadata"]["HTTPHeaders"]["content-length"] == "0"
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    untagged = client.untag_resource(ResourceArn=arn, TagKeys=["a"])
    assert untagged["ResponseMetadata"]["HTTPHeaders"]["content-length"] == "0"
    [endpoint] = client.describe_endpoints()["Endpoints"]
    assert endpoint["Address"] == keyfold_url.rpartition("/")[2]
