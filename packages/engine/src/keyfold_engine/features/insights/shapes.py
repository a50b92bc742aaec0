"""Requests about contributor insights."""

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
from keyfold_engine.engine.shapes.words import NAME, TABLE

_MODE = text(one_of("ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"))

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
}
