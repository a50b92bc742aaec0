"""Requests about several items at once: batches and transactions."""

from __future__ import annotations

import re
from typing import Any

import orjson

from keyfold_engine import limits
from keyfold_engine.engine.shapes.constraints import java_text
from keyfold_engine.engine.shapes.kinds import (
    Constraint,
    Member,
    Structure,
    at_least,
    at_most,
    list_of,
    map_of,
    map_values,
    required,
    structure,
)
from keyfold_engine.engine.shapes.words import (
    ATTRIBUTE_NAMES,
    ATTRIBUTES,
    COLLECTION_METRICS,
    CONSUMED,
    EXPRESSION,
    FLAG,
    NAMES,
    ON_FAILURE,
    TABLE,
    TOKEN,
)
from keyfold_engine.errors import RequestInvalid

_ITEMS_TABLE = required(TABLE.shape)
_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}").fullmatch
_NAMES = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member "
    "must have length greater than or equal to 3, Member must satisfy regular expression pattern: "
    "[a-zA-Z0-9_.-]+]"
)


def _are_tables(wishes: dict[str, Any]) -> bool:
    """Whether all keys of a map are valid table names or ARNs."""
    return all(_TABLE_NAME(name) or name.startswith("arn:") for name in wishes)


def _transaction_part(name: str, **members: Member) -> Structure:
    return structure(
        name,
        **members,
        TableName=_ITEMS_TABLE,
        ExpressionAttributeNames=NAMES,
        ExpressionAttributeValues=ATTRIBUTES,
        ReturnValuesOnConditionCheckFailure=ON_FAILURE,
    )


REQUESTS: dict[str, Structure] = {
    "BatchGetItem": structure(
        "BatchGetItemInput",
        RequestItems=Member(
            map_of(
                structure(
                    "KeysAndAttributes",
                    Keys=required(
                        list_of(ATTRIBUTES, at_most(limits.BATCH_GET_ITEMS), at_least(1))
                    ),
                    AttributesToGet=ATTRIBUTE_NAMES,
                    ConsistentRead=FLAG,
                    ProjectionExpression=EXPRESSION,
                    ExpressionAttributeNames=NAMES,
                ),
                at_most(limits.BATCH_GET_ITEMS),
                Constraint(_NAMES, _are_tables, shows=lambda wishes: orjson.dumps(wishes).decode()),
            ),
            missing="The requestItems parameter is required for BatchGetItem",
            filled=True,
        ),
        ReturnConsumedCapacity=CONSUMED,
    ),
    "BatchWriteItem": structure(
        "BatchWriteItemInput",
        ReturnConsumedCapacity=CONSUMED,
        ReturnItemCollectionMetrics=COLLECTION_METRICS,
        RequestItems=Member(
            map_of(
                list_of(
                    structure(
                        "WriteRequest",
                        PutRequest=structure("PutRequest", Item=required(ATTRIBUTES)),
                        DeleteRequest=structure("DeleteRequest", Key=required(ATTRIBUTES)),
                    )
                ),
                map_values(at_most(limits.BATCH_WRITE_ITEMS), at_least(1)),
                at_most(limits.BATCH_WRITE_ITEMS),
            ),
            missing="The requestItems parameter is required for BatchWriteItem",
            filled=True,
        ),
    ),
    "TransactGetItems": structure(
        "TransactGetItemsInput",
        ReturnConsumedCapacity=CONSUMED,
        TransactItems=required(
            list_of(
                structure(
                    "TransactGetItem",
                    Get=required(
                        structure(
                            "Get",
                            Key=required(ATTRIBUTES),
                            TableName=_ITEMS_TABLE,
                            ProjectionExpression=EXPRESSION,
                            ExpressionAttributeNames=NAMES,
                        )
                    ),
                ),
                at_most(limits.TRANSACTION_ITEMS),
                at_least(1),
            )
        ),
    ),
    "TransactWriteItems": structure(
        "TransactWriteItemsInput",
        ClientRequestToken=TOKEN,
        ReturnConsumedCapacity=CONSUMED,
        ReturnItemCollectionMetrics=COLLECTION_METRICS,
        TransactItems=required(
            list_of(
                structure(
                    "TransactWriteItem",
                    ConditionCheck=_transaction_part(
                        "ConditionCheck",
                        Key=required(ATTRIBUTES),
                        ConditionExpression=required(EXPRESSION),
                    ),
                    Put=_transaction_part(
                        "Put",
                        Item=required(ATTRIBUTES),
                        ConditionExpression=Member(EXPRESSION),
                    ),
                    Delete=_transaction_part(
                        "Delete",
                        Key=required(ATTRIBUTES),
                        ConditionExpression=Member(EXPRESSION),
                    ),
                    Update=_transaction_part(
                        "Update",
                        Key=required(ATTRIBUTES),
                        UpdateExpression=required(EXPRESSION),
                        ConditionExpression=Member(EXPRESSION),
                    ),
                ),
                at_most(limits.TRANSACTION_ITEMS),
                at_least(1),
            )
        ),
    ),
}


def check_tables(wishes: dict[str, Any]) -> None:
    """Refuse invalid table names in a BatchWriteItem."""
    if not _are_tables(wishes):
        told = java_text(REQUESTS["BatchWriteItem"].members["RequestItems"].shape, wishes)
        raise RequestInvalid(
            f"1 validation error detected: Value '{told}' at 'requestItems' failed to satisfy "
            f"constraint: {_NAMES}"
        )
