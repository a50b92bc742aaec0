"""Tables as DescribeTable, CreateTable and templates describe them, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyfold.design.schema import Index, TableSchema, VectorSchema


def table_schema(
    described: Mapping[str, Any], ttl: str | None = None, *, name: str | None = None
) -> TableSchema:
    """A table, from its description in DynamoDB's terms; `name` is what a design calls it."""
    types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
    stream = described.get("StreamSpecification") or {}
    [partition], sorts = _sides(described["KeySchema"])
    sort = sorts[0] if sorts else None
    return TableSchema(
        name=name or described["TableName"],
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
        vectors=tuple(_vector(index, types) for index in described.get("VectorIndexes") or ()),
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


def _vector(index: Mapping[str, Any], types: Mapping[str, str]) -> VectorSchema:
    roles: dict[str, list[str]] = {"HASH": [], "INLINE_FILTER": []}
    for element in index.get("SearchSchema", ()):
        roles[element["SearchSchemaElementType"]].append(element["AttributeName"])
    asked = (*roles["HASH"], *roles["INLINE_FILTER"])
    return VectorSchema(
        index["IndexName"],
        index["VectorAttribute"]["AttributeName"],
        index["Dimensions"],
        index["DistanceFunction"].lower(),
        within=roles["HASH"][0] if roles["HASH"] else "",
        filters=tuple(roles["INLINE_FILTER"]),
        numbers=tuple(name for name in asked if types.get(name) == "N"),
    )


def ttl_attribute(answer: Mapping[str, Any]) -> str | None:
    """The attribute by which items expire, from the answer of DescribeTimeToLive."""
    found = answer.get("TimeToLiveDescription", {})
    enabled = found.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return found.get("AttributeName") if enabled else None
