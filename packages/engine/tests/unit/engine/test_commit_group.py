from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import cast

import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine.commit_group import Result, Writes
from keyfold_engine.errors import ConditionFailed

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class Gate:
    """An engine whose commits wait until the gate is opened, and which remembers their sizes."""

    starts = False
    """Whether calls are carried out before the gate, and only the commit waits for it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.opened = Event()
        self.sizes: list[int] = []

    def call_bytes(self, operation: str, body: bytes) -> bytes:
        return self._engine.call_bytes(operation, body)

    def call_many_bytes(self, calls: Sequence[tuple[str, bytes]]) -> list[Result]:
        self.sizes.append(len(calls))
        assert self.opened.wait(10)
        return self._engine.call_many_bytes(calls)

    def start_many_bytes(
        self, calls: Sequence[tuple[str, bytes]]
    ) -> Callable[[], list[Result]] | None:
        commit = self._engine.start_many_bytes(calls) if self.starts else None
        if commit is None:
            return None
        self.sizes.append(len(calls))

        def later() -> list[Result]:
            assert self.opened.wait(10)
            return commit()

        return later


def put(pk: str) -> bytes:
    item = {"pk": {"S": pk}}
    condition = "attribute_not_exists(pk)"
    return orjson.dumps({"TableName": "Things", "Item": item, "ConditionExpression": condition})


async def submitted(writes: Writes, pk: str) -> Result:
    done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    writes.submit("PutItem", put(pk), done.set_result)
    return await done


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with Engine.open(tmp_path / "things.db") as engine:
        engine.call("CreateTable", TABLE)
        yield Gate(engine)


@pytest.mark.parametrize("starts", [True, False])
async def test_writes_that_arrive_during_a_commit_share_the_next_one(
    gate: Gate, starts: bool
) -> None:
    gate.starts = starts
    with ThreadPoolExecutor(1) as thread:
        writes = Writes(cast("Engine", gate), asyncio.get_running_loop(), thread)
        first = asyncio.create_task(submitted(writes, "0"))
        while not gate.sizes:
            await asyncio.sleep(0)
        others = [asyncio.create_task(submitted(writes, str(n))) for n in range(1, 20)]
        await asyncio.sleep(0)
        gate.opened.set()
        assert await asyncio.gather(first, *others) == [b"{}"] * 20
    assert gate.sizes == [1, 19]


async def test_writes_of_one_turn_of_the_loop_share_a_commit(gate: Gate) -> None:
    gate.opened.set()
    writes = Writes(cast("Engine", gate), asyncio.get_running_loop(), None)
    results = await asyncio.gather(*(submitted(writes, pk) for pk in ("a", "b", "a", "c")))
    assert gate.sizes == [4]
    assert [isinstance(result, bytes) for result in results] == [True, True, False, True]
    assert isinstance(results[2], ConditionFailed)
