"""The engine against a plain dictionary, with index lag and faults, step by step."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from keyfold.errors import ConditionFailed, Throttled, Timeout, TransactionCanceled
from keyfold.errors import TransactionConflict as Conflict
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine, Faults

Item = dict[str, Any]
Key = tuple[str, str]

LAG = 5.0
TABLE = "Model"
STEPS = int(os.environ.get("MODEL_STEPS", "40"))
EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "25"))

partitions = st.sampled_from(["a", "b", "a\0", "ab", "é"])
sorts = st.sampled_from(["-10", "-1.5", "0", "2", "10", "1000000000000000000000000000000000001"])
groups = st.one_of(st.none(), st.sampled_from(["G", "H"]))
labels = st.one_of(st.none(), st.sampled_from(["x", "xy", "y", "x\0"]))
numbers = st.one_of(st.none(), st.sampled_from(["1", "2.5", "-3"]))


@st.composite
def items(draw: st.DrawFn) -> Item:
    item: Item = {"pk": {"S": draw(partitions)}, "sk": {"N": draw(sorts)}}
    for name, kind, values in (("g", "S", groups), ("l", "S", labels), ("n", "N", numbers)):
        value = draw(values)
        if value is not None:
            item[name] = {kind: value}
    item["data"] = {"S": "d" * draw(st.integers(0, 30))}
    return item


def key_of(item: Item) -> Key:
    return item["pk"]["S"], item["sk"]["N"]


def wire_key(key: Key) -> Item:
    return {"pk": {"S": key[0]}, "sk": {"N": key[1]}}


def rank(text: str) -> Any:
    return text.encode()


class EngineModel(RuleBasedStateMachine):
    """The engine holds what a dictionary holds; its indexes show what that was five seconds ago."""

    @initialize(seed=st.integers(0, 1000))
    def start(self, seed: int) -> None:
        self.clock = ManualClock()
        self.engine = Engine.open(
            ":memory:",
            clock=self.clock,
            index_lag=LAG,
            faults=Faults(seed=seed, throttle=0.1, conflict=0.1, unprocessed=0.3, lose_answer=0.1),
        )
        self.engine.call("CreateTable", _definition())
        self.state: dict[Key, Item] = {}
        # The states that index reads may still have to show, with when they began.
        self.history: list[tuple[float, dict[Key, Item]]] = [(float("-inf"), {})]

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            self.engine.close()

    def changed(self, state: dict[Key, Item]) -> None:
        self.state = state
        self.history.append((self.clock.now(), state))

    def attempt(self, operation: str, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer, or None where a fault says that nothing was done."""
        try:
            return self.engine.call(operation, {"TableName": TABLE, **request})
        except (Throttled, Conflict):
            return None
        except Timeout:
            return {}

    def read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                return self.engine.call(operation, {"TableName": TABLE, **request})
            except (Throttled, Timeout):
                continue

    # Writes

    @rule(item=items())
    def put(self, item: Item) -> None:
        if self.attempt("PutItem", {"Item": item}) is not None:
            self.changed({**self.state, key_of(item): item})

    @rule(item=items())
    def put_if_absent(self, item: Item) -> None:
        try:
            done = self.attempt(
                "PutItem", {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
            )
        except ConditionFailed:
            assert key_of(item) in self.state
            return
        if done is not None:
            assert key_of(item) not in self.state
            self.changed({**self.state, key_of(item): item})

    @rule(pk=partitions, sk=sorts)
    def delete(self, pk: str, sk: str) -> None:
        answer = self.attempt("DeleteItem", {"Key": wire_key((pk, sk)), "ReturnValues": "ALL_OLD"})
        if answer is not None:
            if answer:
                assert answer["Attributes"] == self.state[pk, sk]
            self.changed({k: v for k, v in self.state.items() if k != (pk, sk)})

    @rule(pk=partitions, sk=sorts, group=groups)
    def move_in_index(self, pk: str, sk: str, group: str | None) -> None:
        request: dict[str, Any] = {"Key": wire_key((pk, sk)), "UpdateExpression": "REMOVE g"}
        if group is not None:
            request["UpdateExpression"] = "SET g = :g"
            request["ExpressionAttributeValues"] = {":g": {"S": group}}
        made = self.attempt("UpdateItem", request) is not None
        # Taking something away from an item that is not there makes none.
        if made and ((pk, sk) in self.state or group is not None):
            item = dict(self.state.get((pk, sk), wire_key((pk, sk))))
            item.pop("g", None)
            if group is not None:
                item["g"] = {"S": group}
            self.changed({**self.state, (pk, sk): item})

    @rule(puts=st.lists(items(), min_size=1, max_size=4, unique_by=key_of))
    def batch(self, puts: list[Item]) -> None:
        wishes: Any = {TABLE: [{"PutRequest": {"Item": item}} for item in puts]}
        while wishes:
            try:
                answer = self.engine.call("BatchWriteItem", {"RequestItems": wishes})
                wishes = answer["UnprocessedItems"]
            except (Throttled, Timeout):
                continue
        self.changed({**self.state, **{key_of(item): item for item in puts}})

    @rule(put=items(), pk=partitions, sk=sorts)
    def transact(self, put: Item, pk: str, sk: str) -> None:
        if key_of(put) == (pk, sk):
            return
        parts = [
            {"Put": {"TableName": TABLE, "Item": put}},
            {
                "Delete": {
                    "TableName": TABLE,
                    "Key": wire_key((pk, sk)),
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
        ]
        try:
            self.engine.call("TransactWriteItems", {"TransactItems": parts})
        except Throttled:
            return
        except TransactionCanceled as error:
            codes = [reason.code for reason in error.reasons]
            if "TransactionConflict" not in codes:
                assert codes == ["None", "ConditionalCheckFailed"]
                assert (pk, sk) not in self.state
            return
        except Timeout:
            pass
        assert (pk, sk) in self.state
        left = {k: v for k, v in self.state.items() if k != (pk, sk)}
        self.changed({**left, key_of(put): put})

    @rule(seconds=st.floats(0.5, 7.0))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    # Reads

    @rule(pk=partitions, sk=sorts)
    def get(self, pk: str, sk: str) -> None:
        answer = self.read("GetItem", {"Key": wire_key((pk, sk))})
        assert answer.get("Item") == self.state.get((pk, sk))

    @rule(pk=partitions, forward=st.booleans(), limit=st.integers(1, 4))
    def query(self, pk: str, forward: bool, limit: int) -> None:
        found = self.pages(
            {
                "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": pk}},
                "ScanIndexForward": forward,
                "Limit": limit,
            }
        )
        expected = [self.state[k] for k in self.state if k[0] == pk]
        expected.sort(key=lambda item: float(item["sk"]["N"]), reverse=not forward)
        assert found == expected

    @rule(pk=partitions, prefix=st.sampled_from(["x", "xy", "x\0"]), limit=st.integers(1, 4))
    def query_local(self, pk: str, prefix: str, limit: int) -> None:
        found = self.pages(
            {
                "IndexName": "by_label",
                "KeyConditionExpression": "pk = :p AND begins_with(l, :l)",
                "ExpressionAttributeValues": {":p": {"S": pk}, ":l": {"S": prefix}},
                "ConsistentRead": True,
                "Limit": limit,
            }
        )
        expected = [
            {name: item[name] for name in ("pk", "sk", "l")}
            for (partition, _), item in self.state.items()
            if partition == pk and item.get("l", {"S": ""})["S"].startswith(prefix)
        ]
        assert sorted(map(key_of, found)) == sorted(map(key_of, expected))
        assert [rank(item["l"]["S"]) for item in found] == sorted(
            rank(item["l"]["S"]) for item in expected
        )
        assert all(item in expected for item in found)

    @rule(group=st.sampled_from(["G", "H"]), limit=st.integers(1, 4), forward=st.booleans())
    def query_global(self, group: str, limit: int, forward: bool) -> None:
        found = self.pages(
            {
                "IndexName": "by_group",
                "KeyConditionExpression": "g = :g AND sk > :zero",
                "ExpressionAttributeValues": {":g": {"S": group}, ":zero": {"N": "-2"}},
                "ScanIndexForward": forward,
                "Limit": limit,
            }
        )
        visible = self.visible()
        expected = [
            item
            for item in visible.values()
            if item.get("g") == {"S": group} and float(item["sk"]["N"]) > -2
        ]
        assert sorted(found, key=key_of) == sorted(expected, key=key_of)
        order = [float(item["sk"]["N"]) for item in found]
        assert order == sorted(order, reverse=not forward)

    @rule(total=st.integers(1, 5), index=st.sampled_from([None, "by_number"]))
    def scan(self, total: int, index: str | None) -> None:
        found: list[Item] = []
        for segment in range(total):
            request: dict[str, Any] = {"Segment": segment, "TotalSegments": total, "Limit": 3}
            if index is not None:
                request["IndexName"] = index
            found += self.pages(request, "Scan")
        expected = list(self.state.values())
        if index is not None:
            expected = [
                {name: item[name] for name in ("pk", "sk", "n")}
                for item in self.visible().values()
                if "n" in item
            ]
        assert sorted(found, key=key_of) == sorted(expected, key=key_of)

    def pages(self, request: dict[str, Any], operation: str = "Query") -> list[Item]:
        found: list[Item] = []
        while True:
            answer = self.read(operation, request)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def visible(self) -> dict[Key, Item]:
        """The state that global indexes show: the newest that is five seconds old."""
        arrived = [state for since, state in self.history if since + LAG <= self.clock.now()]
        return arrived[-1]

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "engine"):
            table = self.engine.call("DescribeTable", {"TableName": TABLE})["Table"]
            assert table["ItemCount"] == len(self.state)
            indexes = table["LocalSecondaryIndexes"] + table["GlobalSecondaryIndexes"]
            counts = {index["IndexName"]: index["ItemCount"] for index in indexes}
            for name, attribute in (("by_label", "l"), ("by_group", "g"), ("by_number", "n")):
                held = sum(attribute in item for item in self.state.values())
                assert counts[name] == held

    @rule()
    def replay_stream(self) -> None:
        """The stream's records, replayed, make the table."""
        arn = self.engine.call("ListStreams", {})["Streams"][0]["StreamArn"]
        shards = self.engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
        replayed: dict[Key, Item] = {}
        for shard in shards["Shards"]:
            place = self.engine.call(
                "GetShardIterator",
                {
                    "StreamArn": arn,
                    "ShardId": shard["ShardId"],
                    "ShardIteratorType": "TRIM_HORIZON",
                },
            )
            for record in self.engine.call("GetRecords", place)["Records"]:
                change = record["dynamodb"]
                key = key_of(change["Keys"])
                assert replayed.get(key) == change.get("OldImage")
                replayed.pop(key, None)
                if "NewImage" in change:
                    replayed[key] = change["NewImage"]
        assert replayed == self.state


def _definition() -> dict[str, Any]:
    def schema(*names: str) -> list[dict[str, str]]:
        kinds = ("HASH", "RANGE")
        return [
            {"AttributeName": name, "KeyType": kind}
            for name, kind in zip(names, kinds, strict=False)
        ]

    types = {"pk": "S", "sk": "N", "g": "S", "l": "S", "n": "N"}
    return {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind} for name, kind in types.items()
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "by_label",
                "KeySchema": schema("pk", "l"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_group",
                "KeySchema": schema("g", "sk"),
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "by_number",
                "KeySchema": schema("n"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }


TestEngineModel = EngineModel.TestCase
TestEngineModel.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
