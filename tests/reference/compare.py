"""The engine and the model get the same requests; their answers are compared field by field."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.reference.generate import Generator, Step
from tests.reference.model import Model
from tests.reference.schemas import TABLES
from tests.reference.tables import Table
from tests.reference.values import Refused, Wire, item_of, sortable

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.errors import OperationError, to_wire

Call = Callable[[str, Wire], Wire]


@dataclass
class Difference(Exception):
    """The first answer that differs, and the steps that lead to it."""

    steps: list[Step]
    engine: Any
    model: Any

    def __str__(self) -> str:
        told = [f"{operation} {json.dumps(request)}" for operation, request in self.steps]
        return "\n".join([*told, f"engine: {_told(self.engine)}", f"model:  {_told(self.model)}"])


class Pair:
    """An engine and a model with the same empty tables."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Engine.open(":memory:", clock=self.clock, durability="memory")
        self.model = Model(self.clock.now)
        for table in TABLES:
            for call in (self.engine.call, self.model.call):
                call("CreateTable", copy.deepcopy(table))
        expiry = {"Enabled": True, "AttributeName": "n"}
        lives = {"TableName": "Pairs", "TimeToLiveSpecification": expiry}
        for call in (self.engine.call, self.model.call):
            call("UpdateTimeToLive", lives)

    def step(self, step: Step) -> tuple[Any, Any] | None:
        """Two answers, if they differ."""
        operation, request = step
        if operation == "pass time":
            self.clock.advance(request["seconds"])
            self.engine.sweep()
            self.model.expire()
            return None
        if operation in ("Query", "Scan") and self._unordered(operation, request):
            pair = self._walk(operation, request)
        else:
            pair = tuple(
                answer(call, operation, request) for call in (self.engine.call, self.model.call)
            )  # type: ignore[assignment]
        told, expected = pair
        if operation == "UpdateTable" and "__type" not in told:
            return None
        return None if _equal(told, expected) else (told, expected)

    def _unordered(self, operation: str, request: Wire) -> bool:
        """Whether the documentation leaves the order of what is read open."""
        if operation == "Scan":
            return True
        table = self.model.tables.get(request["TableName"])
        if table is None:
            return False
        index = next(
            (each for each in table.indexes if each.name == request.get("IndexName")), None
        )
        if index is None:
            return False
        entries = table.entries(index)
        keys = [tuple(repr(entry[name]) for name in index.schema) for entry in entries]
        return len(set(keys)) < len(keys)

    def _walk(self, operation: str, request: Wire) -> tuple[Any, Any]:
        """All pages of the engine together, and the model's answer without a limit."""
        whole = {name: value for name, value in request.items() if name not in _PAGING}
        expected = answer(self.model.call, operation, whole)
        pages = list(self._pages(operation, request))
        if "__type" in pages[0] or "__type" in expected:
            return pages[0], expected
        told: Wire = {"Count": 0, "ScannedCount": 0}
        items = []
        for page in pages:
            told["Count"] += page["Count"]
            told["ScannedCount"] += page["ScannedCount"]
            items += page.get("Items", [])
            if page["ScannedCount"] > request.get("Limit", 10**6):
                return page, {"Limit": request["Limit"]}
        if "Items" in pages[0]:
            told["Items"] = items
        if len(pages) == 1 and "ConsumedCapacity" in pages[0]:
            told["ConsumedCapacity"] = pages[0]["ConsumedCapacity"]
        else:
            expected.pop("ConsumedCapacity", None)
        table = self.model.tables[request["TableName"]]
        for side in (told, expected):
            if "Items" in side:
                side["Items"] = _grouped(operation, table, request, side["Items"])
        return told, expected

    def _pages(self, operation: str, request: Wire) -> Iterator[Wire]:
        for segment in range(request.get("TotalSegments", 1)):
            asked = dict(request)
            if "TotalSegments" in request:
                asked["Segment"] = segment
            while True:
                page = answer(self.engine.call, operation, asked)
                yield page
                if "LastEvaluatedKey" not in page:
                    break
                asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def streams(self) -> tuple[Any, Any] | None:
        """The records of each item, in order, if they differ."""
        for name, table in self.model.tables.items():
            told = _by_key(table, _records(self.engine.call, name))
            expected = _by_key(table, table.records)
            if told != expected:
                keys = [key for key in told | expected if told.get(key) != expected.get(key)]
                return told.get(keys[0]), expected.get(keys[0])
        return None

    def close(self) -> None:
        self.engine.close()


_PAGING = ("Limit", "ExclusiveStartKey", "Segment", "TotalSegments")


def answer(call: Call, operation: str, request: Wire) -> Wire:
    try:
        return _in_order(operation, call(operation, json.loads(json.dumps(request))))
    except OperationError as error:
        _, body = to_wire(error)
        body["__type"] = body["__type"].split("#")[1]
        body["message"] = body.pop("Message", body.get("message"))
        return body
    except Refused as refused:
        return {"__type": refused.code, "message": refused.message, **refused.members}


def _in_order(operation: str, told: Wire) -> Wire:
    """What comes in no order, in one."""
    if operation == "BatchGetItem":
        for items in told["Responses"].values():
            items.sort(key=_told)
    if isinstance(told.get("ConsumedCapacity"), list):
        told["ConsumedCapacity"].sort(key=_told)
    for metrics in told.get("ItemCollectionMetrics", {}).values():
        if isinstance(metrics, list):
            metrics.sort(key=_told)
    return told


