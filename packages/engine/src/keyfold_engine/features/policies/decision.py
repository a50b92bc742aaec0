"""Whether a policy allows an action."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

from keyfold_engine.engine.principal import account_of


@dataclass(frozen=True)
class Action:
    """One action of a request: its name, the resource, and the values that conditions see."""

    name: str
    resource: str
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)


def effect(statements: Iterable[Mapping[str, Any]], caller: str, action: Action) -> str | None:
    """`Deny` if a statement denies, else `Allow` if one allows."""
    found = None
    for statement in statements:
        if _applies(statement, caller, action):
            if statement["Effect"] == "Deny":
                return "Deny"
            found = "Allow"
    return found


def _applies(statement: Mapping[str, Any], caller: str, action: Action) -> bool:
    return (
        _is_principal(statement["Principal"], caller)
        and any(
            like(f"dynamodb:{action.name}", each, fold=True) for each in _all(statement["Action"])
        )
        and any(like(action.resource, each) for each in _all(statement["Resource"]))
        and all(
            _holds(operator, key, _all(wanted), caller, action)
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _all(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [str(each).lower() if isinstance(each, bool) else str(each) for each in listed]


def _is_principal(principal: Any, caller: str) -> bool:
    if principal == "*":
        return True
    for arn in _all(principal.get("AWS", [])):
        if arn in ("*", caller):
            return True
        if arn.endswith(":root") and account_of(arn) == account_of(caller):
            return True
        # A session belongs to the role that it assumed.
        if ":assumed-role/" in caller and ":role/" in arn:
            role = caller.partition(":assumed-role/")[2].partition("/")[0]
            if account_of(arn) == account_of(caller) and arn.rpartition("/")[2] == role:
                return True
    return False


@lru_cache(1024)
def _pattern(text: str, fold: bool) -> re.Pattern[str]:
    # Only * and ? are wildcards; brackets are literal.
    return re.compile(translate(text.replace("[", "[[]")), re.IGNORECASE if fold else 0)


def like(text: str, pattern: str, *, fold: bool = False) -> bool:
    """Whether a text is like a pattern with * and ?."""
    return _pattern(pattern, fold).match(text) is not None


def _in_network(address: str, network: str) -> bool:
    try:
        return ip_address(address) in ip_network(network, strict=False)
    except ValueError:
        return False


_Test = Callable[[str, str], bool]
_TESTS: dict[str, _Test] = {
    "StringEquals": str.__eq__,
    "StringEqualsIgnoreCase": lambda value, wanted: value.lower() == wanted.lower(),
    "StringLike": like,
    "ArnEquals": like,
    "ArnLike": like,
    "Bool": lambda value, wanted: value.lower() == wanted.lower(),
    "IpAddress": _in_network,
}
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
    "NotIpAddress": "IpAddress",
}
OPERATORS = frozenset((*_TESTS, *_NEGATED, "Null"))


def base_operator(operator: str) -> str:
    """An operator without its qualifiers for several values or none."""
    return operator.rpartition(":")[2].removesuffix("IfExists")


def _holds(operator: str, key: str, wanted: list[str], caller: str, action: Action) -> bool:
    values = _values(key.lower(), caller, action)
    base = base_operator(operator)
    if base == "Null":
        return (not values) is (wanted[0].lower() == "true")
    if not values:
        # Searches have no keys or attributes for conditions.
        if action.name == "SearchVectors":
            return False
        return operator.endswith("IfExists") or operator.startswith("ForAllValues:")
    positive = _TESTS[_NEGATED.get(base, base)]

    def matches(value: str) -> bool:
        return any(positive(value, each) for each in wanted) is (base not in _NEGATED)

    several = all if operator.startswith("ForAllValues:") else any
    return several(map(matches, values))


def _values(key: str, caller: str, action: Action) -> Sequence[str]:
    match key:
        case "aws:principalarn":
            return [caller]
        case "aws:principalaccount":
            return [account_of(caller)]
        case "aws:username":
            return [caller.rpartition("/")[2]] if ":user/" in caller else []
        case _:
            return action.context.get(key, ())
