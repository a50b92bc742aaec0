"""The demo's data file: each system's tables, filled once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from keyfold.errors import KeyfoldError, RebuildNeeded, StorageError, TableNotFound
from keyfold.maintain import rebuild
from keyfold.streams import AsyncConsumer, Consumer, resume
from keyfold_demo.systems import FormerSystem, System
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clients.protocol import AsyncClient
from keyfold_engine.engine import Engine

Filled = TypeVar("Filled", bound=System | FormerSystem)
FILLED = "keyfold-demo"
"""A table with an item per system whose data is complete."""


def open_data(path: Path) -> Engine:
    """The engine on the demo's file; errors say how to recover."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The demo's data can be recreated, so writes are not synced to disk.
        return Engine.open(str(path), durability="relaxed")
    except OSError as error:
        raise KeyfoldError(
            f"{path.parent} cannot be used ({error.strerror}); "
            "choose another place: keyfold demo --data FILE"
        ) from None
    except StorageError as error:
        raise KeyfoldError(
            f"{error}; move the file away, and the demo creates a new one, "
            "or choose another file: keyfold demo --data FILE"
        ) from None


async def incomplete_systems(client: AsyncClient, systems: Sequence[Filled]) -> list[Filled]:
    """The systems whose data is incomplete."""
    try:
        answer = await client.call("Scan", {"TableName": FILLED})
    except TableNotFound:
        await client.call("CreateTable", _FILLED_TABLE)
        return list(systems)
    names = {item["system"]["S"] for item in answer["Items"]}
    return [system for system in systems if system.name not in names]


async def fill(client: AsyncClient, system: System | FormerSystem) -> int:
    """Write a system's data from scratch, with copies and counters; removes what an interrupted
    attempt left.
    """
    for table in system.design.tables:
        with suppress(TableNotFound):
            await client.call("DeleteTable", {"TableName": f"{system.prefix}{table}"})
    db = await system.design.open_async(client, table_prefix=system.prefix)
    items = await system.fill(db)
    await AsyncConsumer(db).drain()
    marker = {"system": {"S": system.name}}
    await client.call("PutItem", {"TableName": FILLED, "Item": marker})
    return items


def renew(engine: Engine, system: System) -> None:
    """Rebuild copies after days of downtime: the stream has dropped the records."""
    db = system.design.open(EmbeddedClient(engine))
    consumer = Consumer(db)
    try:
        consumer.run_once()
    except RebuildNeeded:
        db.run(resume(db.context))
        rebuild(db, settle=Consumer(db).drain)
    finally:
        consumer.close()


_FILLED_TABLE = {
    "TableName": FILLED,
    "AttributeDefinitions": [{"AttributeName": "system", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "system", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
