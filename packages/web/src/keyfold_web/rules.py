"""Authorisation rules: declared with an operation, evaluated before it, testable as a matrix.

    @rule
    async def member(service: Inviter, caller: Identity, arguments: Arguments) -> bool:
        return await service.is_member(arguments["group_id"], caller.id)

    @query("/groups/{group_id}/feed", allow=member | admin)

A rule never sees an anonymous caller unless it says `@rule(anonymous=True)`: who has not signed
in gets 401, who has and is not permitted gets 403.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from keyfold_web.identity import Identity
from keyfold_web.problems import NotAllowed, NotAuthenticated

Arguments = Mapping[str, Any]
"""The parsed arguments of an operation, by name."""
Predicate = Callable[[Any, Identity, Arguments], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named predicate over the service, the caller and the operation's parsed arguments."""

    name: str
    predicate: Predicate
    anonymous: bool = False

    async def allows(self, service: object, caller: Identity, arguments: Arguments) -> bool:
        if caller.is_anonymous and not self.anonymous:
            return False
        verdict = self.predicate(service, caller, arguments)
        return await verdict if inspect.isawaitable(verdict) else verdict

    async def require(self, service: object, caller: Identity, arguments: Arguments) -> None:
        """Raise NotAuthenticated or NotAllowed unless the rule holds."""
        if not await self.allows(service, caller, arguments):
            raise NotAuthenticated() if caller.is_anonymous else NotAllowed()

    def __or__(self, other: Rule) -> Rule:
        async def either(service: object, caller: Identity, arguments: Arguments) -> bool:
            return await self.allows(service, caller, arguments) or await other.allows(
                service, caller, arguments
            )

        return Rule(f"{self.name} or {other.name}", either, self.anonymous or other.anonymous)

    def __and__(self, other: Rule) -> Rule:
        async def both(service: object, caller: Identity, arguments: Arguments) -> bool:
            return await self.allows(service, caller, arguments) and await other.allows(
                service, caller, arguments
            )

        name = f"{_parenthesise(self.name)} and {_parenthesise(other.name)}"
        return Rule(name, both, self.anonymous and other.anonymous)


def _parenthesise(name: str) -> str:
    return f"({name})" if " or " in name else name


@overload
def rule(predicate: Predicate, /) -> Rule: ...
@overload
def rule(*, anonymous: bool = False) -> Callable[[Predicate], Rule]: ...
def rule(
    predicate: Predicate | None = None, /, *, anonymous: bool = False
) -> Rule | Callable[[Predicate], Rule]:
    """Make a rule from a predicate; its name and docstring appear in the documentation."""

    def make(function: Predicate) -> Rule:
        name = getattr(function, "__name__", "rule").strip("_").replace("_", " ")
        return Rule(name, function, anonymous)

    return make if predicate is None else make(predicate)


anyone = Rule("anyone", lambda _service, _caller, _arguments: True, anonymous=True)
"""Everybody, with or without a token."""

authenticated = Rule("authenticated", lambda _service, _caller, _arguments: True)
"""Every caller with a valid token."""

admin = Rule("admin", lambda _service, caller, _arguments: caller.is_admin)
"""Callers in the administrators' group."""


def itself(parameter: str) -> Rule:
    """The caller is the user named by this parameter; dots lead into a model (`input.user_id`)."""
    head, *rest = parameter.split(".")

    def same(_service: object, caller: Identity, arguments: Arguments) -> bool:
        value = arguments[head]
        for name in rest:
            value = getattr(value, name)
        return bool(value == caller.id)

    return Rule(f"{parameter} itself", same)
