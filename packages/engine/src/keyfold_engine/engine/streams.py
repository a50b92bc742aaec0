"""Streams: the records of a table's changes, kept for a day and read through iterators."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import count
from typing import Any

import orjson

from keyfold_engine.engine.database import Database
from keyfold_engine.engine.places import shard_of
from keyfold_engine.engine.storage import Session, StoredItem
from keyfold_engine.engine.tables import TableDefinition
from keyfold_engine.errors import (
    ExpiredIterator,
    TableNotFound,
    TrimmedData,
    ValidationError,
    parameter_invalid,
)
from keyfold_engine.limits import (
    MB,
    STREAM_ITERATOR_SECONDS,
    STREAM_RECORDS_PER_READ,
    STREAM_RETENTION_SECONDS,
)
from keyfold_engine.values import Item
from keyfold_engine.values.size import item_size

# Sequence numbers on the wire have at least 21 digits and sort as text.
_SEQUENCE_OFFSET = 10**20
_SEQUENCES = 2**63
"""The range of SQLite's integers."""
_TRIMMED_AT_ONCE = 100


def sequence_text(sequence: int) -> str:
    """A sequence number in wire format."""
    return str(_SEQUENCE_OFFSET + sequence)


def sequence_number(text: str) -> int:
    if text.isdecimal() and int(text) < _SEQUENCE_OFFSET + _SEQUENCES:
        return int(text) - _SEQUENCE_OFFSET
    raise ValidationError(f"Invalid SequenceNumber: {text}")


_ARN = re.compile(r"arn:[^:]+:dynamodb:[^:]+:\d+:table/[^/]+/stream/.+").fullmatch


def check_arn(arn: str) -> None:
    """Refuse what is not a stream ARN."""
    if not _ARN(arn):
        raise parameter_invalid(f"Invalid StreamArn: {arn}")


class StreamDefinition:
    """One stream by its definition; it outlives its table by a day."""

    def __init__(self, id: int, definition: dict[str, Any]) -> None:
        self.id = id
        self.definition = definition
        self.arn: str = definition["Arn"]
        self.label: str = definition["Label"]
        self.table_name: str = definition["TableName"]
        self.shards: int = definition["Shards"]
        self.first: int = definition["First"]
        self.last: int | None = definition.get("Last")
        self.ended: float | None = definition.get("Ended")

    def shard_id(self, number: int) -> str:
        return f"shardId-{int(self.definition['Created'] * 1000):020d}-{self.id:04x}{number:04x}"

    def shard_number(self, shard_id: str) -> int:
        for number in range(self.shards):
            if self.shard_id(number) == shard_id:
                return number
        raise TableNotFound(
            f"Requested resource not found: Shard: {shard_id} in Stream: {self.arn} not found"
        )


def start(
    database: Database, session: Session, table: TableDefinition, view: str
) -> TableDefinition:
    """Open a new stream on the table."""
    now = database.clock.now()
    for later in count():
        created = now + later / 1000
        label = f"{datetime.fromtimestamp(created, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3]
        arn = f"{table.arn}/stream/{label}"
        if session.stream(arn) is None:
            break
    definition = {
        "Arn": arn,
        "Label": label,
        "TableName": table.name,
        "KeySchema": table.definition["KeySchema"],
        "View": view,
        "Created": created,
        "Shards": database.stream_shards,
        "First": session.next_sequence(),
    }
    number = session.create_stream(arn, orjson.dumps(definition))
    stream = {
        "Number": number,
        "View": view,
        "Arn": arn,
        "Label": label,
        "Shards": database.stream_shards,
    }
    return table.with_changes(Stream=stream, LatestStream={"Arn": arn, "Label": label})


def stop(database: Database, session: Session, table: TableDefinition) -> TableDefinition:
    """Close the table's stream; its records stay readable for a day."""
    if table.stream is None:
        return table
    stream = find(session, table.definition["Stream"]["Arn"])
    ended = {
        **stream.definition,
        "Ended": database.clock.now(),
        "Last": session.next_sequence() - 1,
    }
    session.define_stream(stream.id, orjson.dumps(ended))
    return table.with_changes(Stream=None)


def find(session: Session, arn: str) -> StreamDefinition:
    check_arn(arn)
    row = session.stream(arn)
    if row is None:
        raise TableNotFound(f"Requested resource not found: Stream: {arn} not found")
    return StreamDefinition(row[0], orjson.loads(row[1]))


def record(
    database: Database,
    session: Session,
    table: TableDefinition,
    place: bytes,
    item: Item,
    stored: StoredItem | None,
    new: tuple[int, bytes] | None,
    identity: dict[str, str] | None = None,
) -> None:
    """Append the record of a change to the table's stream.

    `item` has the keys, `new` is the size and body of the item after the change.
    """
    assert table.stream is not None, "only tables with a stream record changes"
    entry = change(table, item, stored, new, table.view)
    if identity is not None:
        entry["userIdentity"] = identity
    shards = table.definition["Stream"]["Shards"]
    shard = shard_of(place, shards) if shards > 1 else 0
    session.append_record(table.stream, shard, database.moments.of(session), orjson.dumps(entry))


def change(
    table: TableDefinition,
    item: Item,
    stored: StoredItem | None,
    new: tuple[int, bytes] | None,
    view: str | None = "NEW_AND_OLD_IMAGES",
) -> dict[str, Any]:
    """A change as its records tell it."""
    keys = table.schema.key_of(item)
    body: dict[str, Any] = {"Keys": keys}
    size = item_size(keys)
    if new is not None and view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
        body["NewImage"] = orjson.Fragment(new[1])
        size += new[0]
    if stored is not None and view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
        body["OldImage"] = orjson.Fragment(stored.body)
        size += stored.size
    body["SizeBytes"] = size
    event = "INSERT" if stored is None else "REMOVE" if new is None else "MODIFY"
    return {"eventName": event, "dynamodb": body}


