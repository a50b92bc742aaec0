"""Indexes: projections, keys of several attributes, and indexes made while items are written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.engine import Engine
from keyfold_engine.engine.tables import after, component, segment
from keyfold_engine.errors import LimitExceeded, TableInUse, ValidationError

CreateTable = Callable[..., None]


def _creation(index: str, *attributes: str, **more: Any) -> dict[str, Any]:
    """An UpdateTable request that adds an index with keys like `a:S`, sort keys after a `|`."""
    partition, _, sort = " ".join(attributes).partition("|")
    elements = [(name, "HASH") for name in partition.split()]
    elements += [(name, "RANGE") for name in sort.split()]
    return {
        "TableName": "Indexed",
        "AttributeDefinitions": [
            {"AttributeName": each.split(":")[0], "AttributeType": each.split(":")[1]}
            for each, _ in elements
        ],
        "GlobalSecondaryIndexUpdates": [
            {
                "Create": {
                    "IndexName": index,
                    "KeySchema": [
                        {"AttributeName": each.split(":")[0], "KeyType": kind}
                        for each, kind in elements
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                    **more,
                }
            }
        ],
    }


def _put(engine: Engine, key: str, **attributes: Any) -> None:
    item = {"pk": {"S": key}}
    for name, value in attributes.items():
        item[name] = {"N": str(value)} if isinstance(value, int) else {"S": value}
    engine.call("PutItem", {"TableName": "Indexed", "Item": item})


def _query(engine: Engine, index: str, condition: str, **values: Any) -> list[str]:
    answer = engine.call(
        "Query",
        {
            "TableName": "Indexed",
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {
                f":{name}": {"N": str(v)} if isinstance(v, int) else {"S": v}
                for name, v in values.items()
            },
        },
    )
    return [item["pk"]["S"] for item in answer["Items"]]


def test_keys_of_several_attributes_are_ordered_attribute_by_attribute(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Indexed")
    engine.call("UpdateTable", _creation("wide", "country:S city:S | y:N m:N street:S"))
    _put(engine, "1", country="de", city="bonn", y=2024, m=2, street="b")
    _put(engine, "2", country="de", city="bonn", y=2024, m=10, street="a")
    _put(engine, "3", country="de", city="bonn", y=2023, m=12, street="z")
    _put(engine, "4", country="de", city="kiel", y=2024, m=1, street="a")
    _put(engine, "incomplete", country="de", city="bonn", y=2024, m=1)
    both = "country = :c AND city = :t"
    place = {"c": "de", "t": "bonn"}
    assert _query(engine, "wide", both, **place) == ["3", "1", "2"]
    assert _query(engine, "wide", f"{both} AND y = :y", **place, y=2024) == ["1", "2"]
    chosen = _query(engine, "wide", f"{both} AND y = :y AND m > :m", **place, y=2024, m=2)
    assert chosen == ["2"]
    exact = f"{both} AND y = :y AND m = :m AND begins_with(street, :s)"
    assert _query(engine, "wide", exact, **place, y=2024, m=2, s="b") == ["1"]


def test_pages_of_an_index_with_equal_keys_show_each_item_once(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Indexed", indexes={"by_g": ("g:S",)})
    for number in range(7):
        _put(engine, str(number), g="same")
    seen: list[str] = []
    request: dict[str, Any] = {
        "TableName": "Indexed",
        "IndexName": "by_g",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "same"}},
        "Limit": 2,
    }
    while True:
        answer = engine.call("Query", request)
        seen += [item["pk"]["S"] for item in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            break
        # The place is kept even if the item that marks it goes away meanwhile.
        last = answer["LastEvaluatedKey"]
        engine.call("DeleteItem", {"TableName": "Indexed", "Key": {"pk": last["pk"]}})
        request["ExclusiveStartKey"] = last
    assert sorted(seen) == [str(number) for number in range(7)]


def test_an_index_added_to_a_small_table_is_complete_at_once(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Indexed")
    for number in range(10):
        _put(engine, str(number), g="x" if number % 2 else "y")
    answer = engine.call("UpdateTable", _creation("by_g", "g:S"))
    (index,) = answer["TableDescription"]["GlobalSecondaryIndexes"]
    assert (index["IndexStatus"], index["Backfilling"]) == ("CREATING", True)
    assert sorted(_query(engine, "by_g", "g = :g", g="x")) == ["1", "3", "5", "7", "9"]


def test_an_index_is_backfilled_while_items_are_written(
    tmp_path: Path, create_table: CreateTable
) -> None:
    with Engine.open(tmp_path / "data.db", durability="relaxed") as engine:
        create_table(engine, "Indexed")
        for number in range(1500):
            _put(engine, str(number), g=str(number % 3))
        stop = threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                _put(engine, str(number % 1500), g=str(number % 2))
                engine.call(
                    "DeleteItem",
                    {"TableName": "Indexed", "Key": {"pk": {"S": str((number * 7) % 1500)}}},
                )
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        engine.call("UpdateTable", _creation("by_g", "g:S"))
        engine._database.backfills.wait()
        stop.set()
        writer.join()
        table = engine.call("DescribeTable", {"TableName": "Indexed"})["Table"]
        (index,) = table["GlobalSecondaryIndexes"]
        assert index["IndexStatus"] == "ACTIVE"
        assert index["ItemCount"] == table["ItemCount"]
        assert _everything(engine, "by_g") == _everything(engine, None)


def _everything(engine: Engine, index: str | None) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": "Indexed"}
    if index is not None:
        request["IndexName"] = index
    return {item["pk"]["S"]: item for item in engine.call("Scan", request)["Items"]}


def test_a_backfill_goes_on_after_the_process_ended(
    tmp_path: Path, create_table: CreateTable
) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path, durability="relaxed") as engine:
        create_table(engine, "Indexed")
        for number in range(1200):
            _put(engine, str(number), g="x")
        engine._database.backfills._stopping.set()
        engine.call("UpdateTable", _creation("by_g", "g:S"))
        engine._database.backfills.wait()
        with pytest.raises(ValidationError, match="backfilling global secondary index: by_g"):
            _query(engine, "by_g", "g = :g", g="x")
        with pytest.raises(TableInUse):
            engine.call("UpdateTable", _creation("another", "h:S"))
    with Engine.open(path) as engine:
        engine._database.backfills.wait()
        assert len(_query(engine, "by_g", "g = :g", g="x")) == 1200


def test_only_one_index_changes_at_a_time(engine: Engine, create_table: CreateTable) -> None:
    create_table(engine, "Indexed")
    request = _creation("first", "g:S")
    request["GlobalSecondaryIndexUpdates"] += _creation("second", "g:S")[
        "GlobalSecondaryIndexUpdates"
    ]
    with pytest.raises(LimitExceeded):
        engine.call("UpdateTable", request)


def test_a_deleted_index_is_gone_and_can_be_made_again(
    engine: Engine, create_table: CreateTable
) -> None:
    create_table(engine, "Indexed", indexes={"by_g": ("g:S",)})
    _put(engine, "a", g="x")
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by_g"}}]}
    engine.call("UpdateTable", {"TableName": "Indexed", **delete})
    with pytest.raises(ValidationError, match="does not have the specified index: by_g"):
        _query(engine, "by_g", "g = :g", g="x")
    _put(engine, "b", g="x")
    engine.call("UpdateTable", _creation("by_g", "g:S"))
    assert sorted(_query(engine, "by_g", "g = :g", g="x")) == ["a", "b"]


texts = st.text(st.sampled_from("\0\1ab\xff€"), max_size=5)


@given(st.lists(texts, min_size=2, max_size=2), st.lists(texts, min_size=2, max_size=2))
def test_components_compare_as_tuples_of_their_values_do(
    first: list[str], second: list[str]
) -> None:
    def place(values: list[str]) -> bytes:
        return b"".join(component({"S": value}) for value in values)

    def key(values: list[str]) -> list[bytes]:
        return [value.encode() for value in values]

    assert (place(first) < place(second)) == (key(first) < key(second))
    assert (place(first) == place(second)) == (first == second)


@given(st.binary(max_size=6), st.binary(max_size=6))
def test_after_is_behind_everything_that_begins_so(prefix: bytes, rest: bytes) -> None:
    assert prefix + rest < after(prefix)


@given(st.integers(1, 1000), st.binary(min_size=4, max_size=8))
def test_every_place_is_in_exactly_one_segment(total: int, place: bytes) -> None:
    holders = [n for n in range(total) if segment(n, total)[0] <= place < segment(n, total)[1]]
    assert len(holders) == 1
