"""Operations: declared once on a service's method, read by every surface.

    class Inviter(Service):
        @query("/groups/{group_id}/feed", allow=member)
        async def group_feed(
            self, group_id: str, page: PageRequest, caller: Identity
        ) -> Page[HangoutPointer]:
            '''A group's feed, from pointers alone.'''

What a parameter is follows from its name and type:

- named in the path: a path parameter;
- `Identity`: the caller; `PageRequest`: limit and cursor;
- `request_id: str | None`: the Idempotency-Key header, `requestId` in GraphQL;
- `expected_version: int | None`: the If-Match header, `expectedVersion` in GraphQL;
- a Pydantic model (or a list of them): the JSON body, an input object in GraphQL;
- anything else: the query string of a query or a DELETE, a field of a mutation's JSON body.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, ParamSpec, TypeVar, get_args

from keyfold.errors import DeclarationError
from keyfold_web.options import sentence_to, with_checked_options
from keyfold_web.rules import Rule

P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[P, Coroutine[Any, Any, R]]
Kind = Literal["query", "mutation", "subscription"]
Verb = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

VERBS: Final[tuple[str, ...]] = get_args(Verb)
REQUIRED: Final = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the decorator declares; the method's signature declares the rest."""

    kind: Kind
    path: str
    allow: Rule
    verb: Verb
    name: str | None
    status: int | None
    remembered: bool = True

    def check(self, place: str) -> None:
        """Refuse a method or a status that no answer can have."""
        if self.verb not in VERBS:
            raise DeclarationError(
                "O20",
                f"method={self.verb!r} is not an HTTP method.",
                place=place,
                suggestion=sentence_to(str(self.verb).upper(), VERBS),
            )
        if self.status is not None and self.status not in range(200, 300):
            raise DeclarationError(
                "O20",
                f"status={self.status!r} is not a status of success.",
                place=place,
                suggestion="Choose 200 to 299.",
            )


@dataclass(frozen=True, slots=True)
class Relation:
    """A GraphQL field of `parent` that one call loads for many parents."""

    parent: type
    name: str | None


@with_checked_options
def query(
    path: str,
    *,
    allow: Rule,
    name: str | None = None,
) -> Callable[[Method[P, R]], Method[P, R]]:
    """Declare an operation that reads."""
    return _declared(Declaration("query", path, allow, "GET", name, None))


@with_checked_options
def mutation(
    path: str,
    *,
    allow: Rule,
    name: str | None = None,
    method: Verb = "POST",
    status: int | None = None,
    remembered: bool = True,
) -> Callable[[Method[P, R]], Method[P, R]]:
    """Declare an operation that writes; it answers 200, or 204 if it returns None.

    Use `remembered=False` for an answer that an idempotent service must not store, such as a token
    or an expiring link.
    """
    return _declared(Declaration("mutation", path, allow, method, name, status, remembered))


@with_checked_options
def related(
    parent: type, *, name: str | None = None
) -> Callable[
    [Callable[P, Coroutine[Any, Any, Sequence[R]]]], Callable[P, Coroutine[Any, Any, Sequence[R]]]
]:
    """Declare a GraphQL field of `parent`; the method gets all the parents of one answer at once.

        async def user(self, parents: list[Membership], caller: Identity) -> list[User | None]

    The results are in the parents' order. `caller` may be omitted.
    """

    def mark(
        function: Callable[P, Coroutine[Any, Any, Sequence[R]]],
    ) -> Callable[P, Coroutine[Any, Any, Sequence[R]]]:
        function.__related__ = Relation(parent, name)  # type: ignore[attr-defined]
        return function

    return mark


def _declared(declaration: Declaration) -> Callable[[Method[P, R]], Method[P, R]]:
    def mark(function: Method[P, R]) -> Method[P, R]:
        if not inspect.iscoroutinefunction(function):
            name = getattr(function, "__qualname__", repr(function))
            raise DeclarationError(
                "O1", "an operation must be an `async def` method.", place=str(name)
            )
        function.__operation__ = declaration  # type: ignore[attr-defined]
        return function

    return mark
