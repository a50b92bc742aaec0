"""A design's tables on a backend: the requests that create them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.schema import Index, TableSchema, VectorSchema
from keyfold.errors import TableInUse, TableNotFound
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow, Pause
from keyfold.runtime.walk import all_items

Request = dict[str, Any]

FIRST_UNITS = 5
"""Initial capacity of a provisioned table and its indexes, as in Amazon's console."""
MIGRATIONS = TableSchema("keyfold_migrations", partition="migration", sort="part")
"""The table where migrations keep their state."""
DROPPED = "dropped"
"""The partition that lists tables dropped by migrations."""
_THROUGHPUT = {"ReadCapacityUnits": FIRST_UNITS, "WriteCapacityUnits": FIRST_UNITS}


def create_request(table: TableSchema, name: str) -> Request:
    """The CreateTable request of a declared table."""
    types: dict[str, str] = {**table.key_types}
    request: Request = {
        "TableName": name,
        "KeySchema": key_schema(table),
        "BillingMode": table.billing,
    }
    if table.billing == "PROVISIONED":
        request["ProvisionedThroughput"] = _THROUGHPUT
    for index in table.indexes:
        types |= index.key_types
        member = "LocalSecondaryIndexes" if index.local else "GlobalSecondaryIndexes"
        request.setdefault(member, []).append(index_request(index, table.billing))
    for vector in table.vectors:
        types |= {name: "N" if name in vector.numbers else "S" for name in vector.search_attributes}
        request.setdefault("VectorIndexes", []).append(vector_request(vector))
    request["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
    ]
    if table.stream is not None:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    return request


def index_request(index: Index, billing: str) -> Request:
    """An index definition for a table with this billing mode."""
    projection: Request = {"ProjectionType": index.projection}
    if index.projection == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.included)
    request: Request = {
        "IndexName": index.name,
        "KeySchema": key_schema(index),
        "Projection": projection,
    }
    if billing == "PROVISIONED" and not index.local:
        request["ProvisionedThroughput"] = _THROUGHPUT
    return request


def vector_request(vector: VectorSchema) -> Request:
    """The definition of a vector index."""
    roles = {vector.within: "HASH", **dict.fromkeys(vector.filters, "INLINE_FILTER")}
    searched = [
        {"AttributeName": name, "SearchSchemaElementType": roles[name]}
        for name in vector.search_attributes
    ]
    return {
        "IndexName": vector.name,
        "VectorAttribute": {"AttributeName": vector.attribute},
        "Dimensions": vector.dimensions,
        "DistanceFunction": vector.distance.upper(),
        "Projection": {"ProjectionType": "ALL"},
        **({"SearchSchema": searched} if searched else {}),
    }


def key_schema(owner: TableSchema | Index) -> list[Request]:
    kinds = dict.fromkeys(owner.partition_types, "HASH") | dict.fromkeys(owner.sort_types, "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds.items()]


def create_tables(context: Context) -> Flow[list[str]]:
    """Create every missing table, with TTL; returns the names of the new ones."""
    made = []
    for table in context.design.tables.values():
        name = context.physical(table.schema)
        try:
            yield Call("DescribeTable", {"TableName": name})
            continue
        except TableNotFound:
            pass
        try:
            yield Call("CreateTable", create_request(table.schema, name))
        except TableInUse:
            # Another process creates it, and enables its TTL.
            yield from until_active(name)
            continue
        yield from until_active(name)
        made.append(name)
        if table.schema.ttl is not None:
            specification = {"Enabled": True, "AttributeName": table.schema.ttl}
            yield Call(
                "UpdateTimeToLive",
                {"TableName": name, "TimeToLiveSpecification": specification},
            )
    return made


def refuse_dropped(context: Context) -> Flow[None]:
    """Refuse a design whose tables a migration has dropped: the data is newer than the design."""
    request = {
        "TableName": context.physical(MIGRATIONS),
        "KeyConditionExpression": "migration = :m",
        "ExpressionAttributeValues": {":m": {"S": DROPPED}},
        "ConsistentRead": True,
    }
    try:
        yield Call("DescribeTable", {"TableName": request["TableName"]})
    except TableNotFound:
        return
    found = yield from all_items(request)
    dropped = {item["part"]["S"]: item["by"]["S"] for item in found}
    for table in context.design.tables.values():
        name = context.physical(table.schema)
        if name in dropped:
            raise TableNotFound(
                f"the migration {dropped[name]} dropped the table {name}, and this design is "
                "older. Open the current design, or create the table again with create_tables=True"
            )


def until_active(name: str) -> Flow[None]:
    pause = 0.01
    while True:
        answer = yield Call("DescribeTable", {"TableName": name})
        if answer["Table"]["TableStatus"] == "ACTIVE":
            return
        yield Pause(pause)
        pause = min(pause * 2, 2.0)


def with_table_name(
    context: Context, absent: TableNotFound, request: Mapping[str, Any]
) -> TableNotFound:
    """Add the table's name and the remedy to DynamoDB's bare error."""
    if absent.message != "Requested resource not found":
        return absent
    wanted = {request.get("TableName"), *request.get("RequestItems", ())}
    for action in request.get("TransactItems", ()):
        wanted |= {member["TableName"] for member in action.values()}
    names = ", ".join(sorted(filter(None, wanted)))
    design = context.design
    if not wanted & {context.physical(table.schema) for table in design.tables.values()}:
        return TableNotFound(
            f"{absent.message}: {names}. The design {design.name} does not declare it. If the "
            "entity belongs to another design, open that one"
        )
    return TableNotFound(
        f"{absent.message}: {names}. Create the tables with db.create_tables(), or open the "
        "design with create_tables=True"
    )
