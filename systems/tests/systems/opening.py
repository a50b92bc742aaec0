"""A system on our engine, the same over HTTP, or on the server that an address names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.systems.conftest import ADDRESS

from keyfold import AsyncDb, Db, Design, new_ulid
from keyfold.testing import Sandbox
from keyfold_engine.wire import BackgroundServer
from keyfold_web import Identity, Service
from keyfold_web.dispatch import Caller, Dispatch

LATER = pytest.mark.sandbox(start=datetime(2031, 1, 1, tzinfo=UTC))
"""Servers with a clock of their own delete what is over by it, so tests are in the future."""


@asynccontextmanager
async def opened(design: Design, sandbox: Sandbox, backend: str) -> AsyncIterator[AsyncDb]:
    """The design, empty. On somebody else's server its tables have a prefix of their own: dynoxide
    gives a table's stream the records of a dropped table of the same name."""
    with ExitStack() as stack:
        if backend == "embedded":
            db = await sandbox.open_async(design)
        else:
            elsewhere = backend == "address"
            url = (
                ADDRESS if elsewhere else stack.enter_context(BackgroundServer(sandbox.engine)).url
            )
            db = await design.open_async(
                url or "",
                clock=sandbox.clock,
                table_prefix=f"{new_ulid()}-" if elsewhere else "",
                create_tables=True,
            )
        yield db
        await db.close()


def beside(design: Design, db: AsyncDb, sandbox: Sandbox, backend: str) -> Db:
    """The same tables for code without an event loop."""
    if backend == "address":
        return design.open(ADDRESS or "", clock=sandbox.clock, table_prefix=db.context.table_prefix)
    return sandbox.open(design)


async def stored(db: AsyncDb, table: str) -> list[dict[str, Any]]:
    """Everything a table holds, as it is stored."""
    found: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": f"{db.context.table_prefix}{table}"}
    while True:
        answer = await db.client.call("Scan", request)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


async def sweep(db: AsyncDb, sandbox: Sandbox, table: str) -> None:
    """Remove what is over, as time to live does, also where the server's clock is not ours."""
    sandbox.engine.sweep()
    for item in await stored(db, table):
        if "ttl" in item and float(item["ttl"]["N"]) <= sandbox.clock.now():
            key = {name: item[name] for name in ("PK", "SK")}
            request = {"TableName": f"{db.context.table_prefix}{table}", "Key": key}
            await db.client.call("DeleteItem", request)


async def forget_progress(db: AsyncDb) -> None:
    """Lose the consumer's checkpoints: every record of the stream is delivered again."""
    for item in await stored(db, "keyfold_streams"):
        if item["PK"]["S"].startswith("SHARDS#"):
            await db.client.call(
                "DeleteItem",
                {
                    "TableName": f"{db.context.table_prefix}keyfold_streams",
                    "Key": {name: item[name] for name in ("PK", "SK")},
                },
            )


async def ask(
    service: Service, name: str, caller: Identity, request_id: str | None = None, **arguments: Any
) -> Any:
    """Call an operation as the API does: with its rule, and once for a request id."""
    operation = service.operations[name]
    given = {"request_id": request_id} if operation.takes_request_id else {}
    return await Dispatch(service).call(
        operation, lambda: {**given, **arguments}, Caller(caller), "rest"
    )
