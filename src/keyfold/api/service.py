"""A service: the operations of one system over one database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from keyfold.api.identity import Identity
from keyfold.api.links import MediaStore
from keyfold.api.parameters import Operation, RelatedField, read_operation, read_related
from keyfold.api.subscriptions import Subscription, read_subscription
from keyfold.errors import DeclarationError
from keyfold.runtime import AsyncDb, Design

if TYPE_CHECKING:
    from keyfold.api.auth import Tokens


class Issue(Protocol):
    """Creates a token for a user, in a session that can be ended."""

    def __call__(self, id: str, *groups: str, session: int | None = None) -> str: ...


class Service:
    """Subclass it, and declare operations with decorators; `db` is the database it was given.

    `design` is what `keyfold api` opens the database from. `name` is where the service is
    mounted; it defaults to the class's name in lower case with dashes. `title` is what people
    call it, by default the class's name in words. `media` is the store of
    uploads that the application was given, if any; `issue` makes a token for a user, where the
    application has a key to sign with, for services that check passwords themselves. A
    service with `own_accounts` signs people in itself, so it needs no issuer; its `tokens` say
    who a token stands for.

    `relations` are what ids of answers lead to in GraphQL, as `keyfold.api.relation` says it.

    Every mutation of a service with a design takes an Idempotency-Key: a repeated request gets the
    first one's result, which is kept in `db`. `idempotent = False` does without.
    """

    name: ClassVar[str] = "service"
    title: ClassVar[str] = "Service"
    design: ClassVar[Design]
    idempotent: ClassVar[bool | None] = None
    db: AsyncDb
    operations: ClassVar[dict[str, Operation]] = {}
    related: ClassVar[list[RelatedField]] = []
    subscriptions: ClassVar[dict[str, Subscription]] = {}
    relations: ClassVar[Sequence[RelatedField]] = ()
    media: MediaStore | None = None
    issue: Issue | None = None
    own_accounts: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__()
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__)
        cls.name = name or words.replace(" ", "-").lower()
        if "title" not in vars(cls):
            cls.title = words
        cls.operations, cls.related, cls.subscriptions = {}, list(cls.relations), {}
        if cls.idempotent is None and hasattr(cls, "design"):
            # Mixins have no operations of their own.
            cls.idempotent = True
        routes: dict[tuple[str, str], str] = {}
        for attribute in _attributes(cls):
            if hasattr(attribute, "__operation__"):
                operation = read_operation(attribute, idempotent=bool(cls.idempotent), owner=cls)
                _claim(cls.operations, routes, operation)
            elif hasattr(attribute, "__related__"):
                cls.related.append(read_related(attribute))
            elif hasattr(attribute, "__subscription__"):
                subscription = read_subscription(attribute)
                cls.subscriptions[subscription.operation.name] = subscription

    def __init__(self, db: AsyncDb | None = None) -> None:
        if db is not None:
            self.db = db

    def tokens(self, given: Tokens | None) -> Tokens | None:
        """Turns bearer tokens into identities: the application's, unless the service has its
        own.
        """
        return given

    async def start(self) -> None:
        """Called once before the first request: start consumers here."""

    async def stop(self) -> None:
        """Called once after the last request."""

    async def welcome(self, caller: Identity) -> None:
        """Called before the first operation of a caller that this process has not seen yet.

        If accounts come from an issuer, create a missing profile here: the token's claims are in
        `caller.claims`. It may be called several times for one caller.
        """

    async def admits(self, caller: Identity) -> bool:  # noqa: ARG002
        """Whether a valid token is still accepted here; called before each operation."""
        return True

    async def admit_write(self, caller: Identity, operation: str) -> None:
        """Raise an error if the caller may not write; called before each mutation."""

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
