"""What is in tables, read with boto3 alone: it shares no code with the migrator."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from typing import Any

import boto3

from keyfold_engine.engine import Engine
from keyfold_engine.wire.background import BackgroundServer

KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
_WIDE = Context(prec=60)


@contextmanager
def witness(engine: Engine) -> Iterator[Any]:
    """A boto3 client of an engine that is served over HTTP."""
    with BackgroundServer(engine) as server, boto_client(server.url) as client:
        yield client


@contextmanager
def boto_client(url: str) -> Iterator[Any]:
    client = boto3.client("dynamodb", endpoint_url=url, **KEYS)
    yield client
    client.close()


def contents(client: Any, *tables: str) -> set[Any]:
    """Every item of every table, as one value that is equal only for equal contents."""
    found = set()
    for table in tables or client.list_tables()["TableNames"]:
        if table == "keyfold_migrations":
            continue
        for page in client.get_paginator("scan").paginate(TableName=table):
            found |= frozen_items([(table, item) for item in page["Items"]])
    return found


def frozen_items(items: list[tuple[str, dict[str, Any]]]) -> set[Any]:
    """Items with their tables, in a form that can be compared."""
    return {(table, frozenset((n, _frozen(v)) for n, v in item.items())) for table, item in items}


def _bytes(value: Any) -> bytes:
    """What boto3 gives, and what the wire has as text."""
    return base64.b64decode(value) if isinstance(value, str) else bytes(value)


def _frozen(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == "N":
        return kind, _WIDE.create_decimal(content)
    if kind == "NS":
        return kind, frozenset(Decimal(one) for one in content)
    if kind in ("B", "BS"):
        return kind, frozenset(map(_bytes, content if kind == "BS" else [content]))
    if kind == "SS":
        return kind, frozenset(content)
    if kind == "L":
        return kind, tuple(map(_frozen, content))
    if kind == "M":
        return kind, frozenset((name, _frozen(one)) for name, one in content.items())
    return kind, content
