"""The policies hold: everything that a design does is allowed, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any

import pytest

from keyfold import (
    Copied,
    Counter,
    Created,
    Design,
    Entity,
    Id,
    Index,
    Key,
    On,
    Pointer,
    Query,
    Timestamp,
    Ttl,
    Unique,
    Updated,
    create,
)
from keyfold.feeds import Feed, Flag
from keyfold.streams import stream_handler
from keyfold.structures import Cascade, Edge
from keyfold_engine.clients.embedded import EmbeddedClient
from keyfold_engine.clock import ManualClock
from keyfold_engine.engine import Engine
from keyfold_workbench.infra import iam

design = Design("school")
table = design.table(
    "school",
    stream="NEW_AND_OLD_IMAGES",
    ttl="ttl",
    indexes=[Index("ByPupil", "pupilPK", "pupilSK"), Index("ByActor", "actorPK", "actorSK")],
)


class Pupil(Entity, table=table):
    pupil_id: Id
    name: str
    lessons: Annotated[int, Counter("Seat", via={"pupil_id": "pupil_id"}, sync="stream")] = 0
    key = Key("PUPIL#{pupil_id}", "PUPIL")
    one_name = Unique("name")
    seats = Cascade("Seat", through="by_pupil")
    praises = Cascade("Praise", sync="stream")


class Seat(Entity, table=table):
    lesson_id: Id
    pupil_id: Id
    pupil_name: Annotated[str, Copied("Pupil", "name", through="by_pupil")] = ""
    key = Key("LESSON#{lesson_id}", "SEAT#{pupil_id}")
    by_pupil = On("ByPupil", "PUPIL#{pupil_id}", "SEAT#{lesson_id}")


class PupilSeat(Pointer[Seat], table=table, sync="stream"):
    lesson_id: Id
    pupil_id: Id
    key = Key("TAKES#{pupil_id}", "SEAT#{lesson_id}")


class Praise(Entity, table=table):
    pupil_id: Id
    key = Key("PRAISE#{pupil_id}", "PRAISE")


class Note(Entity, table=table):
    author_id: Id
    note_id: Id
    created_at: Timestamp
    key = Key("NOTES#{author_id}", "TS#{created_at:iso}#{note_id}")


class Reads(Edge, table=table):
    reader_id: Id
    author_id: Id
    created_at: Annotated[Timestamp | None, Created()] = None
    key = Key("READER#{reader_id}", "READS#{author_id}")
    followers = On("ByActor", "AUTHOR#{author_id}", "READER#{reader_id}")


class Shown(Entity, table=table):
    reader_id: Id
    author_id: Id
    note_id: Id
    created_at: Timestamp
    expires_at: Annotated[Timestamp | None, Ttl()] = None
    key = Key("FEED#{reader_id}", "TS#{created_at:iso}#{note_id}")


class Flagged(Entity, table=table):
    author_id: Id
    copied: bool
    at: Annotated[Timestamp | None, Updated()] = None
    key = Key("FLAG#{author_id}", "FLAG")


feed = Feed("news", activity=Note, edge=Reads, item=Shown, push=Flag(Flagged, "copied", since="at"))


@design.on(Pupil, "insert")
def greet(old: Pupil | None, new: Pupil | None, work: Any) -> Any:
    """A new pupil is praised, and everybody hears of it."""
    assert new is not None
    work.emit("Came", {"pupil": new.pupil_id})
    return create(Praise(pupil_id=new.pupil_id))


@design.pattern()
def seats_of(pupil_id: str, limit: int = 20) -> Query[Seat]:
    """The seats of a pupil."""
    return Seat.by_pupil.query(pupil_id=pupil_id).limit(limit)


Pair = tuple[str, str]


class Policed(EmbeddedClient):
    """Refuses what a policy does not allow, as the account would."""

    def __init__(self, engine: Engine, caller: str) -> None:
        super().__init__(engine)
        self.caller = caller
        policy = iam.policies(design.schema)[caller]
        self.allowed = {
            (action.removeprefix("dynamodb:"), resource.partition("table/")[2])
            for statement in policy["Statement"]
            for action in statement["Action"]
            for resource in statement["Resource"]
        }
        self.used: set[Pair] = set()

    def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        for pair in asked(operation, request):
            assert pair in self.allowed, f"{self.caller} may not {pair[0]} {pair[1]}"
            self.used.add(pair)
        return super().call(operation, request)


def asked(operation: str, request: Mapping[str, Any]) -> Iterator[Pair]:
    """The permissions that a call needs."""
    if operation == "TransactWriteItems":
        for wish in request["TransactItems"]:
            for kind, body in wish.items():
                yield (
                    f"{kind}Item" if kind != "ConditionCheck" else "ConditionCheckItem",
                    body["TableName"],
                )
    elif "RequestItems" in request:
        yield from ((operation, name) for name in request["RequestItems"])
    elif "IndexName" in request:
        yield operation, f"{request['TableName']}/index/{request['IndexName']}"
    elif "TableName" in request:
        yield operation, request["TableName"]


class School:
    """One engine, called by the application and by the consumer, each under its policy."""

    def __init__(self, engine: Engine, clock: ManualClock) -> None:
        self.engine, self.clock = engine, clock
        maker = design.open(EmbeddedClient(engine), clock=clock)
        stream_handler(maker)
        self.application = Policed(engine, "application")
        self.consumer = Policed(engine, "school-consumer")
        self.db = design.open(self.application, clock=clock, create_tables=False)
        kept = design.open(self.consumer, clock=clock, create_tables=False)
        self._handler = stream_handler(kept)
        self._seen: set[str] = set()

    def settle(self) -> None:
        while records := list(self._records()):
            assert self._handler({"Records": records}, None) == {"batchItemFailures": []}

    def _records(self) -> Iterator[dict[str, Any]]:
        call = self.engine.call
        for stream in call("ListStreams", {})["Streams"]:
            arn = stream["StreamArn"]
            for shard in call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]:
                start = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
                iterator = call("GetShardIterator", {"StreamArn": arn, **start})["ShardIterator"]
                for record in call("GetRecords", {"ShardIterator": iterator})["Records"]:
                    if record["eventID"] not in self._seen:
                        self._seen.add(record["eventID"])
                        yield {**record, "eventSourceARN": arn}


@pytest.fixture
def school() -> Iterator[School]:
    clock = ManualClock()
    with Engine.open(":memory:", clock=clock) as engine:
        yield School(engine, clock)


def live(school: School) -> None:
    """Something of everything that the design can do."""
    db = school.db
    db.once("new ann", lambda: db.create(Pupil(pupil_id="ann", name="ann")).name, result=str)
    db.create(Pupil(pupil_id="bob", name="bob"))
    db.create(Seat(lesson_id="maths", pupil_id="ann", pupil_name="ann"))
    db.create(Seat(lesson_id="music", pupil_id="ann", pupil_name="ann"))
    school.settle()
    db.update(Pupil.key(pupil_id="ann"), name="anna")
    school.settle()
    assert [seat.pupil_name for seat in seats_of(db, "ann")] == ["anna", "anna"]
    db.create(Reads(reader_id="bob", author_id="ann"))
    db.put(Flagged(author_id="ann", copied=True))
    school.clock.advance(120)
    note = db.create(Note(author_id="ann", note_id="n", created_at=db.context.now()))
    school.settle()
    school.clock.advance(5)
    assert [item.note_id for item in feed.page(db, "bob")] == ["n"]
    db.delete(note)
    db.delete(Reads.key(reader_id="bob", author_id="ann"))
    school.settle()
    db.delete(Pupil.key(pupil_id="ann"))
    school.settle()
    school.clock.advance(timedelta(days=90).total_seconds())
    school.engine.sweep()
    school.settle()


def test_everything_that_a_design_does_is_allowed(school: School) -> None:
    live(school)
    assert ("Query", "school/index/ByPupil") in school.application.used
    assert ("ConditionCheckItem", "school") in school.consumer.used
    assert ("PutItem", "keyfold_streams") in school.consumer.used


def test_nothing_is_allowed_that_is_not_used(school: School) -> None:
    live(school)
    idle = school.application.allowed - school.application.used
    # Batches are for callers that import and export.
    assert idle <= {("BatchWriteItem", "school"), ("BatchGetItem", "school")}
    streams = {pair for pair in school.consumer.allowed if "/stream/" in pair[1]}
    idle = school.consumer.allowed - school.consumer.used - streams
    assert not {pair for pair in idle if pair[1].startswith("school")} - {
        ("BatchGetItem", "school"),
    }


def test_the_application_cannot_touch_what_consumers_remember(school: School) -> None:
    assert not {pair for pair in school.application.allowed if pair[1] == "keyfold_streams"}


def test_one_that_only_reads_may_not_look_where_no_pattern_does() -> None:
    statements = iam.policies(design.schema)["reader"]["Statement"]
    found = {
        (action, place) for s in statements for action in s["Action"] for place in s["Resource"]
    }
    assert not any("ByActor" in place for _, place in found)
    assert {action for action, _ in found} <= {
        "dynamodb:GetItem",
        "dynamodb:BatchGetItem",
        "dynamodb:Query",
    }
