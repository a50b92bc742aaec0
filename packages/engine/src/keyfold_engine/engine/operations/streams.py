"""ListStreams, DescribeStream, GetShardIterator and GetRecords."""

from __future__ import annotations

from typing import Any

import orjson

from keyfold_engine.engine import streams
from keyfold_engine.engine.database import Database
from keyfold_engine.engine.storage import Session
from keyfold_engine.engine.streams import Iterator, StreamDefinition, sequence_text

STREAMS_PER_PAGE = 100


def list_streams(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    limit = request.get("Limit") or STREAMS_PER_PAGE
    after = request.get("ExclusiveStartStreamArn") or ""
    if after:
        streams.check_arn(after)
    with database.read() as session:
        rows = session.streams()
    found = [StreamDefinition(id, orjson.loads(definition)) for id, _arn, definition in rows]
    name = request.get("TableName")
    wanted = [s for s in found if name in (None, s.table_name) and s.arn > after]
    answer: dict[str, Any] = {
        "Streams": [
            {"StreamArn": s.arn, "TableName": s.table_name, "StreamLabel": s.label}
            for s in wanted[:limit]
        ]
    }
    if len(wanted) > limit:
        answer["LastEvaluatedStreamArn"] = wanted[limit - 1].arn
    return answer


def describe_stream(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.snapshot() as session:
        stream = streams.find(session, request["StreamArn"])
        shards = [_shard(session, stream, number) for number in range(stream.shards)]
    after = request.get("ExclusiveStartShardId")
    if after is not None:
        shards = [shard for shard in shards if shard["ShardId"] > after]
    if request.get("ShardFilter") is not None:
        # Shards do not split here, so none has children.
        stream.shard_number(request["ShardFilter"]["ShardId"])
        shards = []
    limit = request.get("Limit") or STREAMS_PER_PAGE
    description = {
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED" if stream.ended is None else "DISABLED",
        "StreamViewType": stream.definition["View"],
        "CreationRequestDateTime": stream.definition["Created"],
        "TableName": stream.table_name,
        "KeySchema": stream.definition["KeySchema"],
        "Shards": shards[:limit],
    }
    if len(shards) > limit:
        description["LastEvaluatedShardId"] = shards[limit - 1]["ShardId"]
    return {"StreamDescription": description}


def get_shard_iterator(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    with database.read() as session:
        iterator = streams.iterator(database, session, request)
    return {"ShardIterator": iterator.token()}


def get_records(database: Database, request: dict[str, Any]) -> dict[str, Any]:
    place = Iterator.parse(request["ShardIterator"])
    with database.snapshot() as session:
        records, following = streams.read(database, session, place, request.get("Limit"))
    answer: dict[str, Any] = {"Records": records}
    if following is not None:
        answer["NextShardIterator"] = following.token()
    return answer


def _shard(session: Session, stream: StreamDefinition, number: int) -> dict[str, Any]:
    sequences = {"StartingSequenceNumber": sequence_text(stream.first)}
    if stream.last is not None:
        bounds = session.record_bounds(stream.id, number)
        sequences["EndingSequenceNumber"] = sequence_text(bounds[1] if bounds else stream.first)
    return {"ShardId": stream.shard_id(number), "SequenceNumberRange": sequences}
