"""Engines and tables for the tests of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine

CreateTable = Callable[..., None]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(clock: ManualClock) -> Iterator[Engine]:
    with Engine.open(":memory:", clock=clock) as engine:
        yield engine


@pytest.fixture
def create_table() -> CreateTable:
    """Create a table from short words: `create_table(engine, "T", "pk:S", "sk:N", ...)`."""

    def create(
        engine: Engine,
        name: str,
        partition: str = "pk:S",
        sort: str | None = None,
        *,
        indexes: dict[str, tuple[str, ...]] | None = None,
        projection: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        types: dict[str, str] = {}

        def element(attribute: str, kind: str) -> dict[str, str]:
            attribute_name, _, attribute_type = attribute.partition(":")
            types[attribute_name] = attribute_type
            return {"AttributeName": attribute_name, "KeyType": kind}

        def schema(attributes: tuple[str, ...]) -> list[dict[str, str]]:
            kinds = ("HASH", "RANGE")
            return [element(a, k) for a, k in zip(attributes, kinds, strict=False)]

        request: dict[str, Any] = {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": schema((partition,) if sort is None else (partition, sort)),
            **more,
        }
        if indexes:
            request["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index,
                    "KeySchema": schema(attributes),
                    "Projection": projection or {"ProjectionType": "ALL"},
                }
                for index, attributes in indexes.items()
            ]
        request["AttributeDefinitions"] = [
            {"AttributeName": n, "AttributeType": t} for n, t in types.items()
        ]
        engine.call("CreateTable", request)

    return create
