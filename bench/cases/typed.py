"""The typed layer: bytes to models, and a read of one item as people write it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

import orjson
from pydantic import BaseModel

from bench import peers
from bench.harness import Budget, Case, Outcome, Side, Work, compare
from keyfold import Db, Design, Entity, Id, Key, Ref, Timestamp

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
    missing: list[str] = []
    try:
        sides += _over_http(stack, ref, missing)
    except (ImportError, peers.Missing) as problem:
        missing.append(str(problem))
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


def fill(url: str) -> Db:
    """The thing on a server."""
    db = design.open(url, create_tables=True)
    db.create(thing())
    return db


def _over_http(stack: ExitStack, ref: Ref[Thing], missing: list[str]) -> Iterator[Side]:
    """Everybody's model of the same item, from the same server."""
    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    url = f"http://127.0.0.1:{port}"
    db = fill(url)
    stack.callback(db.close)
    yield Side("keyfold over HTTP", lambda: db.get(ref))
    yield Side("PynamoDB over HTTP", _pynamodb(url))
    for name in peers.STRANGERS:
        try:
            peer = peers.Stranger(stack, name, f"{name}_model", url)
        except peers.Missing as problem:
            missing.append(str(problem))
            continue
        yield Side(
            f"{name} over HTTP",
            partial(peer.clock, 1),
            elsewhere=peer.clock,
        )


def _pynamodb(url: str) -> Work:
    from pynamodb.attributes import (
        BooleanAttribute,
        NumberAttribute,
        UnicodeAttribute,
        UnicodeSetAttribute,
    )
    from pynamodb.models import Model

    class Stored(Model):
        class Meta:
            table_name = "typed"
            host = url
            region = "us-east-1"
            aws_access_key_id = "keyfold"
            aws_secret_access_key = "keyfold"

        PK = UnicodeAttribute(hash_key=True)
        SK = UnicodeAttribute(range_key=True)
        type = UnicodeAttribute()
        thingId = UnicodeAttribute()
        ownerId = UnicodeAttribute()
        title = UnicodeAttribute()
        text = UnicodeAttribute()
        status = UnicodeAttribute()
        place = UnicodeAttribute()
        count_ = NumberAttribute(attr_name="count")
        likes = NumberAttribute()
        live = BooleanAttribute()
        tags: UnicodeSetAttribute = UnicodeSetAttribute()
        createdAt = UnicodeAttribute()
        updatedAt = UnicodeAttribute()

    return lambda: Stored.get("THING#t1", "THING", consistent_read=True)


CASES = [Case("typed", "The typed layer", run)]
