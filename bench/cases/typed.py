"""The typed layer: bytes to models, and a read of one item as people write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel

from bench import peers
from bench.harness import Budget, Case, Outcome, Side, compare
from keyfold import Design, Entity, Id, Key, Timestamp

design = Design("bench")
table = design.table("typed")


class Thing(Entity, table=table):
    thing_id: Id
    owner_id: Id
    title: str
    text: str
    status: str
    place: str
    count: int
    likes: int
    live: bool
    tags: set[str]
    created_at: Timestamp
    updated_at: Timestamp
    key = Key("THING#{thing_id}", "THING")


class Plain(BaseModel):
    thingId: str
    ownerId: str
    title: str
    text: str
    status: str
    place: str
    count: int
    likes: int
    live: bool
    tags: set[str]
    createdAt: datetime
    updatedAt: datetime


def thing() -> Thing:
    now = datetime(2025, 1, 1, tzinfo=UTC)
    return Thing(
        thing_id="t1",
        owner_id="o1",
        title="A thing",
        text="x" * 200,
        status="open",
        place="Bern",
        count=7,
        likes=3,
        live=True,
        tags={"a", "b"},
        created_at=now,
        updated_at=now,
    )


def run(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    from boto3.dynamodb.types import TypeDeserializer

    body = orjson.dumps(Thing.__spec__.encode(thing()))
    decode, deserialize = Thing.__spec__.decode, TypeDeserializer().deserialize

    def boto() -> Plain:
        item = json.loads(body)  # as botocore reads an answer
        return Plain.model_validate({name: deserialize(value) for name, value in item.items()})

    yield compare(
        "typed",
        "bytes to a model of 12 fields",
        [
            Side("keyfold", lambda: decode(orjson.loads(body))),
            Side("boto3 + Pydantic", boto),
        ],
        budget,
        reference="boto3 + Pydantic",
        goal="at most 15/38 of boto3's deserializer with Pydantic",
        met=lambda o: o.time("keyfold") * 38 <= o.time("boto3 + Pydantic") * 15,
    )

    db = design.open(":memory:")
    stack.callback(db.close)
    db.create(thing())
    ref = Thing.key(thing_id="t1")
    request = {"TableName": "typed", "Key": ref.wire(), "ConsistentRead": True}
    sides = [
        Side("keyfold, embedded", lambda: db.get(ref)),
        Side("raw client call", lambda: db.client.call("GetItem", request)),
    ]
    missing = []
    try:
        sides.append(_pynamodb(stack))
    except (ImportError, peers.Missing) as problem:
        missing.append(f"PynamoDB: {problem}")
    yield compare(
        "typed",
        "typed get of one item",
        sides,
        budget,
        reference="keyfold, embedded",
        goal="at least 20x PynamoDB over HTTP; at most 25 µs over the raw call",
        met=_met,
        missing=missing,
    )


def _met(outcome: Outcome) -> bool:
    ours = outcome.time("keyfold, embedded")
    over = ours - outcome.time("raw client call")
    peer = [row.median for row in outcome.rows if row.side.startswith("PynamoDB")]
    return bool(peer) and peer[0] >= 20 * ours and over <= 25


def _pynamodb(stack: ExitStack) -> Side:
    from pynamodb.attributes import UnicodeAttribute
    from pynamodb.models import Model

    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))

    class Stored(Model):
        class Meta:
            table_name = "typed"
            host = f"http://127.0.0.1:{port}"
            region = "us-east-1"
            aws_access_key_id = "keyfold"
            aws_secret_access_key = "keyfold"

        PK = UnicodeAttribute(hash_key=True)
        SK = UnicodeAttribute(range_key=True)
        title = UnicodeAttribute(null=True)

    options: dict[str, Any] = {"read_capacity_units": 1, "write_capacity_units": 1, "wait": True}
    Stored.create_table(**options)
    Stored("THING#t1", "THING", title="A thing").save()
    return Side("PynamoDB over HTTP", lambda: Stored.get("THING#t1", "THING"))


CASES = [Case("typed", "The typed layer", run)]
