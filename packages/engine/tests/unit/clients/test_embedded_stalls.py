"""Writes that are too long for the event loop are done all the same."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw

from keyfold_engine.clients.embedded import AsyncEmbeddedClient
from keyfold_engine.engine import Engine

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
KEY = {"pk": {"S": "1"}}


async def test_a_large_item_is_updated_from_an_event_loop(tmp_path: Path) -> None:
    client = AsyncEmbeddedClient(Engine.open(tmp_path / "data.db", durability="relaxed"))
    await client.call("CreateTable", TABLE)
    large = {**KEY, "text": {"S": "x" * 300_000}}
    await client.call("PutItem", {"TableName": "Things", "Item": large})
    update = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"N": "1"}}}
    await client.call("UpdateItem", {"TableName": "Things", "Key": KEY, **update})
    found = await client.call("GetItem", {"TableName": "Things", "Key": KEY})
    assert found["Item"] == {**large, "a": {"N": "1"}}
    await client.close()


async def test_a_write_waits_for_another_process_without_failing(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    client = AsyncEmbeddedClient(Engine.open(path))
    await client.call("CreateTable", TABLE)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, other.execute, ("ROLLBACK",)).start()
    await client.call("PutItem", {"TableName": "Things", "Item": KEY})
    other.close()
    assert (await client.call("GetItem", {"TableName": "Things", "Key": KEY}))["Item"] == KEY
    await client.close()