def trim(database: Database, session: Session) -> bool:
    """Delete some records older than a day, or closed streams without records."""
    before = database.horizon.now() - STREAM_RETENTION_SECONDS
    if session.trim_records(before, _TRIMMED_AT_ONCE):
        return True
    for number, _arn, definition in session.streams():
        ended = orjson.loads(definition).get("Ended")
        if ended is not None and ended < before:
            session.drop_stream(number)
    return False


class Iterator:
    """A position in a shard: the next sequence to read, and when the iterator was created."""

    def __init__(self, arn: str, shard: int, sequence: int, issued: float) -> None:
        self.arn, self.shard, self.sequence, self.issued = arn, shard, sequence, issued

    def token(self) -> str:
        place = orjson.dumps([self.shard, self.sequence, self.issued])
        return f"{self.arn}|1|{b64encode(place).decode()}"

    @classmethod
    def parse(cls, token: str) -> Iterator:
        arn, _, encoded = token.rpartition("|1|")
        try:
            place = orjson.loads(b64decode(encoded, validate=True))
        except ValueError:
            raise ValidationError("Invalid ShardIterator") from None
        match place:
            case [int(shard), int(sequence), int(issued) | float(issued)] if (
                0 <= shard < _SEQUENCES and 0 <= sequence < _SEQUENCES
            ):
                return cls(arn, shard, sequence, issued)
        raise ValidationError("Invalid ShardIterator")


# The parameter that gives an iterator's position, for kinds that need one.
_BEGINNING = {
    "AT_SEQUENCE_NUMBER": "SequenceNumber",
    "AFTER_SEQUENCE_NUMBER": "SequenceNumber",
    "AT_TIMESTAMP": "Timestamp",
}


def iterator(database: Database, session: Session, request: dict[str, Any]) -> Iterator:
    """The iterator for a GetShardIterator request."""
    arn, kind = request["StreamArn"], request["ShardIteratorType"]
    check_arn(arn)
    for parameter in ("SequenceNumber", "Timestamp"):
        if (request.get(parameter) is not None) is not (_BEGINNING.get(kind) == parameter):
            needed = "is required" if _BEGINNING.get(kind) == parameter else "cannot be specified"
            raise parameter_invalid(f"{parameter} {needed} for ShardIteratorType {kind}")
    stream = find(session, arn)
    shard = stream.shard_number(request["ShardId"])
    if kind == "TRIM_HORIZON":
        sequence = 0
    elif kind == "LATEST":
        sequence = session.next_sequence()
    elif kind == "AT_TIMESTAMP":
        sequence = _since(database, session, stream, shard, request["Timestamp"])
    else:
        at = request["SequenceNumber"]
        sequence = sequence_number(at)
        if sequence < _oldest(database, session, stream, shard):
            raise TrimmedData(
                "The operation attempted to read past the oldest stream record in a shard. "
                f"SequenceNumber: {at}"
            )
        sequence += kind == "AFTER_SEQUENCE_NUMBER"
    return Iterator(arn, shard, sequence, database.clock.now())


def _since(
    database: Database, session: Session, stream: StreamDefinition, shard: int, timestamp: float
) -> int:
    """The first sequence at or after a time."""
    now = database.clock.now()
    if timestamp > now:
        raise parameter_invalid(f"Timestamp cannot be in the future: {timestamp}")
    kept = max(timestamp, database.horizon.now() - STREAM_RETENTION_SECONDS)
    records = session.records(stream.id, shard, 0, kept, 1)
    return records[0][0] if records else session.next_sequence()


def _oldest(database: Database, session: Session, stream: StreamDefinition, shard: int) -> int:
    since = database.horizon.now() - STREAM_RETENTION_SECONDS
    kept = session.records(stream.id, shard, 0, since, 1)
    return kept[0][0] if kept else stream.first


def read(
    database: Database, session: Session, place: Iterator, limit: int | None
) -> tuple[list[dict[str, Any]], Iterator | None]:
    """The next records and where to continue; None at the end of a closed shard."""
    now = database.clock.now()
    if now - place.issued > STREAM_ITERATOR_SECONDS:
        raise ExpiredIterator("Iterator expired. The iterator is older than 15 minutes.")
    stream = find(session, place.arn)
    since = database.horizon.now() - STREAM_RETENTION_SECONDS
    rows = session.records(
        stream.id, place.shard, place.sequence, since, limit or STREAM_RECORDS_PER_READ
    )
    answer: list[dict[str, Any]] = []
    size = 0
    for sequence, at, body in rows:
        size += len(body)
        if answer and size > MB:
            break
        answer.append(_wire(database, stream, sequence, at, body))
        place = Iterator(place.arn, place.shard, sequence + 1, now)
    else:
        if stream.last is not None and len(rows) < (limit or STREAM_RECORDS_PER_READ):
            return answer, None
    return answer, Iterator(place.arn, place.shard, place.sequence, now)


def _wire(
    database: Database, stream: StreamDefinition, sequence: int, at: float, body: bytes
) -> dict[str, Any]:
    entry = orjson.loads(body)
    change = entry["dynamodb"]
    change["ApproximateCreationDateTime"] = int(at)
    change["SequenceNumber"] = sequence_text(sequence)
    change["StreamViewType"] = stream.definition["View"]
    event = {
        "eventID": blake2b(f"{stream.arn}/{sequence}".encode(), digest_size=16).hexdigest(),
        "eventName": entry["eventName"],
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": database.region,
        "dynamodb": change,
    }
    if "userIdentity" in entry:
        event["userIdentity"] = entry["userIdentity"]
    return event
