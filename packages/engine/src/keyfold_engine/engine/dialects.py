"""The wordings of DynamoDB's validation messages, as a table of rollouts by region.

In mid 2026 DynamoDB began, operation by operation and region by region, to answer invalid requests
from a newer layer: a `1 validation error detected: ` envelope around formerly bare errors, only the
first error where all were listed, values without the name of their placeholder. A dialect is what
one region says; no other code knows which one that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from keyfold_engine.engine.rollouts import (
    BATCH_GET,
    BATCH_WRITE,
    ITEMS,
    REGIONS,
    SCAN,
    SCAN_OPERATOR,
    TOKEN,
    TRANSACT_GET,
    TRANSACT_WRITE,
)
from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.values.depth import levels

CURRENT, CLASSIC = "us-east-1", "me-central-1"
NAMES: Mapping[str, str] = {"current": CURRENT, "classic": CLASSIC}

_ENVELOPES = tuple(f"{count} validation error" for count in range(1, 11))
_ENVELOPE = "1 validation error detected: "
# The older layer answers deeper requests, and an UpdateItem without its key, everywhere.
_LEVELS_OF_NEWER_LAYER = 61

_ITEM_OPERATIONS = frozenset(("PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query"))
_ITEM_WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem"))
_STATEMENTS = frozenset(("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"))


class Dialect(NamedTuple):
    """How one wording differs from the rules themselves."""

    region: str
    # Operations answered by the older layer: all errors are reported, and the values of expressions
    # may be one level deeper than stored ones.
    older: frozenset[str] = frozenset()
    # Operations that report only the first broken constraint, where others list all.
    brief: frozenset[str] = frozenset()
    # Operations that report invalid values in the newer wording.
    newer: frozenset[str] = frozenset()
    # Operations whose errors about the request itself come in the envelope.
    enveloped: frozenset[str] = frozenset()
    # Operations whose update statements are measured.
    charged: frozenset[str] = frozenset()
    # Operations that parse numbers like Java's BigDecimal.
    decimal: frozenset[str] = frozenset()
    # Whether Scan checks its ConditionalOperator before the values of its filter.
    operator_first: bool = False
    # Members whose broken constraints are reported without the value, by operation.
    terse: Mapping[str, frozenset[str]] = MappingProxyType({})
    # Enum members that are reported first and alone, by operation.
    enums: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    # Replaced messages, by operation and prefix.
    replaced: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def is_terse(self, operation: str, member: str, value: object) -> bool:
        """Whether a broken constraint is reported without the value; for some, only an empty
        one.
        """
        if member in ("TableName", "TransactItems") and value not in ("", []):
            return False
        return member in self.terse.get(operation, ())

    def answering(self, operation: str, request: Mapping[str, object]) -> Dialect:
        """The dialect that answers this request: some never reach the newer layer."""
        if operation in self.older or operation not in _ITEM_OPERATIONS:
            return self
        is_short = operation == "UpdateItem" and request.get("Key") is None
        if is_short or levels(request) > _LEVELS_OF_NEWER_LAYER:
            return of(CLASSIC)
        return self

    def broken_constraints(self, operation: str, problems: Sequence[str]) -> RequestInvalid:
        """The error for constraints that a request breaks."""
        told = problems[:1] if operation in self.brief else problems
        plural = "s" if len(told) > 1 else ""
        return RequestInvalid(f"{len(told)} validation error{plural} detected: {'; '.join(told)}")

    def error_in_words(
        self, operation: str, error: RequestInvalid, request: Mapping[str, object]
    ) -> ValidationError:
        """An error about a request, in the wording of this dialect."""
        dialect = self.answering(operation, request)
        if dialect is not self:
            return dialect.error_in_words(operation, error, request)
        message = error.message
        if operation in self.newer and error.newer is not None:
            message = error.newer
        elif operation in self.decimal and error.older is not None:
            message = error.older
        for beginning, replacement in self.replaced.get(operation, {}).items():
            if message.startswith(beginning):
                message = replacement
        if operation in self.enveloped and not message.startswith(_ENVELOPES):
            message = f"{_ENVELOPE}{message}"
        return ValidationError(message)


_TOO_SHORT = "failed to satisfy constraint: Member must have length greater than or equal to 1"
_NO_TABLES = f"{_ENVELOPE}Value at 'RequestItems' {_TOO_SHORT}"
_NO_PROJECTION = (
    "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
    "SPECIFIC_ATTRIBUTES"
)
_SEGMENT = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
_START = "The provided starting key is invalid"
_OPERATORS = "[ALL, OR]"
# With Amazon's own mistake: UpdateItem has no UPDATE_NEW.
_RETURN_VALUES = "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"


@cache
def of(region: str) -> Dialect:
    """What a region says."""
    items, scan = ITEMS.reached(region), SCAN.reached(region)
    transact_write = TRANSACT_WRITE.reached(region)
    older: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()
    # Query's Limit and BatchGetItem's keys were reported without their value before all others.
    terse = {"Query": {"Limit"}, "BatchGetItem": {"RequestItems"}}
    enums = {"Query": {"ConditionalOperator": _OPERATORS}}
    replaced = {"Query": {_NO_PROJECTION: f"{_ENVELOPE}{_NO_PROJECTION}"}}
    if items:
        newer |= _ITEM_OPERATIONS
        for operation in (*_ITEM_OPERATIONS, "Scan"):
            terse.setdefault(operation, set()).add("TableName")
        for operation in _ITEM_WRITES:
            enums[operation] = {"ConditionalOperator": _OPERATORS}
        enums["UpdateItem"]["ReturnValues"] = _RETURN_VALUES
    else:
        older |= _ITEM_OPERATIONS
    if BATCH_GET.reached(region):
        newer |= {"BatchGetItem"}
        replaced["BatchGetItem"] = {"The requestItems parameter is required": _NO_TABLES}
    if BATCH_WRITE.reached(region):
        replaced["BatchWriteItem"] = {"The requestItems parameter is required": _NO_TABLES}
    if scan:
        terse.setdefault("Scan", set()).update(("Limit", "Segment"))
        replaced["Scan"] = {
            _NO_PROJECTION: f"{_ENVELOPE}{_NO_PROJECTION}",
            f"{_SEGMENT}: ": _SEGMENT,
            f"{_START}: The provided key element does not match the schema": _START,
        }
    if transact_write:
        newer |= {"TransactWriteItems"}
        terse["TransactWriteItems"] = {"TransactItems"}
    else:
        older |= {"TransactWriteItems"}
    if TOKEN.reached(region):
        terse.setdefault("TransactWriteItems", set()).add("ClientRequestToken")
    if TRANSACT_GET.reached(region):
        terse["TransactGetItems"] = {"TransactItems"}
    return Dialect(
        region,
        older=older,
        brief=frozenset(("UpdateItem",)) if items else frozenset(),
        newer=newer,
        enveloped=_ITEM_WRITES if items else frozenset(),
        charged=frozenset(
            name
            for name, is_charged in (("UpdateItem", items), ("TransactWriteItems", transact_write))
            if is_charged
        ),
        decimal=(_STATEMENTS | {"BatchWriteItem", "Scan", "TransactGetItems", "TransactWriteItems"})
        - newer,
        operator_first=SCAN_OPERATOR.reached(region),
        terse={operation: frozenset(members) for operation, members in terse.items()},
        enums=enums,
        replaced=replaced,
    )


def named(name: str) -> Dialect:
    """The dialect of that name: `current`, `classic`, or a region's."""
    region = NAMES.get(name, name)
    if region not in REGIONS:
        known = ", ".join(NAMES)
        raise ValueError(
            f"unknown dialect {name!r}; use one of {known}, and those of regions, such as eu-west-2"
        )
    return of(region)
