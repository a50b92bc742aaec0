"""Requests about contributor insights and Kinesis destinations."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Structure,
    integer,
    not_above,
    one_of,
    required,
    structure,
    text,
)
from keyfold_engine.engine.shapes.words import LONG_ARN, NAME, TABLE

_MODE = text(one_of("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"))
_PRECISION = text(one_of("MILLISECOND", "MICROSECOND"))
_ENABLE = structure(
    "EnableKinesisStreamingConfiguration", ApproximateCreationDateTimePrecision=_PRECISION
)

REQUESTS: dict[str, Structure] = {
    "UpdateContributorInsights": structure(
        "UpdateContributorInsightsInput",
        TableName=TABLE,
        IndexName=NAME,
        ContributorInsightsAction=required(text(one_of("ENABLE", "DISABLE"))),
        ContributorInsightsMode=_MODE,
    ),
    "DescribeContributorInsights": structure(
        "DescribeContributorInsightsInput", TableName=TABLE, IndexName=NAME
    ),
    "ListContributorInsights": structure(
        "ListContributorInsightsInput",
        TableName=text(*TABLE.shape.constraints),
        NextToken=text(),
        MaxResults=integer(not_above(100)),
    ),
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
