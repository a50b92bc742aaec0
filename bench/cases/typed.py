"""The typed layer: bytes to models, and a read and an update of one item as people write them.

Everybody asks the same server over HTTP, and the figure is the processor time of the client. What
keyfold takes embedded, where no server is needed, stands beside it as a figure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from itertools import count

import orjson
from pydantic import BaseModel

from bench import peers
from bench.harness import Budget, Case, Outcome, Side, Work, compare
from bench.processor import one_core
from keyfold import Db, Design, Entity, Id, Key, Timestamp

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


def run(_: ExitStack, budget: Budget) -> Iterator[Outcome]:
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
        factor=2.5,
    )
    with one_core(), ExitStack() as servers:
        yield from _over_http(servers, budget)


def _over_http(stack: ExitStack, budget: Budget) -> Iterator[Outcome]:
    port = peers.free_port()
    stack.enter_context(peers.server(peers.keyfold(port), port))
    url = f"http://127.0.0.1:{port}"
    db, embedded = fill(url), design.open(":memory:")
    stack.callback(db.close)
    stack.callback(embedded.close)
    embedded.create(thing())
    pynamodb = _pynamodb(url)
    ref = Thing.key(thing_id="t1")
    titles = map("title {}".format, count())
    for title, kind, work, factor in (
        ("get", "", lambda db: db.get(ref), 4),
        ("update of a field", "_update", lambda db: db.update(ref, title=next(titles)), 4),
    ):
        missing: list[str] = []
        outcome = compare(
            "typed",
            f"typed {title}, one item over HTTP",
            [
                Side("keyfold", partial(work, db)),
                Side("PynamoDB", pynamodb[kind]),
                *_strangers(stack, url, kind, missing),
            ],
            budget,
            reference="keyfold",
            factor=factor,
            missing=missing,
        )
        alone = compare(
            "typed", title, [Side("keyfold", partial(work, embedded))], budget, reference="keyfold"
        )
        outcome.figures["keyfold, embedded"] = f"{alone.time('keyfold'):.1f} µs"
        outcome.in_readme = kind == "_update"
        yield outcome


def _strangers(stack: ExitStack, url: str, kind: str, missing: list[str]) -> Iterator[Side]:
    for name in ("pydynox", "dyntastic"):
        try:
            peer = peers.Stranger(stack, name, f"{name}_model{kind}", url)
        except peers.Missing as problem:
            missing.append(str(problem))
            continue
        yield Side(name, partial(peer.processor, 1), elsewhere=peer.processor)


def fill(url: str) -> Db:
    """The thing on a server."""
    db = design.open(url, create_tables=True)
    db.create(thing())
    return db


def _pynamodb(url: str) -> dict[str, Work]:
    """A read of the item, and an update of a field of it."""
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

    titles = map("title {}".format, count())

    def update() -> None:
        Stored("THING#t1", "THING").update(actions=[Stored.title.set(next(titles))])

    return {"": lambda: Stored.get("THING#t1", "THING", consistent_read=True), "_update": update}


CASES = [Case("typed", "The typed layer", run)]
