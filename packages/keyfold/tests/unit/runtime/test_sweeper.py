"""An embedded engine deletes what has expired by itself, unless somebody else moves its clock."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from weakref import ref

import pytest

from keyfold import Design, Entity, Id, Key, Timestamp, Ttl
from keyfold_engine.clients import connect, connect_async
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, sweeper
from keyfold_engine.errors import StorageError

TABLE: dict[str, Any] = {
    "TableName": "Things",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
TTL = {
    "TableName": "Things",
    "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"},
}
THING = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}
PATIENCE = 30.0

design = Design("sweeping")
table = design.table("Notes", ttl="ttl")


class Note(Entity, table=table):
    note_id: Id
    ends: Annotated[Timestamp | None, Ttl()] = None
    key = Key("NOTE#{note_id}", "NOTE")


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "SWEEP_SECONDS", 0.02)


def _sweepers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "keyfold-sweeper"}


@pytest.fixture(autouse=True)
def others() -> Iterator[set[threading.Thread]]:
    """Sweepers of before; those of the test are gone after it."""
    before = _sweepers()
    yield before
    for thread in _sweepers() - before:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def _put_expired(seconds_ago: float = 60) -> dict[str, Any]:
    ended = int(time.time() - seconds_ago)
    return {"TableName": "Things", "Item": {"pk": {"S": "a"}, "ends": {"N": str(ended)}}}


@pytest.mark.parametrize("place", ["memory", "file"])
def test_an_expired_item_goes_by_itself(place: str, tmp_path: Path) -> None:
    client = connect(":memory:" if place == "memory" else str(tmp_path / "data.db"))
    client.call("CreateTable", TABLE)
    client.call("UpdateTimeToLive", TTL)
    client.call("PutItem", _put_expired())
    deadline = time.monotonic() + PATIENCE
    while "Item" in client.call("GetItem", THING):
        assert time.monotonic() < deadline, "nobody swept"
        time.sleep(0.01)
    client.close()


async def test_an_expired_item_goes_by_itself_beside_an_event_loop(tmp_path: Path) -> None:
    client = connect_async(str(tmp_path / "data.db"))
    await client.call("CreateTable", TABLE)
    await client.call("UpdateTimeToLive", TTL)
    await client.call("PutItem", _put_expired())
    async with asyncio.timeout(PATIENCE):
        while "Item" in await client.call("GetItem", THING):
            await asyncio.sleep(0.01)
    await client.close()


def test_a_design_that_is_opened_by_an_address_is_swept(
    tmp_path: Path, others: set[threading.Thread]
) -> None:
    with design.open(str(tmp_path / "data.db")):
        assert len(_sweepers() - others) == 1


async def test_a_design_on_an_event_loop_is_swept(
    tmp_path: Path, others: set[threading.Thread]
) -> None:
    db = await design.open_async(str(tmp_path / "data.db"))
    assert len(_sweepers() - others) == 1
    await db.close()


def test_an_engine_that_was_forgotten_is_not_kept_for_its_sweeper() -> None:
    client = connect(":memory:")
    assert isinstance(client, EmbeddedClient)
    engine = ref(client.engine)
    del client
    gc.collect()
    assert engine() is None


def test_with_a_clock_of_its_own_nothing_goes_before_it_is_told_to(
    others: set[threading.Thread],
) -> None:
    clock = ManualClock(1_000_000_000)
    with design.open(":memory:", clock=clock) as db:
        assert isinstance(db.client, EmbeddedClient)
        assert not _sweepers() - others
        db.put(Note(note_id="n", ends=db.context.now()))
        clock.advance(3600)
        assert db.client.call("Scan", {"TableName": "Notes"})["Count"] == 1
        assert db.client.engine.sweep() == 1
        assert db.client.call("Scan", {"TableName": "Notes"})["Count"] == 0


def test_sweeps_that_fail_are_logged_once_and_are_not_the_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    swept = threading.Event()

    class FullAtFirst(Engine):
        def __init__(self) -> None:
            self.attempts = 0

        def open_engines(self) -> list[Engine]:
            return [self]

        def sweep(self) -> int:
            self.attempts += 1
            if self.attempts <= 3:
                raise StorageError("the disk is full")
            swept.set()
            return 0

    engine = FullAtFirst()
    running = sweeper.Sweeper(engine)
    assert swept.wait(PATIENCE)
    running.stop()
    assert caplog.text.count("cannot delete what has expired") == 1
