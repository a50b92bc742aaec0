"""Requests about streams."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Number,
    Structure,
    at_least,
    at_most,
    integer,
    not_above,
    not_below,
    one_of,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import LONG_ARN, NAME
from keyfold_engine.limits import STREAM_RECORDS_PER_READ

_A_HUNDRED = integer(not_below(1), not_above(100))
_SHARD = text(at_least(28), at_most(65))

REQUESTS: dict[str, Structure] = {
    "ListStreams": structure(
        "ListStreamsInput", TableName=NAME, Limit=_A_HUNDRED, ExclusiveStartStreamArn=LONG_ARN
    ),
    "DescribeStream": structure(
        "DescribeStreamInput",
        StreamArn=required(LONG_ARN),
        Limit=_A_HUNDRED,
        ExclusiveStartShardId=_SHARD,
        ShardFilter=structure(
            "ShardFilter", Type=required(text(one_of("CHILD_SHARDS"))), ShardId=required(_SHARD)
        ),
    ),
    "GetShardIterator": structure(
        "GetShardIteratorInput",
        StreamArn=required(LONG_ARN),
        ShardId=required(_SHARD),
        ShardIteratorType=required(
            text(
                one_of(
                    "TRIM_HORIZON",
                    "LATEST",
                    "AT_SEQUENCE_NUMBER",
                    "AFTER_SEQUENCE_NUMBER",
                    "AT_TIMESTAMP",
                )
            )
        ),
        SequenceNumber=text(at_least(21), at_most(40)),
        Timestamp=Number("Double"),
    ),
    "GetRecords": structure(
        "GetRecordsInput",
        ShardIterator=required(text(at_least(1), at_most(2048))),
        Limit=integer(not_below(1), not_above(STREAM_RECORDS_PER_READ)),
    ),
}
