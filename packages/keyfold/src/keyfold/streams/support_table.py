"""The support table: leases, processed markers, dead letters, outbox and queues of a design.

It has no stream, so the consumer never sees its own bookkeeping as records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from keyfold.design import schema
from keyfold.design.design import Declarations
from keyfold.design.follows import SUPPORT_TABLE
from keyfold.design.table import Table
from keyfold.errors import TableInUse, TableNotFound
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold.runtime.tables import create_request, until_active
from keyfold.runtime.walk import all_items, count_items

WireItem = dict[str, Any]

TABLE: Final = schema.TableSchema(
    name=SUPPORT_TABLE,
    partition="PK",
    sort="SK",
    ttl="expires",
    type_attribute=None,
    description="What stream consumers remember.",
)


def table_of(design: Declarations) -> Table:
    """The support table as intents name it."""
    return Table(design, TABLE, camel=True)


def ensure(context: Context) -> Flow[None]:
    """Create the support table where it is missing."""
    name = context.physical(TABLE)
    try:
        yield Call("DescribeTable", {"TableName": name})
        return
    except TableNotFound:
        pass
    try:
        yield Call("CreateTable", create_request(TABLE, name))
    except TableInUse:
        return (yield from until_active(name))
    yield from until_active(name)
    specification = {"Enabled": True, "AttributeName": TABLE.ttl}
    yield Call("UpdateTimeToLive", {"TableName": name, "TimeToLiveSpecification": specification})


def key(partition: str, sort: str) -> WireItem:
    return {"PK": {"S": partition}, "SK": {"S": sort}}


def find(context: Context, at: WireItem) -> Flow[WireItem | None]:
    request = {"TableName": context.physical(TABLE), "Key": at, "ConsistentRead": True}
    answer = yield Call("GetItem", request)
    item: WireItem | None = answer.get("Item")
    return item


def put(context: Context, item: Mapping[str, Any]) -> Flow[None]:
    yield Call("PutItem", {"TableName": context.physical(TABLE), "Item": item})


def delete(context: Context, at: WireItem) -> Flow[bool]:
    """Delete an item; returns whether it existed."""
    answer = yield Call(
        "DeleteItem",
        {"TableName": context.physical(TABLE), "Key": at, "ReturnValues": "ALL_OLD"},
    )
    return "Attributes" in answer


def count(context: Context, named: str) -> Flow[int]:
    """The number of items in a partition, without loading them."""
    return (yield from count_items(_partition_query(context, named)))


def partition(context: Context, named: str, *, limit: int | None = None) -> Flow[list[WireItem]]:
    """The items of one partition in order."""
    return (yield from all_items(_partition_query(context, named), limit))


def _partition_query(context: Context, named: str) -> dict[str, Any]:
    return {
        "TableName": context.physical(TABLE),
        "KeyConditionExpression": "PK = :p",
        "ExpressionAttributeValues": {":p": {"S": named}},
        "ConsistentRead": True,
    }
