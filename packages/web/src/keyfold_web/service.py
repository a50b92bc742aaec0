"""A service: the operations of one system over one database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from keyfold.errors import DeclarationError
from keyfold.runtime import AsyncDb, Design
from keyfold_web.identity import Identity
from keyfold_web.parameters import Operation, RelatedField, read_operation, read_related
from keyfold_web.subscriptions import Subscription, read_subscription


class Service:
    """Subclass it, and declare operations with decorators; `db` is its database.

    `keyfold api` opens the database from `design`. `name` is the path of the service, by default
    the class's name in lower case with dashes. `title` is its name for people, by default the
    class's name in words.

    Every mutation of a service with a design takes an Idempotency-Key: a repeated request gets the
    first one's result, which is stored in `db`. `idempotent = False` disables this.
    """

    name: ClassVar[str] = "service"
    title: ClassVar[str] = "Service"
    design: ClassVar[Design]
    idempotent: ClassVar[bool | None] = None
    db: AsyncDb
    operations: ClassVar[dict[str, Operation]] = {}
    related: ClassVar[list[RelatedField]] = []
    subscriptions: ClassVar[dict[str, Subscription]] = {}

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__()
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__)
        cls.name = name or words.replace(" ", "-").lower()
        if "title" not in vars(cls):
            cls.title = words
        cls.operations, cls.related, cls.subscriptions = {}, [], {}
        if hasattr(cls, "design"):  # mixins have none
            cls.idempotent = cls.idempotent is not False
        routes: dict[tuple[str, str], str] = {}
        for attribute in _attributes(cls):
            if hasattr(attribute, "__operation__"):
                operation = read_operation(attribute, idempotent=bool(cls.idempotent))
                _claim(cls.operations, routes, operation)
            elif hasattr(attribute, "__related__"):
                cls.related.append(read_related(attribute))
            elif hasattr(attribute, "__subscription__"):
                subscription = read_subscription(attribute)
                cls.subscriptions[subscription.operation.name] = subscription

    def __init__(self, db: AsyncDb | None = None) -> None:
        if db is not None:
            self.db = db

    async def start(self) -> None:
        """Called once before the first request: start consumers here."""

    async def stop(self) -> None:
        """Called once after the last request."""

    async def welcome(self, caller: Identity) -> None:
        """Called before the first operation of a caller after each sign-in, once per process.

        If accounts come from an issuer, create a missing profile here: the token's claims are in
        `caller.claims`. It may be called several times for one caller.
        """

    async def ready(self) -> bool:
        """Whether requests can be served now; used by `/ready`."""
        return True

    async def verdicts(
        self, method: str, callers: Mapping[str, Identity], **arguments: Any
    ) -> dict[str, int]:
        """The status each caller gets from an operation's rule: 200, 401 or 403; for tests."""
        operation = next(one for one in self.operations.values() if one.function.__name__ == method)
        found = {}
        for who, caller in callers.items():
            allowed = await operation.allow.allows(self, caller, arguments)
            found[who] = 200 if allowed else 401 if caller.is_anonymous else 403
        return found


def _attributes(cls: type) -> list[Any]:
    found: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        found.update(vars(owner))
    return list(found.values())


def _claim(
    operations: dict[str, Operation], routes: dict[tuple[str, str], str], new: Operation
) -> None:
    if new.name in operations:
        raise DeclarationError("O10", f"two operations are named {new.name!r}.")
    shape = re.sub(r"\{\w+\}", "{}", new.path)
    if (other := routes.setdefault((new.verb, shape), new.name)) != new.name:
        raise DeclarationError("O10", f"{new.name} and {other} share {new.verb} {new.path}.")
    operations[new.name] = new
