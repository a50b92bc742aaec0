"""Members that many requests share."""

from __future__ import annotations

from keyfold_engine.engine.shapes.kinds import (
    Attribute,
    Boolean,
    Member,
    at_least,
    at_most,
    integer,
    list_of,
    long,
    map_of,
    not_below,
    one_of,
    pattern,
    required,
    structure,
    text,
    unless_arn,
)

NAME_PATTERN = pattern(r"[a-zA-Z0-9_.-]+")
NAME = text(NAME_PATTERN, at_least(3), at_most(255))
ARN = text(at_least(1), at_most(1024))
LONG_ARN = text(at_least(37), at_most(1024))

# Data operations take a table's name or its ARN.
TABLE = Member(
    text(at_least(1), unless_arn(at_most(255)), unless_arn(NAME_PATTERN), at_most(1024)),
    required=True,
    alone=True,
)
_LONG_NAME = text(at_least(3), unless_arn(at_most(255)), unless_arn(NAME_PATTERN))
DEFINED_TABLE = Member(
    _LONG_NAME,
    alone=True,
    missing="The parameter 'TableName' is required but was not present in the request",
)
NAMED_TABLE = Member(_LONG_NAME, required=True, alone=True)

ATTRIBUTES = map_of(Attribute())
NAMES = map_of(text())
EXPRESSION = text()
FLAG = Boolean()

COMPARISON = one_of(
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
)
CONDITIONS = map_of(
    structure(
        "Condition",
        AttributeValueList=list_of(Attribute()),
        ComparisonOperator=required(text(COMPARISON)),
    )
)
EXPECTED = map_of(
    structure(
        "ExpectedAttributeValue",
        AttributeValueList=list_of(Attribute()),
        ComparisonOperator=text(COMPARISON),
        Exists=FLAG,
        Value=Attribute(),
    )
)
CONDITIONAL_OPERATOR = text(one_of("OR", "AND"))
ATTRIBUTE_NAMES = list_of(text(at_most(65535)), at_least(1), at_most(255))
CONSUMED = text(one_of("INDEXES", "TOTAL", "NONE"))
COLLECTION_METRICS = text(one_of("SIZE", "NONE"))
RETURN_VALUES = text(one_of("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))
ON_FAILURE = text(one_of("ALL_OLD", "NONE"))
SELECT = text(one_of("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"))
POSITIVE = integer(not_below(1))
POSITIVE_LONG = long(not_below(1))
TOKEN = text(at_least(1), at_most(36))
