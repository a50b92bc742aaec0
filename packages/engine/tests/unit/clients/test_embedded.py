from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest

from keyfold_engine.clients import connect, connect_async
from keyfold_engine.engine import Engine
from keyfold_engine.errors import ConditionFailed, SerializationError, TableNotFound

PUT = {"TableName": "Things", "Item": {"pk": {"S": "1"}}}
GET = {"TableName": "Things", "Key": {"pk": {"S": "1"}}}


def make_table(path: Path) -> None:
    with Engine.open(path) as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "Things",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )


def test_a_file_is_opened_and_keeps_what_was_written(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect(str(tmp_path / "things.db"))
    client.call("PutItem", PUT)
    client.close()
    again = connect(str(tmp_path / "things.db"))
    assert again.call("GetItem", GET) == {"Item": PUT["Item"]}
    again.close()


async def test_tasks_write_and_read_at_the_same_time(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))

    async def write_and_read(number: int) -> Any:
        item = {"pk": {"S": str(number)}}
        await client.call("PutItem", {"TableName": "Things", "Item": item})
        return await client.call("GetItem", {"TableName": "Things", "Key": item})

    found = await asyncio.gather(*(write_and_read(number) for number in range(50)))
    assert [answer["Item"]["pk"]["S"] for answer in found] == [str(n) for n in range(50)]
    await client.close()


async def test_writes_that_meet_fail_each_by_itself(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))
    new = {**PUT, "ConditionExpression": "attribute_not_exists(pk)"}
    results = await asyncio.gather(
        *(client.call("PutItem", new) for _ in range(3)),
        client.call("PutItem", {"TableName": "Things", "Item": {"pk": {"S": "\ud800"}}}),
        return_exceptions=True,
    )
    assert [type(one) for one in results] == [
        dict,
        ConditionFailed,
        ConditionFailed,
        SerializationError,
    ]
    await client.close()


async def test_a_write_that_nobody_waits_for_any_more_is_still_made(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))
    given_up = asyncio.ensure_future(client.call("PutItem", PUT))
    await asyncio.sleep(0)
    given_up.cancel()
    await client.call("PutItem", {"TableName": "Things", "Item": {"pk": {"S": "2"}}})
    assert await client.call("GetItem", GET) == {"Item": PUT["Item"]}
    await client.close()


def test_a_client_follows_from_one_event_loop_to_the_next(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))
    asyncio.run(client.call("PutItem", PUT))
    assert asyncio.run(client.call("PutItem", PUT)) == {}
    asyncio.run(client.close())


async def test_a_write_that_waits_for_the_disk_does_not_hold_the_loop(tmp_path: Path) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))
    order: list[str] = []

    async def write() -> None:
        await client.call("PutItem", PUT)
        order.append("written")

    async def other_work() -> None:
        order.append("other work")

    await asyncio.gather(write(), other_work())
    assert order == ["other work", "written"]
    await client.close()


@pytest.mark.parametrize("operation", ["GetItem", "Scan"])
async def test_errors_reach_the_caller_from_loop_and_thread(operation: str) -> None:
    client = connect_async(":memory:")
    request = {"TableName": "None"} | (
        {"Key": {"pk": {"S": "1"}}} if operation == "GetItem" else {}
    )
    with pytest.raises(TableNotFound):
        await client.call(operation, request)
    await client.close()


async def test_a_write_on_a_closed_client_fails_instead_of_waiting(tmp_path: Path) -> None:
    make_table(tmp_path / "data.db")
    client = connect_async(str(tmp_path / "data.db"))
    await client.call("PutItem", PUT)
    await client.close()
    for _ in range(2):
        with pytest.raises(Exception, match=r"shutdown|closed"):
            await asyncio.wait_for(client.call("PutItem", PUT), 10)


async def test_a_write_waits_in_a_thread_for_another_process_that_has_the_file(
    tmp_path: Path,
) -> None:
    make_table(tmp_path / "things.db")
    client = connect_async(str(tmp_path / "things.db"))
    other = apsw.Connection(str(tmp_path / "things.db"))
    other.execute("BEGIN IMMEDIATE")
    written = asyncio.ensure_future(client.call("PutItem", PUT))
    done, _ = await asyncio.wait([written], timeout=0.2)
    assert not done
    other.execute("ROLLBACK")
    assert await written == {}
    await client.close()
