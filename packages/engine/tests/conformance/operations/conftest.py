"""Every conformance test runs in this process, over HTTP, and over HTTP with boto3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

import boto3
import botocore.config
import botocore.session
import pytest

from keyfold_engine.clients import connect
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clients.protocol import Client
from keyfold_engine.engine import Engine
from keyfold_engine.wire.background import BackgroundServer

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

_numbers = count()


@pytest.fixture(scope="session", params=["engine", "http", "boto3"])
def way(request: pytest.FixtureRequest) -> str:
    """How an engine is asked."""
    found: str = request.param
    return found


@contextmanager
def reached(engine: Engine, way: str) -> Iterator[Client]:
    """A client that asks an engine in one of the ways."""
    if way == "engine":
        yield EmbeddedClient(engine)
        return
    with BackgroundServer(engine) as server:
        client = connect(server.url) if way == "http" else _boto(server.url)
        yield client
        client.close()


@pytest.fixture(scope="session")
def call(way: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """`call(operation, request)` of one backend."""
    with (
        Engine.open(buckets=tmp_path_factory.mktemp("buckets")) as engine,
        reached(engine, way) as client,
    ):
        yield client.call


def _boto(url: str) -> Client:
    """boto3 as the client; it sends also what botocore would refuse itself."""
    core = _core()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", url)
        return connect(boto3.Session("a", "b", region_name="us-east-1", botocore_session=core))


@cache
def _core() -> botocore.session.Session:
    """One for all clients: it reads the service model once."""
    core = botocore.session.get_session()
    core.set_default_client_config(
        botocore.config.Config(parameter_validation=False, retries={"total_max_attempts": 1})
    )
    return core


@pytest.fixture
def name() -> str:
    """A table name that no other test uses."""
    return f"Table{next(_numbers)}"


@pytest.fixture
def table(call: Call, name: str) -> str:
    """A table with keys pk (S) and sk (N), a local and two global indexes."""
    call("CreateTable", definition(name))
    return name


def definition(name: str) -> dict[str, Any]:
    types = {"pk": "S", "sk": "N", "l": "S", "g": "S", "h": "S"}

    def schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
        elements = [{"AttributeName": partition, "KeyType": "HASH"}]
        return elements + ([{"AttributeName": sort, "KeyType": "RANGE"}] if sort else [])

    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in types.items()
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": schema("pk", "l"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "everything",
                "KeySchema": schema("g", "sk"),
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "some",
                "KeySchema": schema("h"),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kept"]},
            },
        ],
    }


@pytest.fixture
def put(call: Call, table: str) -> Callable[..., dict[str, Any]]:
    """Put an item by its key and attributes: text becomes S, numbers N."""

    def put_item(pk: str, sk: int, **attributes: Any) -> dict[str, Any]:
        item = {"pk": {"S": pk}, "sk": {"N": str(sk)}}
        for attribute, value in attributes.items():
            item[attribute] = wire(value)
        call("PutItem", {"TableName": table, "Item": item})
        return item

    return put_item


def wire(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {"S": value} if isinstance(value, str) else {"N": str(value)}
