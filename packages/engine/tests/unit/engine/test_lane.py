"""Calls on an event loop give up before they keep others waiting; in threads, when nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from keyfold_engine.engine import Engine
from keyfold_engine.engine import bodies as request_bodies
from keyfold_engine.engine.lane import CallerGone, InLane, LoopLane, ThreadLane, WouldStall
from keyfold_engine.engine.read import SLICE_ROWS

TABLE = {
    "TableName": "Test",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
ITEMS = 2 * SLICE_ROWS + 10
QUERY: dict[str, Any] = {
    "TableName": "Test",
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": {"S": "p"}},
}
FILTERED: dict[str, Any] = {
    **QUERY,
    "FilterExpression": "a >= :a",
    "ExpressionAttributeValues": {":p": {"S": "p"}, ":a": {"N": "0"}},
}


def item(number: int, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": f"{number:05}"}, "a": {"N": str(number)}, **more}


def put(engine: Engine, new: dict[str, Any]) -> None:
    engine.call("PutItem", {"TableName": "Test", "Item": new})


@pytest.fixture(params=["memory", "file"])
def engine(request: Any, tmp_path: Path) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else tmp_path / "data.db"
    with Engine.open(path, durability="relaxed") as opened:
        opened.call("CreateTable", TABLE)
        for first in range(0, ITEMS, 25):
            puts = [{"PutRequest": {"Item": item(n)}} for n in range(first, first + 25)]
            opened.call("BatchWriteItem", {"RequestItems": {"Test": puts}})
        yield opened


@pytest.mark.parametrize("query", [QUERY, FILTERED], ids=["all", "filtered"])
def test_a_long_page_is_given_up_on_a_loop_and_read_elsewhere(
    engine: Engine, query: dict[str, Any]
) -> None:
    body = orjson.dumps(query)
    with InLane(LoopLane(seconds=0)), pytest.raises(WouldStall):
        engine.call_bytes("Query", body)
    with InLane(ThreadLane(lambda: False)):
        assert orjson.loads(engine.call_bytes("Query", body)) == engine.call("Query", query)


@pytest.mark.parametrize("query", [QUERY, FILTERED], ids=["all", "filtered"])
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "limit", [None, SLICE_ROWS - 1, SLICE_ROWS, SLICE_ROWS + 1, 2 * SLICE_ROWS]
)
def test_slices_make_the_same_pages(
    engine: Engine, query: dict[str, Any], forward: bool, limit: int | None
) -> None:
    asked = {**query, "ScanIndexForward": forward}
    if limit is not None:
        asked["Limit"] = limit
    found: list[str] = []
    while True:
        page = engine.call("Query", asked)
        assert page["Count"] == page["ScannedCount"] <= (limit or ITEMS + 25)
        found += [each["sk"]["S"] for each in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    assert found == sorted(found, reverse=not forward)
    assert len(found) == len(set(found)) >= ITEMS


def test_work_ends_when_nobody_waits_for_it(engine: Engine) -> None:
    asked = 0

    def is_gone() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    with InLane(ThreadLane(is_gone)), pytest.raises(CallerGone):
        engine.call_bytes("Query", orjson.dumps(FILTERED))
    assert asked == 6
    # Others can go on.
    put(engine, item(1))


def test_others_get_their_turn_while_a_page_is_filtered(engine: Engine) -> None:
    """A write between two slices: a filter is evaluated while others may have the session."""
    seen: list[int] = []

    def writes_once() -> bool:
        if not seen:
            seen.append(1)
            writer = threading.Thread(target=put, args=(engine, item(0)))
            writer.start()
            writer.join(10)
            assert not writer.is_alive()
        return False

    with InLane(ThreadLane(writes_once)):
        engine.call_bytes("Query", orjson.dumps(FILTERED))
    assert seen


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("UpdateItem", {"Key": {"pk": {"S": "p"}, "sk": {"S": "large"}}}),
        (
            "GetItem",
            {"Key": {"pk": {"S": "p"}, "sk": {"S": "large"}}, "ProjectionExpression": "a"},
        ),
        (
            "PutItem",
            {
                "Item": {"pk": {"S": "p"}, "sk": {"S": "large"}},
                "ConditionExpression": "attribute_exists(a)",
            },
        ),
    ],
)
def test_a_large_item_is_not_taken_apart_on_a_loop(
    engine: Engine, operation: str, request_: dict[str, Any]
) -> None:
    large = {"pk": {"S": "p"}, "sk": {"S": "large"}, "a": {"S": "x" * 100_000}}
    put(engine, large)
    body = orjson.dumps({"TableName": "Test", **request_})
    with InLane(LoopLane()):
        [result] = engine.call_many_bytes([(operation, body)]) if operation != "GetItem" else [None]
        if result is None:
            with pytest.raises(WouldStall):
                engine.call_bytes(operation, body)
        else:
            assert isinstance(result, WouldStall)
    key = {"pk": {"S": "p"}, "sk": {"S": "large"}}
    assert engine.call("GetItem", {"TableName": "Test", "Key": key}) == {"Item": large}
    engine.call_bytes(operation, body)


def test_a_loop_does_not_wait_long_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    with Engine.open(path) as engine:
        engine.call("CreateTable", TABLE)
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        body = orjson.dumps({"TableName": "Test", "Item": item(1)})
        with InLane(LoopLane()):
            assert engine.start_many_bytes([("PutItem", body)]) is None
            [result] = engine.call_many_bytes([("PutItem", body)])
            assert isinstance(result, WouldStall)
            several = engine.call_many_bytes([("PutItem", body)] * 2)
            assert [type(each) for each in several] == [WouldStall, WouldStall]
        other.execute("ROLLBACK")
        other.close()
        engine.call_bytes("PutItem", body)


def test_a_loop_waits_for_another_process_that_commits_in_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "data.db")
    with Engine.open(path) as engine:
        engine.call("CreateTable", TABLE)
        other = apsw.Connection(path)
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("time.sleep", lambda _: other.execute("COMMIT"))
        with InLane(LoopLane()):
            body = orjson.dumps({"TableName": "Test", "Item": item(1)})
            assert engine.call_bytes("PutItem", body) == b"{}"
        other.close()


def test_a_body_of_many_members_is_read_as_any_other() -> None:
    members = ['{"N":"1"}', '{"S":"\\ud83d\\ude00 \\u00e9"}', '{"L":[{"NULL":true}]}', "1.5", "-1"]
    many = ("[" + ",".join(members * 10_000) + "]").encode()
    assert request_bodies.has_many(many)
    assert request_bodies.read(many) == orjson.loads(many)


@pytest.mark.parametrize(
    "wrong", ['{"S":"\\ud83d"}', '{"\\udc00":1}', "NaN", "Infinity", "{", "[" * 5000, '["a" "b"]']
)
def test_what_is_not_json_is_refused_among_many_members_too(wrong: str) -> None:
    many = ("[" + ",".join(['{"Number":"1"}'] * 30_000) + "," + wrong + "]").encode()
    assert request_bodies.has_many(many)
    with pytest.raises(ValueError):
        request_bodies.read(many)
