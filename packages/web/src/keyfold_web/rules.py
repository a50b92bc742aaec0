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
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from pydantic import BaseModel

from keyfold.errors import DeclarationError
from keyfold_web.identity import Identity
from keyfold_web.options import sentence_to
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
    parameters: frozenset[str] = frozenset()
    """Parameters that an operation needs for it; dots lead into a model."""

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
        _check_is_rule(other)

        async def either(service: object, caller: Identity, arguments: Arguments) -> bool:
            return await self.allows(service, caller, arguments) or await other.allows(
                service, caller, arguments
            )

        return Rule(
            f"{self.name} or {other.name}",
            either,
            self.anonymous or other.anonymous,
            self.parameters | other.parameters,
        )

    def __and__(self, other: Rule) -> Rule:
        _check_is_rule(other)

        async def both(service: object, caller: Identity, arguments: Arguments) -> bool:
            return await self.allows(service, caller, arguments) and await other.allows(
                service, caller, arguments
            )

        name = f"{_parenthesise(self.name)} and {_parenthesise(other.name)}"
        return Rule(
            name,
            both,
            self.anonymous and other.anonymous,
            self.parameters | other.parameters,
        )

    # What stands before `|` or `&` and is no rule is asked last.
    __ror__, __rand__ = __or__, __and__


def _check_is_rule(given: object, place: str = "") -> None:
    """Refuse what is not a rule, such as the name of one, or a function without `@rule`."""
    if isinstance(given, Rule):
        return
    suggestion = "Give anyone, authenticated, admin, or your own rule, made with @rule."
    if given is itself:
        suggestion = 'Name the parameter: itself("user_id").'
    elif callable(given):
        suggestion = "Decorate it with @rule."
    elif isinstance(given, str) and given.isidentifier():
        suggestion = f"Give the rule, without quotes: {given}."
    name = getattr(given, "__name__", repr(given))
    raise DeclarationError("O19", f"{name} is not a rule.", place=place, suggestion=suggestion)


def check_rule(given: Rule, known: Mapping[str, Any], place: str) -> None:
    """Refuse what is not a rule, and one about parameters that are not known; they have these
    types.
    """
    _check_is_rule(given, place)
    for path in sorted(given.parameters):
        head, *rest = path.split(".")
        names: Iterable[str] = known
        within = known.get(head)
        wrong = None if head in known else head
        for name in rest:
            if wrong or not (isinstance(within, type) and issubclass(within, BaseModel)):
                break
            names = within.model_fields
            found = within.model_fields.get(name)
            wrong = None if found or hasattr(within, name) else name
            within = found.annotation if found else None
        if wrong:
            raise DeclarationError(
                "O19",
                f"its rule names {path!r}, and there is no {wrong!r}.",
                place=place,
                suggestion=sentence_to(wrong, names),
            )


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

    return Rule(f"{parameter} itself", same, parameters=frozenset({parameter}))
