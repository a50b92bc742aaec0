"""A design on an engine that says what each call costs, beside what the bill says."""

from __future__ import annotations

from collections import Counter as Counted
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from keyfold import Design
from keyfold.streams import stream_handler
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.values.size import item_size
from keyfold_workbench.cost import EntityLoad, Workload
from keyfold_workbench.cost import loads as workload
from keyfold_workbench.cost.design_numbers import DesignNumbers
from keyfold_workbench.cost.writes import write


class Metered(EmbeddedClient):
    """Counts the units that every call consumes: reads, and writes by table or index."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.reads: Counted[str] = Counted()
        self.writes: Counted[str] = Counted()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        answer = super().call(operation, {**request, "ReturnConsumedCapacity": "INDEXES"})
        read = operation in ("GetItem", "Query", "BatchGetItem")
        consumed = answer.get("ConsumedCapacity", [])
        for one in consumed if isinstance(consumed, list) else [consumed]:
            total = self.reads if read else self.writes
            total[one["TableName"]] += one["Table"]["CapacityUnits"]
            for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
                for name, index in one.get(member, {}).items():
                    total[f"{one['TableName']}.{name}"] += index["CapacityUnits"]
        return answer


class Town:
    """The design on an engine, with a function that its stream triggers."""

    def __init__(self, of: Design, engine: Engine, clock: ManualClock) -> None:
        self.design, self.engine, self.clock = of, engine, clock
        self.client = Metered(engine)
        self.db = of.open(self.client, clock=clock)
        self._handler = stream_handler(self.db)
        self._read: set[str] = set()

    def settle(self) -> None:
        """Hand all records to the function, and those that it causes."""
        while records := self._records():
            assert self._handler({"Records": records}, None) == {"batchItemFailures": []}

    def _records(self) -> list[dict[str, Any]]:
        call, found = self.engine.call, []
        for stream in call("ListStreams", {})["Streams"]:
            arn = stream["StreamArn"]
            described = call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
            for shard in described["Shards"]:
                asked = {
                    "StreamArn": arn,
                    "ShardId": shard["ShardId"],
                    "ShardIteratorType": "TRIM_HORIZON",
                }
                iterator = call("GetShardIterator", asked)["ShardIterator"]
                for record in call("GetRecords", {"ShardIterator": iterator})["Records"]:
                    if record["eventID"] not in self._read:
                        self._read.add(record["eventID"])
                        found.append({**record, "eventSourceARN": arn})
        return found

    def paid(self, do: Callable[[], Any]) -> tuple[dict[str, float], dict[str, float]]:
        """Read and write units of a call and of all that follows from it."""
        self.settle()
        self.client.reads.clear()
        self.client.writes.clear()
        do()
        self.settle()
        return dict(self.client.reads), dict(self.client.writes)

    def sizes(self, **more: dict[str, float]) -> dict[str, EntityLoad]:
        """How many items there are, and how large."""
        name = self.db.context.physical(next(iter(self.design.schema.tables)))
        bytes_: dict[str, int] = {}
        counts: Counted[str] = Counted()
        for item in self.engine.call("Scan", {"TableName": name})["Items"]:
            kind = item["type"]["S"]
            bytes_[kind] = item_size(item)
            counts[kind] += 1
        known = self.design.schema.by_entity
        return {
            kind: EntityLoad(items=counts[kind], bytes=size, **more.get(kind, {}))  # type: ignore[arg-type]
            for kind, size in bytes_.items()
            if kind in known
        }

    def modelled(
        self, words: str, loads: dict[str, EntityLoad], extra: str = ""
    ) -> tuple[dict[str, float], dict[str, float]]:
        """What the adviser says that a write costs."""
        schema = self.design.schema
        stated = workload(f"writes:\n  {words}: {{rate: 1}}\n{extra}", schema)
        figures = DesignNumbers(
            schema, Workload(loads, {}, stated.writes, stated.consumers, stated.feeds)
        )
        reads: defaultdict[str, float] = defaultdict(float)
        writes: defaultdict[str, float] = defaultdict(float)
        for part in write(figures, stated.writes[0]).parts:
            (reads if part.reading else writes)[str(part.path)] += part.units
        return dict(reads), dict(writes)
