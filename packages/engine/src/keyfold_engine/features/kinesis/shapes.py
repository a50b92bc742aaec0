"""Requests about Kinesis destinations."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import Structure, one_of, required, structure, text
from keyfold_engine.engine.shapes.words import LONG_ARN, TABLE

_PRECISION = text(one_of("MILLISECOND", "MICROSECOND"))
_ENABLE = structure(
    "EnableKinesisStreamingConfiguration", ApproximateCreationDateTimePrecision=_PRECISION
)

REQUESTS: dict[str, Structure] = {
    "EnableKinesisStreamingDestination": structure(
        "EnableKinesisStreamingDestinationInput",
        TableName=TABLE,
        StreamArn=required(LONG_ARN),
        EnableKinesisStreamingConfiguration=_ENABLE,
    ),
    "DisableKinesisStreamingDestination": structure(
        "DisableKinesisStreamingDestinationInput",
        TableName=TABLE,
        StreamArn=required(LONG_ARN),
        EnableKinesisStreamingConfiguration=_ENABLE,
    ),
    "UpdateKinesisStreamingDestination": structure(
        "UpdateKinesisStreamingDestinationInput",
        TableName=TABLE,
        StreamArn=required(LONG_ARN),
        UpdateKinesisStreamingConfiguration=structure(
            "UpdateKinesisStreamingConfiguration", ApproximateCreationDateTimePrecision=_PRECISION
        ),
    ),
    "DescribeKinesisStreamingDestination": structure(
        "DescribeKinesisStreamingDestinationInput", TableName=TABLE
    ),
}
