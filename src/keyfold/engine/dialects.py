"""The two wordings of DynamoDB's validation messages, as data.

In mid 2026 DynamoDB began, operation by operation and region by region, to answer wrong requests
in other words: a `1 validation error detected: ` envelope around errors that came bare, the first
error alone where all were listed, values that are not wrapped in the name of their placeholder.
Which wording an engine speaks is chosen once, by name; nothing else knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keyfold.errors import RequestInvalid, ValidationError

_ENVELOPES = tuple(f"{count} validation error" for count in range(1, 11))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one wording differs from the rules themselves."""

    name: str
    # Operations that tell the first broken constraint of a request alone, where others list all.
    brief: frozenset[str] = frozenset()
    # Operations that speak of wrong values in the newer words.
    newer: frozenset[str] = frozenset()
    # Operations whose errors about the request itself come in the envelope.
    enveloped: frozenset[str] = frozenset()
    # Members whose broken constraints are told without their value, by operation.
    terse: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Messages that were replaced whole.
    replaced: Mapping[str, str] = field(default_factory=dict)

    def is_terse(self, operation: str, member: str, value: object) -> bool:
        """Whether a broken constraint is told without the value; of table names, the empty one."""
        return member in self.terse.get(operation, ()) and (member != "TableName" or value == "")

    def broken_constraints(self, operation: str, problems: Sequence[str]) -> RequestInvalid:
        """The error for constraints that a request breaks."""
        told = problems[:1] if operation in self.brief else problems
        plural = "s" if len(told) > 1 else ""
        return RequestInvalid(f"{len(told)} validation error{plural} detected: {'; '.join(told)}")

    def worded(self, operation: str, error: RequestInvalid) -> ValidationError:
        """An error about a request, in the words of this dialect."""
        message = self.replaced.get(error.message, error.message)
        if operation in self.newer and error.newer is not None:
            message = error.newer
        if operation in self.enveloped and not message.startswith(_ENVELOPES):
            message = f"1 validation error detected: {message}"
        return ValidationError(message)


_ITEM_OPERATIONS = ("PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan")

# Query's Limit and BatchGetItem's keys were told without their value before all others.
_TERSE = {"Query": frozenset(("Limit",)), "BatchGetItem": frozenset(("RequestItems",))}
_MORE_TERSE = {
    operation: _TERSE.get(operation, frozenset()) | {"TableName"} for operation in _ITEM_OPERATIONS
}

DIALECTS: Mapping[str, Dialect] = {
    "classic": Dialect("classic", terse=_TERSE),
    "current": Dialect(
        "current",
        brief=frozenset(("UpdateItem",)),
        newer=frozenset((*_ITEM_OPERATIONS, "BatchGetItem")) - {"Scan"},
        enveloped=frozenset(("PutItem", "UpdateItem", "DeleteItem")),
        terse={**_TERSE, **_MORE_TERSE},
        replaced={
            "The requestItems parameter is required for BatchGetItem": (
                "1 validation error detected: Value at 'RequestItems' failed to satisfy "
                "constraint: Member must have length greater than or equal to 1"
            )
        },
    ),
}


def named(name: str) -> Dialect:
    """The dialect of that name."""
    try:
        return DIALECTS[name]
    except KeyError:
        known = ", ".join(DIALECTS)
        raise ValueError(f"no dialect is called {name!r}; there are: {known}") from None
