"""An index is filled in the order of its entries, whatever is written meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conftest import CreateTable

from keyfold_engine.engine import Engine, backfill, index_fill
from keyfold_engine.engine.index_fill import IndexFill
from keyfold_engine.errors import StorageError

NAME = "Filled"
Steps = list[Callable[[], bool]]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    """The steps of what would run in the background, few rows in each."""
    found: Steps = []
    monkeypatch.setattr(
        backfill.Backfills, "_in_thread", lambda _self, _name, step: found.append(step)
    )
    monkeypatch.setattr(backfill, "_ITEMS_PER_COMMIT", 20)
    monkeypatch.setattr(index_fill, "_READS_PER_STEP", 1)
    monkeypatch.setattr(index_fill, "_ENTRIES_PER_COMMIT", 30)
    monkeypatch.setattr(index_fill, "_TOUCHED_PER_COMMIT", 10)
    return found


@pytest.fixture(params=["memory", "file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return ":memory:" if request.param == "memory" else tmp_path / "data.db"


def opened(path: Any, seed: int = 0) -> Engine:
    where = path if path == ":memory:" else f"{path}{seed}"
    return Engine.open(where, durability="relaxed")


def creation(projection: str = "ALL") -> dict[str, Any]:
    keys = [{"AttributeName": "g", "KeyType": "HASH"}]
    index = {
        "IndexName": "by_g",
        "KeySchema": keys,
        "Projection": {"ProjectionType": projection},
    }
    return {
        "TableName": NAME,
        "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }


def put(engine: Engine, number: int, **values: str) -> None:
    item = {"pk": {"S": str(number)}, **{name: {"S": value} for name, value in values.items()}}
    engine.call("PutItem", {"TableName": NAME, "Item": item})


def write(engine: Engine, random: random.Random) -> None:
    """One write of an item that is there, or is not."""
    number = random.randrange(250)
    key = {"TableName": NAME, "Key": {"pk": {"S": str(number)}}}
    match random.randrange(5):
        case 0:
            put(engine, number)
        case 1:
            put(engine, number, g=random.choice("abc"), text="x" * random.randrange(50))
        case 2:
            engine.call("DeleteItem", key)
        case 3:
            values = {":v": {"S": random.choice("abc")}}
            update = {"UpdateExpression": "SET g = :v", "ExpressionAttributeValues": values}
            engine.call("UpdateItem", {**key, **update})
        case 4:
            values = {":v": {"S": "y" * random.randrange(50)}}
            update = {"UpdateExpression": "SET #t = :v", "ExpressionAttributeValues": values}
            names = {"ExpressionAttributeNames": {"#t": "text"}}
            engine.call("UpdateItem", {**key, **update, **names})


def check(engine: Engine) -> None:
    """The index is there, with exactly the entries that writes would have kept."""
    description = engine.call("DescribeTable", {"TableName": NAME})["Table"]
    assert description["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    execute = engine.database.commits._writer.execute
    table, index = engine.database.table(NAME), engine.database.table(NAME).global_indexes[0]
    rows = list(execute(f"SELECT row, place, size, body FROM items_{table.id}"))
    expected = sorted(index_fill.entries_of(index, rows))
    assert (
        list(execute(f"SELECT * FROM index_{table.id}_{index.number} ORDER BY place")) == expected
    )


@pytest.mark.parametrize("projection", ["ALL", "KEYS_ONLY"])
def test_an_index_has_what_was_written_while_it_was_filled(
    path: Any, steps: Steps, create_table: CreateTable, projection: str
) -> None:
    for seed in range(10):
        chance = random.Random(seed)
        with opened(path, seed) as engine:
            create_table(engine, NAME)
            for number in range(200):
                put(engine, number, g=chance.choice("abc"))
            engine.call("UpdateTable", creation(projection))
            (step,) = steps
            while step():
                for _ in range(chance.randrange(4)):
                    write(engine, chance)
            check(engine)
            steps.clear()


def test_another_process_that_writes_is_noticed(
    tmp_path: Path, steps: Steps, create_table: CreateTable
) -> None:
    path = tmp_path / "data.db"
    for seed in range(10):
        chance = random.Random(seed)
        with opened(path, seed) as engine, opened(path, seed) as other:
            create_table(engine, NAME)
            for number in range(200):
                put(engine, number, g=chance.choice("abc"))
            engine.call("UpdateTable", creation())
            (step,) = steps
            while step():
                if chance.random() < seed / 20:
                    write(other, chance)
            check(engine)
            steps.clear()


def test_a_step_that_failed_is_repeated(
    path: Any, steps: Steps, create_table: CreateTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as engine:
        create_table(engine, NAME)
        for number in range(200):
            put(engine, number, g="abc"[number % 3])
        engine.call("UpdateTable", creation())
        (step,) = steps
        commit = engine.database.commits._commit
        failures = iter([True, False, True, False, False] * 20)

        def failing() -> None:
            if next(failures):
                raise StorageError("the disk is full")
            commit()

        more = True
        while more:
            with monkeypatch.context() as patched:
                patched.setattr(engine.database.commits, "_commit", failing)
                try:
                    more = step()
                except StorageError:
                    continue
            write(engine, random.Random(1))
        check(engine)


def test_what_is_done_is_forgotten(engine: Engine, steps: Steps, create_table: CreateTable) -> None:
    create_table(engine, NAME)
    for number in range(100):
        put(engine, number, g="a")
    engine.call("UpdateTable", creation())
    fills: dict[int, list[IndexFill]] = engine.database.backfills._fills
    assert [len(each) for each in fills.values()] == [1]
    run = partial(all, iter(steps[0], False))
    run()
    assert [len(each) for each in fills.values()] == [0]
