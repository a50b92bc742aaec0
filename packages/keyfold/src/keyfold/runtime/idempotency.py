"""Idempotency: a request id is claimed, then stores the result.

A claim is a lease. If its owner dies, the next attempt with the same id takes over when the lease
ends and runs the work again. So the work's own writes should be guarded creates or conditional
updates.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from keyfold.design.table import Table
from keyfold.errors import ConditionFailed, PlanError, RequestReused, TransactionInProgress
from keyfold.runtime.context import Context
from keyfold.runtime.flow import Call, Flow
from keyfold_engine.limits import PARTITION_KEY_BYTES

T = TypeVar("T")

LEASE_SECONDS = 60.0
TTL_SECONDS = 24 * 3600.0
PREFIX = "ONCE#"


@dataclass(frozen=True)
class RequestClaim:
    """A request id claimed by this attempt; `stored` is the result of an earlier attempt."""

    table: str
    key: dict[str, Any]
    owner: str
    stored: bytes | None = None


def claim(context: Context, request_id: str, payload: Any, ttl: float) -> Flow[RequestClaim]:
    """Claim the id, or find its result; refuses an id that was used with another payload.

    The id is free again after `ttl` seconds, whether or not DynamoDB has removed its item by then.
    """
    table = support_table(context)
    name = context.physical(table.schema)
    key = _key(table, request_id)
    owner = uuid.uuid4().hex
    digest = fingerprint(payload)
    now = context.clock.now()
    item: dict[str, Any] = {
        **key,
        "owner": {"S": owner},
        "payload": {"S": digest},
        "leaseUntil": {"N": f"{now + LEASE_SECONDS:.3f}"},
        "keptUntil": {"N": f"{now + ttl:.3f}"},
    }
    if table.schema.type_attribute is not None:
        item[table.schema.type_attribute] = {"S": "Once"}
    if table.schema.ttl is not None:
        item[table.schema.ttl] = {"N": str(int(now + ttl))}
    try:
        yield Call(
            "PutItem",
            {
                "TableName": name,
                "Item": item,
                "ConditionExpression": "attribute_not_exists(#key) OR #kept < :now OR "
                "(#payload = :payload AND attribute_not_exists(#result) AND #lease < :now)",
                "ExpressionAttributeNames": {
                    "#key": table.schema.partition,
                    "#payload": "payload",
                    "#result": "result",
                    "#lease": "leaseUntil",
                    "#kept": "keptUntil",
                },
                "ExpressionAttributeValues": {
                    ":payload": {"S": digest},
                    ":now": {"N": f"{now:.3f}"},
                },
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
        )
    except ConditionFailed as failed:
        return RequestClaim(name, key, owner, _stored_result(failed.item or {}, request_id, digest))
    return RequestClaim(name, key, owner)


def finish(claimed: RequestClaim, result: Any) -> Flow[None]:
    """Store the result for later attempts."""
    body = TypeAdapter[Any](type(result)).dump_json(result, by_alias=False)
    yield Call(
        "UpdateItem",
        {
            "TableName": claimed.table,
            "Key": claimed.key,
            "UpdateExpression": "SET #result = :result",
            "ConditionExpression": "#owner = :owner",
            "ExpressionAttributeNames": {"#result": "result", "#owner": "owner"},
            "ExpressionAttributeValues": {
                ":result": {"S": body.decode()},
                ":owner": {"S": claimed.owner},
            },
        },
    )


def release(claimed: RequestClaim) -> Flow[None]:
    """Release the id after the work failed, so that it can be retried."""
    try:
        yield Call(
            "DeleteItem",
            {
                "TableName": claimed.table,
                "Key": claimed.key,
                "ConditionExpression": "#owner = :owner",
                "ExpressionAttributeNames": {"#owner": "owner"},
                "ExpressionAttributeValues": {":owner": {"S": claimed.owner}},
            },
        )
    except ConditionFailed:
        return


def restore_result(stored: bytes, result: type[T]) -> T:
    """The stored result, as the first call returned it."""
    return TypeAdapter(result).validate_json(stored, by_name=True, by_alias=False)


def fingerprint(payload: Any) -> str:
    """A hash that is equal for equal payloads, in every process."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    try:
        body = TypeAdapter[Any](type(payload)).dump_python(payload)
        written = orjson.dumps(body, default=_stable, option=options)
    except (PydanticSchemaGenerationError, PydanticSerializationError, TypeError) as problem:
        raise PlanError(
            f"the payload of a request cannot be compared: {problem}; use plain values or models"
        ) from None
    return hashlib.sha256(written).hexdigest()


def _stable(value: Any) -> Any:
    # Sets have no stable order across processes.
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    return to_jsonable_python(value)


def support_table(context: Context) -> Table:
    """The table that holds keyfold's own items for a design; if possible one that expires them."""
    suitable = [
        table
        for table in context.design.tables.values()
        if table.schema.partition_type == "S" and table.schema.sort_type == "S"
    ]
    if not suitable:
        raise PlanError(f"the design {context.design.name} has no table with text keys")
    return next((table for table in suitable if table.schema.ttl is not None), suitable[0])


def _key(table: Table, request_id: str) -> dict[str, Any]:
    if not request_id:
        raise PlanError("a request id cannot be empty")
    most = PARTITION_KEY_BYTES - len(PREFIX)
    if not isinstance(request_id, str) or len(request_id.encode(errors="replace")) > most:
        raise PlanError(
            f"a request id must be text of at most {most} bytes; got {request_id!r:.60}"
        )
    key = {table.schema.partition: {"S": f"{PREFIX}{request_id}"}}
    if table.schema.sort is not None:
        key[table.schema.sort] = {"S": "ONCE"}
    return key


def _stored_result(item: dict[str, Any], request_id: str, digest: str) -> bytes:
    if item.get("payload", {}).get("S") != digest:
        raise RequestReused(
            f"the request id {request_id!r} was used with another payload; use a new id"
        )
    result = item.get("result", {}).get("S")
    if result is None:
        raise TransactionInProgress(f"the request {request_id!r} is in progress; retry in a moment")
    return str(result).encode()
