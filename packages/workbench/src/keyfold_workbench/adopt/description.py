"""Tables as DescribeTable, CreateTable and templates describe them, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.schema import Index, TableSchema
from keyfold.errors import OperationError
from keyfold_engine.clients.protocol import Client


def table_schema(described: Mapping[str, Any], ttl: str | None = None) -> TableSchema:
    """A table of the design, from its description in DynamoDB's terms."""
    types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
    stream = described.get("StreamSpecification") or {}
    [partition], sorts = _sides(described["KeySchema"])
    sort = sorts[0] if sorts else None
    return TableSchema(
        name=described["TableName"],
        partition=partition,
        sort=sort,
        partition_type=types.get(partition, "S"),
        sort_type=types.get(sort, "S") if sort else "S",
        indexes=tuple(
            _index(index, types, local=local)
            for member, local in (
                ("GlobalSecondaryIndexes", False),
                ("LocalSecondaryIndexes", True),
            )
            for index in described.get(member) or ()
        ),
        ttl=ttl,
        stream=stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        billing=_billing(described),
        type_attribute=None,
    )


def _billing(described: Mapping[str, Any]) -> Any:
    summary = described.get("BillingModeSummary") or {}
    return summary.get("BillingMode") or described.get("BillingMode") or "PROVISIONED"


def _sides(schema: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of the partition key, and of the sort key."""
    partition, sort = (
        tuple(part["AttributeName"] for part in schema if part["KeyType"] == kind)
        for kind in ("HASH", "RANGE")
    )
    return partition, sort


def _index(index: Mapping[str, Any], types: Mapping[str, Any], *, local: bool) -> Index:
    partition, sort = _sides(index["KeySchema"])
    projection = index.get("Projection") or {}
    return Index(
        name=index["IndexName"],
        partition=partition,
        sort=sort or None,
        partition_type=tuple(types.get(name, "S") for name in partition),
        sort_type=tuple(types.get(name, "S") for name in sort) or "S",
        projection=projection.get("ProjectionType", "ALL"),
        included=tuple(projection.get("NonKeyAttributes") or ()),
        local=local,
    )


def live_table(client: Client, name: str) -> TableSchema:
    """A table of a backend."""
    described = client.call("DescribeTable", {"TableName": name})["Table"]
    return table_schema(described, _ttl(client, name))


def _ttl(client: Client, name: str) -> str | None:
    try:
        found = client.call("DescribeTimeToLive", {"TableName": name})
    except OperationError:
        return None
    described = found.get("TimeToLiveDescription", {})
    enabled = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return described.get("AttributeName") if enabled else None
