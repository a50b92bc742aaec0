"""The demo's data file: each system's tables, filled once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from keyfold.clients.embedded import EmbeddedClient
from keyfold.clients.protocol import AsyncClient
from keyfold.demo.systems import System
from keyfold.engine import Engine
from keyfold.errors import KeyfoldError, RebuildNeeded, StorageError, TableNotFound
from keyfold.maintain import rebuild
from keyfold.streams import Consumer, resume

FILLED = "keyfold-demo"
"""A table with an item for each system whose data is complete."""


def open_data(path: Path) -> Engine:
    """The engine on the demo's file; what is wrong with it is said with the way out."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What the demo writes can be made again: it does not wait for the disk.
        return Engine.open(str(path), durability="relaxed")
    except OSError as error:
        raise KeyfoldError(
            f"{path.parent} cannot be used ({error.strerror}); "
            "choose another place: keyfold demo --data FILE"
        ) from None
    except StorageError as error:
        raise KeyfoldError(
            f"{error}; move the file away and the demo makes a new one, "
            "or choose another: keyfold demo --data FILE"
        ) from None


async def incomplete_systems(client: AsyncClient, systems: Sequence[System]) -> list[System]:
    """The systems whose data is not complete yet."""
    try:
        answer = await client.call("Scan", {"TableName": FILLED})
    except TableNotFound:
        await client.call("CreateTable", _FILLED_TABLE)
        return list(systems)
    names = {item["system"]["S"] for item in answer["Items"]}
    return [system for system in systems if system.name not in names]


async def fill(client: AsyncClient, system: System) -> int:
    """Write a system's data from the start; what an attempt that was cut off left is removed."""
    for table in system.design.tables:
        with suppress(TableNotFound):
            await client.call("DeleteTable", {"TableName": table})
    items = await system.fill(await system.design.open_async(client))
    marker = {"system": {"S": system.name}}
    await client.call("PutItem", {"TableName": FILLED, "Item": marker})
    return items


def renew(engine: Engine, system: System) -> None:
    """After days away, make copies anew: the stream has forgotten what they missed."""
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