def _equal(told: Any, expected: Any) -> bool:
    """A message that the model does not know is not compared."""
    if isinstance(told, dict) and isinstance(expected, dict):
        names = {*told, *expected}
        return all(
            _equal(told.get(name), expected.get(name))
            for name in names
            if not (name.lower() == "message" and expected.get(name) is None)
        )
    if isinstance(told, list) and isinstance(expected, list):
        return len(told) == len(expected) and all(map(_equal, told, expected))
    return bool(told == expected)


def _told(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _grouped(operation: str, table: Table, request: Wire, items: list[Wire]) -> Any:
    """Items with equal sort keys in one order; all of them, if projected items may lack the key."""
    index = table.index(request.get("IndexName"))
    schema = index.schema if index else table.schema
    if operation == "Scan":
        if index is None and "ProjectionExpression" not in request:
            # A partition's items come together, in the order of their sort keys.
            return _partitions(table, items)
        return sorted(items, key=_told)
    if "ProjectionExpression" in request or len(schema) == 1:
        return sorted(items, key=_told)
    keyed = [(sortable(item_of(item)[schema[1]]), _told(item)) for item in items]
    reverse = not request.get("ScanIndexForward", True)
    assert [key for key, _ in keyed] == sorted([key for key, _ in keyed], reverse=reverse)
    return sorted(keyed, reverse=reverse)


def _partitions(table: Table, items: list[Wire]) -> list[list[Wire]]:
    """The items in runs of one partition, as they came."""
    runs: list[list[Wire]] = []
    for item in items:
        if runs and runs[-1][-1][table.schema[0]] == item[table.schema[0]]:
            runs[-1].append(item)
        else:
            runs.append([item])
    return sorted(runs, key=_told)


def _records(call: Call, name: str) -> list[Wire]:
    found: list[Wire] = []
    for stream in call("ListStreams", {"TableName": name})["Streams"]:
        arn = stream["StreamArn"]
        shards = call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
        for shard in shards:
            place: Wire = {"StreamArn": arn, "ShardId": shard["ShardId"]}
            place["ShardIteratorType"] = "TRIM_HORIZON"
            iterator = call("GetShardIterator", place)["ShardIterator"]
            while iterator:
                page = call("GetRecords", {"ShardIterator": iterator})
                found += page["Records"]
                iterator = page.get("NextShardIterator") if page["Records"] else None
    return found


def _by_key(table: Table, records: list[Wire]) -> dict[str, list[Wire]]:
    found: dict[str, list[Wire]] = {}
    for record in records:
        change = record["dynamodb"]
        kept = {
            "eventName": record["eventName"],
            "userIdentity": record.get("userIdentity"),
            **{
                name: change.get(name)
                for name in ("Keys", "NewImage", "OldImage", "StreamViewType")
            },
        }
        found.setdefault(_told(change["Keys"]), []).append(kept)
    return found


def run(seed: int, length: int) -> int:
    """One history of random requests; raises the shrunk difference, if there is one."""
    pair = Pair()
    steps: list[Step] = []
    try:
        generator = Generator(seed, pair.model)
        for _ in range(length):
            steps.append(generator.step())
            if pair.step(steps[-1]):
                raise shrunk(steps)
        if pair.streams():
            raise shrunk(steps, streams=True)
    finally:
        pair.close()
    return len(steps)


def difference(steps: list[Step], streams: bool = False) -> Difference | None:
    """What the last step, or the streams after it, show."""
    pair = Pair()
    try:
        for step in steps[:-1]:
            pair.step(step)
        found = pair.step(steps[-1]) if steps else None
        if streams:
            found = pair.streams()
    except (AssertionError, KeyError):
        return None
    finally:
        pair.close()
    return Difference(steps, *found) if found else None


def shrunk(steps: list[Step], streams: bool = False) -> Difference:
    """The same difference with fewer steps, and with less in each."""
    found = difference(steps, streams)
    assert found is not None, "the difference does not come again with the same steps"
    kind = _kind(found)
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(found.steps) - (0 if streams else 1):
            ends = min(at + size, len(found.steps) - (0 if streams else 1))
            less = difference(found.steps[:at] + found.steps[ends:], streams)
            if less is not None and _kind(less) == kind:
                found = less
            else:
                at += size
        size //= 2
    for place in range(len(found.steps)):
        found = _lighter(found, place, kind, streams)
    return found


def _lighter(found: Difference, place: int, kind: Any, streams: bool) -> Difference:
    again = True
    while again:
        again = False
        operation, request = found.steps[place]
        for smaller in _without_one(request):
            steps = [*found.steps]
            steps[place] = operation, smaller
            less = difference(steps, streams)
            if less is not None and _kind(less) == kind:
                found, again = less, True
                break
    return found


def _kind(found: Difference) -> Any:
    """Two differences are of one kind if the same sides are errors, with the same words."""
    return tuple(
        (side.get("__type"), side.get("message"), *sorted(side)) if isinstance(side, dict) else None
        for side in (found.engine, found.model)
    )


_NEEDED = ("TableName", "KeyConditionExpression", "Key", "Item", "pk", "sk")


def _without_one(value: Any) -> Iterator[Any]:
    """The value without one of its parts, at any depth."""
    if isinstance(value, dict):
        for name in value:
            if name not in _NEEDED and len(value) > 1:
                yield {other: each for other, each in value.items() if other != name}
            for smaller in _without_one(value[name]):
                yield value | {name: smaller}
    elif isinstance(value, list):
        for index in range(len(value)):
            if len(value) > 1:
                yield value[:index] + value[index + 1 :]
            for smaller in _without_one(value[index]):
                yield [*value[:index], smaller, *value[index + 1 :]]
