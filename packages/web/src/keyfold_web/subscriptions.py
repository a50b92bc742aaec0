"""Subscriptions: live changes for callers, declared once on a service's method.

    class Rooms(Service):
        @subscription(Message, allow=member)
        async def messages(self, change: Change[Message], room_id: str) -> Message | None:
            '''The new messages of a room.'''
            return change.new

The method is called for each change of an item of these entities and returns what the caller gets,
or None for nothing. A required parameter with the name of a field of all the entities selects items
with that value. Other parameters are the method's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from keyfold.design import Entity
from keyfold.errors import DeclarationError
from keyfold_web.operation import Declaration
from keyfold_web.options import with_checked_options
from keyfold_web.parameters import Operation, read_signature
from keyfold_web.rules import Rule

P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[P, Coroutine[Any, Any, R]]
IMAGES = "NEW_AND_OLD_IMAGES"


@dataclass(frozen=True)
class Subscription:
    """One subscription of a service, as data."""

    operation: Operation
    """Its name, arguments, rule and result."""
    entities: tuple[type[Entity], ...]
    change: str
    """The parameter that receives the change."""
    selects: tuple[str, ...]
    """Parameters that select items."""


@dataclass(frozen=True, slots=True)
class WatchedEntities:
    """What the decorator declares; the method's signature declares the rest."""

    entities: tuple[type[Entity], ...]
    declared: Declaration


@with_checked_options
def subscription(
    *entities: type[Entity], allow: Rule, name: str | None = None
) -> Callable[[Method[P, R]], Method[P, R]]:
    """Declare a subscription; the rule is checked again before each answer."""

    def mark(function: Method[P, R]) -> Method[P, R]:
        if not inspect.iscoroutinefunction(function):
            raise DeclarationError(
                "O1", "a subscription must be an `async def` method.", place=function.__qualname__
            )
        path = f"/subscriptions/{function.__name__}"
        declared = Declaration("subscription", path, allow, "GET", name, None)
        function.__subscription__ = WatchedEntities(entities, declared)  # type: ignore[attr-defined]
        return function

    return mark


def read_subscription(function: Callable[..., Any]) -> Subscription:
    """The subscription that a decorated method declares; refuses invalid declarations."""
    watched: WatchedEntities = function.__subscription__  # type: ignore[attr-defined]
    operation, change = read_signature(function, watched.declared)

    def refuse(message: str, suggestion: str) -> DeclarationError:
        place = function.__qualname__
        return DeclarationError("O14", message, place=place, suggestion=suggestion)

    if not watched.entities:
        raise refuse("@subscription needs an entity.", "@subscription(Message, allow=...)")
    if change is None:
        raise refuse("it has no parameter for the change.", "Add `change: Change[Message]`.")
    if operation.page is not None or operation.takes_request_id or operation.takes_version:
        raise refuse("it cannot take a page, a request id or a version.", "Remove it.")
    for entity in watched.entities:
        table = entity.__table__.schema
        if table.stream != IMAGES:
            raise refuse(
                f"the table {table.name} of {entity.__name__} has no stream of both images.",
                f"Declare it with stream={IMAGES!r}.",
            )
    selects = tuple(
        one.name
        for one in operation.parameters
        if one.required
        and one.public not in operation.taking_many
        and all(one.name in entity.model_fields for entity in watched.entities)
    )
    return Subscription(operation, watched.entities, change, selects)
