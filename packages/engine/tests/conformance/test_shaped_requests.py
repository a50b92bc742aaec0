"""Requests made from the declared shapes are answered, or refused with an error of DynamoDB's.

Names, ARNs, tokens and expressions are mostly those of tables that are there, so that requests come
past the checks of shapes; ``SHAPED_REQUESTS`` and ``SHAPED_SEED`` say how many and which.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    ListOf,
    MapOf,
    Number,
    Shape,
    Structure,
)
from keyfold_engine.errors import InternalFailure, OperationError
from keyfold_engine.features.replicas import Regions
from keyfold_engine.operations import OPERATIONS

SEED = int(os.environ.get("SHAPED_SEED", "0"))
REQUESTS = int(os.environ.get("SHAPED_REQUESTS", "12000"))

NAMES = ["Orders", "Others", "Nowhere"]
ATTRIBUTES = ["pk", "sk", "g", "v", "a"]
KINESIS = "arn:aws:kinesis:us-east-1:123456789012:stream/changes"
TEXTS: Final[dict[str, list[str]]] = {
    "AttributeName": ATTRIBUTES,
    "ConditionExpression": ["attribute_exists(pk)", "a = :v", "size(a) > :n AND NOT g = :v"],
    "FilterExpression": ["a = :v", "attribute_type(a, :v)", "contains(a, :v)"],
    "IndexName": ["by_g", "local", "near", "fresh"],
    "KeyConditionExpression": ["pk = :v", "pk = :v AND sk > :n", "g = :v", "pk = :v AND g < :v"],
    "Policy": [
        '{"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}}'
    ],
    "ProjectionExpression": ["pk, a", "a.b, a[0]", "#n"],
    "RegionName": ["us-east-1", "eu-west-1", "us-west-2", "nowhere"],
    "S3Bucket": ["bucket"],
    "SearchConditionExpression": ["g = :v"],
    "SequenceNumber": ["1", "100"],
    "Statement": [
        "SELECT * FROM Orders WHERE pk = 'a'",
        'SELECT * FROM "Orders"."by_g" WHERE g = ? ORDER BY pk',
        "INSERT INTO Orders VALUE {'pk': 'a', 'sk': 1}",
        "UPDATE Orders SET a = 1 WHERE pk = 'a' AND sk = 1 RETURNING ALL NEW *",
        "DELETE FROM Orders WHERE pk = 'a' AND sk = 1",
        "EXISTS(SELECT * FROM Orders WHERE pk = 'a' AND sk = 1)",
    ],
    "UpdateExpression": ["SET a = :v", "ADD n :n", "REMOVE a[0], g", "SET g = :v, l = :l"],
}
VALUES: Final = {":v": {"S": "a"}, ":n": {"N": "1"}, ":l": {"L": []}}
NUMBERS = [0, 1, 2, 3, 10, 25, 100, 1024, -1, 2**31 - 1, 1.7e9, 1e12]
ANY_TEXT = ["a", "ab", "abc", "1", KINESIS, "arn:aws:s3:::bucket"]
ANY_VALUE: Final[list[dict[str, Any]]] = [
    {"S": "a"}, {"S": ""}, {"N": "1"}, {"B": "AA=="}, {"BOOL": True}, {"NULL": True},
    {"SS": ["a", "b"]}, {"L": [{"N": "1"}, {"N": "2"}]}, {"M": {"k": {"S": "v"}}},
]  # fmt: skip


class Requests:
    """Requests of random operations; it learns ARNs and tokens from answers."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._known: dict[str, list[str]] = defaultdict(list)
        self._shapes = {
            row.name: import_module(f"keyfold_engine.{row.shapes}").REQUESTS[row.name]
            for row in OPERATIONS.values()
        }

    def next(self) -> tuple[str, dict[str, Any]]:
        operation = self._random.choice(list(OPERATIONS))
        request = self._made(self._shapes[operation], "", 0)
        self._give_values(request)
        return operation, request

    def learn(self, answer: Any, name: str = "") -> None:
        if isinstance(answer, dict):
            for member, value in answer.items():
                self.learn(value, member)
        elif isinstance(answer, list):
            for value in answer:
                self.learn(value, name)
        elif isinstance(answer, str) and (answer.startswith("arn:") or len(answer) > 40):
            self._known[name.removeprefix("Next").removeprefix("Latest")].append(answer)

    def _made(self, shape: Shape, name: str, depth: int) -> Any:
        random = self._random
        if name in ("Key", "Keys", "ExclusiveStartKey") and isinstance(shape, MapOf):
            return self._key()
        if name == "Item":
            return {**self._key(), random.choice(ATTRIBUTES[2:]): random.choice(ANY_VALUE)}
        match shape:
            case Structure():
                rare = 0.25 if depth < 2 else 0.5
                return {
                    member: self._made(each.shape, member, depth + 1)
                    for member, each in shape.members.items()
                    if random.random() < (0.97 if each.required else rare)
                }
            case ListOf():
                return [self._made(shape.element, name, depth + 1) for _ in range(self._few())]
            case MapOf():
                keys = NAMES if name == "RequestItems" else [*ATTRIBUTES, *VALUES]
                chosen = random.sample(keys, self._few())
                return {key: self._made(shape.value, name, depth + 1) for key in chosen}
            case Attribute():
                return random.choice(ANY_VALUE)
            case Boolean():
                return random.random() < 0.5
            case Number():
                return random.choice(NUMBERS)
        return self._text(shape, name)

    def _text(self, shape: Shape, name: str) -> str:
        if name.endswith("TableName") and self._random.random() < 0.9:
            return self._random.choice(NAMES)
        if name in TEXTS:
            return self._random.choice(TEXTS[name])
        learned = self._known.get(name) or self._known.get("TableArn", [])
        if name.endswith(("Arn", "Token", "Id", "Iterator", "TableName")) and learned:
            return self._random.choice([*learned[-5:], *learned[-5:], *ANY_TEXT])
        for constraint in shape.constraints:
            if "enum value set: [" in constraint.text:
                return self._random.choice(constraint.text.split("[")[1].rstrip("]").split(", "))
        valid = [text for text in ANY_TEXT if all(c.holds(text) for c in shape.constraints)]
        return self._random.choice(valid or ANY_TEXT)

    def _give_values(self, request: Any) -> None:
        """The placeholders of expressions, mostly."""
        if isinstance(request, list):
            for each in request:
                self._give_values(each)
        if not isinstance(request, dict):
            return
        for each in request.values():
            self._give_values(each)
        texts = [text for name, text in request.items() if name.endswith("Expression")]
        if self._random.random() < 0.9:
            request.pop("ExpressionAttributeValues", None)
            request.pop("ExpressionAttributeNames", None)
            if used := {name: value for name, value in VALUES.items() if name in str(texts)}:
                request["ExpressionAttributeValues"] = used
            if "#n" in str(texts):
                request["ExpressionAttributeNames"] = {"#n": "name"}

    def _key(self) -> dict[str, Any]:
        return {"pk": {"S": self._random.choice("ab")}, "sk": {"N": self._random.choice("12")}}

    def _few(self) -> int:
        return self._random.choice([1, 1, 2])


