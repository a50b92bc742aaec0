"""Which of Amazon's two APIs an operation belongs to."""

from __future__ import annotations

from typing import Final

STREAM_OPERATIONS: Final = frozenset(
    {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
)


def target(operation: str) -> str:
    """The value of `X-Amz-Target`."""
    api = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
    return f"{api}_20120810.{operation}"
