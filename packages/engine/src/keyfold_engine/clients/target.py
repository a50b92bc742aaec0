"""Which of Amazon's two APIs an operation belongs to."""

from __future__ import annotations

from keyfold_engine.operations import STREAMS


def target(operation: str) -> str:
    """The value of `X-Amz-Target`."""
    api = "DynamoDBStreams" if operation in STREAMS else "DynamoDB"
    return f"{api}_20120810.{operation}"