def _tables(call: Callable[..., dict[str, Any]], random: Random) -> None:
    """Tables with some features, if they are not there."""
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    everything = {"Projection": {"ProjectionType": "ALL"}}
    by_g = [{"AttributeName": "g", "KeyType": "HASH"}]
    near = {"VectorAttribute": {"AttributeName": "v"}, "Dimensions": 2}
    features: list[dict[str, Any]] = [
        {},
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}},
        {
            "VectorIndexes": [
                {"IndexName": "near", "DistanceFunction": "COSINE", **near, **everything}
            ]
        },
        {
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "local",
                    "KeySchema": [keys[0], {**by_g[0], "KeyType": "RANGE"}],
                    **everything,
                }
            ]
        },
    ]
    for name in NAMES[:2]:
        request = {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": keys,
            "AttributeDefinitions": [
                {"AttributeName": each, "AttributeType": "N" if each == "sk" else "S"}
                for each in ("pk", "sk", "g")
            ],
            "GlobalSecondaryIndexes": [{"IndexName": "by_g", "KeySchema": by_g, **everything}],
            **random.choice(features),
        }
        recovery = {"PointInTimeRecoveryEnabled": True}
        for operation, more in (
            ("CreateTable", request),
            ("UpdateContinuousBackups", {"PointInTimeRecoverySpecification": recovery}),
            ("EnableKinesisStreamingDestination", {"StreamArn": KINESIS}),
            ("PutItem", {"Item": {"pk": {"S": "a"}, "sk": {"N": "1"}, "g": {"S": "a"}}}),
        ):
            _answer(call, operation, {"TableName": name, **more})


def _answer(call: Callable[..., dict[str, Any]], operation: str, request: dict[str, Any]) -> Any:
    try:
        return call(operation, request)
    except InternalFailure:
        raise
    except OperationError:
        return None
    except Exception as error:
        error.add_note(f"{operation} {request}")
        raise


def _run(folder: Path, seed: int, count: int) -> int:
    """Requests to one engine; returns how many were answered."""
    random = Random(seed)
    requests = Requests(random)
    answered = 0
    with Regions(buckets=folder, kinesis=folder / "kinesis", clock=ManualClock()) as regions:
        engine: Engine = regions.engine("us-east-1")
        for number in range(count):
            if number % 100 == 0:
                _tables(engine.call, random)
            answer = _answer(engine.call, *requests.next())
            answered += answer is not None
            requests.learn(answer)
    return answered


def test_a_request_of_a_declared_shape_is_answered_or_refused(tmp_path: Path) -> None:
    assert _run(tmp_path, 0, 1_500) > 300


@pytest.mark.long
def test_many_requests_of_declared_shapes_are_answered_or_refused(tmp_path: Path) -> None:
    for number, seed in enumerate(range(SEED, SEED + max(1, REQUESTS // 3_000))):
        assert _run(tmp_path / str(number), seed, 3_000) > 600
