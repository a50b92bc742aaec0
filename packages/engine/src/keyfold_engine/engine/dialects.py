"""The two wordings of DynamoDB's validation messages.

In mid 2026 DynamoDB began, operation by operation, to answer invalid requests from a newer layer: a
`1 validation error detected: ` envelope around formerly bare errors, only the first error where all
were listed, values without the name of their placeholder. `current` is what most regions say since
then, `classic` what they said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.values.depth import levels

_ENVELOPES = tuple(f"{count} validation error" for count in range(1, 11))
_ENVELOPE = "1 validation error detected: "
# The older layer answers deeper requests, and an UpdateItem without its key, everywhere.
_LEVELS_OF_NEWER_LAYER = 61

_ITEM_OPERATIONS = frozenset(("PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query"))
_ITEM_WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem"))
_STATEMENTS = frozenset(("ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"))


class Dialect(NamedTuple):
    """How one wording differs from the rules themselves."""

    # Operations answered by the older layer: all errors are reported, and the values of expressions
    # may be one level deeper than stored ones.
    older: frozenset[str]
    # Operations that report only the first broken constraint, where others list all.
    brief: frozenset[str] = frozenset()
    # Operations that report invalid values in the newer wording.
    newer: frozenset[str] = frozenset()
    # Operations whose errors about the request itself come in the envelope.
    enveloped: frozenset[str] = frozenset()
    # Whether UpdateItem's statement is measured.
    charges_updates: bool = False
    # Operations that parse numbers like Java's BigDecimal.
    decimal: frozenset[str] = frozenset()
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
        if member == "TableName" and value != "":
            return False
        return member in self.terse.get(operation, ())

    def answering(self, operation: str, request: Mapping[str, object]) -> Dialect:
        """The dialect that answers this request: some never reach the newer layer."""
        if operation in self.older or operation not in _ITEM_OPERATIONS:
            return self
        is_short = operation == "UpdateItem" and request.get("Key") is None
        if is_short or levels(request) > _LEVELS_OF_NEWER_LAYER:
            return CLASSIC
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
_OPERATORS = {"ConditionalOperator": "[ALL, OR]"}
# With Amazon's own mistake: UpdateItem has no UPDATE_NEW.
_RETURN_VALUES = "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"


# Query's Limit and BatchGetItem's keys were reported without their value before all others.
_TERSE = {"Query": frozenset(("Limit",)), "BatchGetItem": frozenset(("RequestItems",))}
_REPLACED = {"Query": {_NO_PROJECTION: f"{_ENVELOPE}{_NO_PROJECTION}"}}
_DECIMAL = _STATEMENTS | {"BatchWriteItem", "Scan", "TransactGetItems", "TransactWriteItems"}
_NEWER = _ITEM_OPERATIONS | {"BatchGetItem"}

CLASSIC: Final = Dialect(
    older=_ITEM_OPERATIONS | {"TransactWriteItems"},
    decimal=_DECIMAL,
    terse=_TERSE,
    enums={"Query": _OPERATORS},
    replaced=_REPLACED,
)
CURRENT: Final = Dialect(
    older=frozenset(("TransactWriteItems",)),
    brief=frozenset(("UpdateItem",)),
    newer=_NEWER,
    enveloped=_ITEM_WRITES,
    charges_updates=True,
    decimal=_DECIMAL,
    terse={
        name: _TERSE.get(name, frozenset()) | {"TableName"} for name in (*_ITEM_OPERATIONS, "Scan")
    }
    | {"BatchGetItem": _TERSE["BatchGetItem"]},
    enums={
        "Query": _OPERATORS,
        "PutItem": _OPERATORS,
        "UpdateItem": {**_OPERATORS, "ReturnValues": _RETURN_VALUES},
        "DeleteItem": _OPERATORS,
    },
    replaced={
        **_REPLACED,
        "BatchGetItem": {"The requestItems parameter is required": _NO_TABLES},
    },
)
_NAMED: Final = {"current": CURRENT, "classic": CLASSIC}


def named(name: str) -> Dialect:
    """`current` or `classic`."""
    if name not in _NAMED:
        raise ValueError(f"unknown dialect {name!r}; use {' or '.join(_NAMED)}")
    return _NAMED[name]
