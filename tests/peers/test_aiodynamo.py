"""aiodynamo against `keyfold serve`."""

from __future__ import annotations

import asyncio

import pytest
from aiodynamo.client import Client
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.errors import ConditionalCheckFailed, ItemNotFound
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.httpx import HTTPX
from aiodynamo.models import (
    BatchWriteRequest,
    KeySchema,
    KeySpec,
    KeyType,
    PayPerRequest,
    ReturnValues,
)
from httpx import AsyncClient
from yarl import URL


async def test_a_table_is_used_from_an_event_loop(keyfold_url: str) -> None:
    async with AsyncClient() as http:
        keys = StaticCredentials(Key("a", "b"))
        client = Client(HTTPX(http), keys, "us-east-1", endpoint=URL(keyfold_url))
        table = client.table("AioThings")
        schema = KeySchema(KeySpec("room", KeyType.string), KeySpec("at", KeyType.number))
        await table.create(PayPerRequest(), schema, wait_for_active=True)

        messages = [{"room": "lobby", "at": at, "text": f"message {at}"} for at in range(20)]
        written = await client.batch_write({"AioThings": BatchWriteRequest(items_to_put=messages)})
        assert written == {}
        await asyncio.gather(
            *(table.put_item({"room": "lobby", "at": at, "text": "late"}) for at in range(20, 30))
        )
        condition = HashKey("room", "lobby") & RangeKey("at").gte(15)
        found = [item async for item in table.query(condition, limit=20)]
        assert [int(item["at"]) for item in found] == list(range(15, 30))
        assert await table.count(HashKey("room", "lobby")) == 30

        key = {"room": "lobby", "at": 3}
        updated = await table.update_item(
            key,
            F("likes").set(1) & F("text").set("edited"),
            condition=F("likes").does_not_exist(),
            return_values=ReturnValues.all_new,
        )
        assert updated == {**key, "likes": 1, "text": "edited"}
        await table.update_item(key, F("likes").add(2))
        assert (await table.get_item(key, projection=F("likes")))["likes"] == 3
        with pytest.raises(ConditionalCheckFailed):
            await table.delete_item(key, condition=F("likes").equals(1))
        with pytest.raises(ItemNotFound):
            await table.get_item({"room": "lobby", "at": 999})
        await table.delete(wait_for_disabled=True)
        assert not await table.exists()
