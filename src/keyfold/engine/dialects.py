"""The two wordings of DynamoDB's validation messages, as data.

In mid 2026 DynamoDB began, region by region, to answer some wrong requests in other words: a
`1 validation error detected: ` envelope around errors that came bare, and the first error alone
where all were listed. Which wording an engine speaks is chosen once, by name; nothing else knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keyfold.errors import RequestInvalid, ValidationError

_ENVELOPES = tuple(f"{count} validation error" for count in range(1, 11))

# An enveloped error about a placeholder's value does not name the placeholder.
_PLACEHOLDER_VALUE = re.compile(
    r"ExpressionAttributeValues contains invalid value: (.*) for key :\w+", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one wording differs from the rules themselves."""

    name: str
    # Whether all broken constraints of a request are listed, or the first alone.
    lists_all: bool
    # Operations whose errors about the request itself come in the envelope.
    enveloped: frozenset[str] = frozenset()
    # Members whose broken constraints are told without their value, by operation.
    terse: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # Messages that were replaced whole.
    replaced: Mapping[str, str] = field(default_factory=dict)

    def is_terse(self, operation: str, member: str) -> bool:
        return member in self.terse.get(operation, ())

    def broken_constraints(self, problems: Sequence[str]) -> RequestInvalid:
        """The error for constraints that a request breaks."""
        told = problems if self.lists_all else problems[:1]
        plural = "s" if len(told) > 1 else ""
        return RequestInvalid(f"{len(told)} validation error{plural} detected: {'; '.join(told)}")

    def worded(self, operation: str, error: RequestInvalid) -> ValidationError:
        """An error about a request, in the words of this dialect."""
        message = self.replaced.get(error.message, error.message)
        if operation in self.enveloped and not message.startswith(_ENVELOPES):
            told = _PLACEHOLDER_VALUE.fullmatch(message)
            message = f"1 validation error detected: {told[1] if told else message}"
        return ValidationError(message)


_ITEM_OPERATIONS = ("PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan")

# Query's Limit and BatchGetItem's keys were told without their value before all others.
_TERSE = {"Query": frozenset(("Limit",)), "BatchGetItem": frozenset(("RequestItems",))}
_MORE_TERSE = {
    operation: _TERSE.get(operation, frozenset()) | {"TableName"} for operation in _ITEM_OPERATIONS
}

DIALECTS: Mapping[str, Dialect] = {
    "classic": Dialect("classic", lists_all=True, terse=_TERSE),
    "current": Dialect(
        "current",
        lists_all=False,
        enveloped=frozenset(("PutItem", "UpdateItem")),
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
