"""Access patterns: typed functions, run once at import with placeholders and kept as plans."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from keyfold.design import codes, schema
from keyfold.design.nearest import Nearest, describe_search
from keyfold.design.parameter import Param
from keyfold.design.read import Page, Read
from keyfold.design.read_schema import check_readable, describe
from keyfold.design.source import caller
from keyfold.errors import DeclarationError, PlanError

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")


class SyncReader(Protocol):
    """A sync handle: `Db`."""

    def read_pattern(self, pattern: Pattern[Any, T], arguments: dict[str, Any]) -> T: ...


class AsyncReader(Protocol):
    """An async handle: `AsyncDb`."""

    async def read_pattern_async(
        self, pattern: Pattern[Any, T], arguments: dict[str, Any]
    ) -> T: ...


class Pattern(Generic[P, T]):
    """A declared access pattern: call it with a handle and its parameters."""

    def __init__(
        self,
        function: Callable[P, Read[T]],
        *,
        name: str = "",
        requests: int | None = None,
        silence: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        self.requests = requests
        self.place = caller()
        self.silences = tuple(schema.Silence(code, reason) for code, reason in silence)
        self.description = inspect.getdoc(function) or ""
        self.signature = inspect.signature(function)
        self._names, self._defaults = _plain_parameters(self.signature)
        self.read: Read[T] = self._record()
        self.__doc__ = self.description
        self.__wrapped__ = function
        self.cursor: str | None = None

    def _record(self) -> Read[T]:
        call: Callable[..., object] = self.function
        try:
            read = call(**{name: Param(name) for name in self.signature.parameters})
            check_readable(read)
        except DeclarationError as problem:
            raise DeclarationError(
                problem.code,
                problem.message,
                place=f"{self.place} pattern {self.name}",
                suggestion=problem.suggestion,
            ) from None
        except PlanError as problem:
            raise DeclarationError(
                codes.PATTERN_WITHOUT_KEY,
                f"{problem}.",
                place=f"{self.place} pattern {self.name}",
                suggestion="Give the fields of the key that it reads.",
            ) from None
        if not isinstance(read, Read):
            raise DeclarationError(
                codes.PATTERN_BRANCHES,
                f"the access pattern returned {type(read).__name__} instead of a read.",
                place=f"{self.place} pattern {self.name}",
                suggestion="Return get(...), a key's query(...), merge(...), collection(...) or "
                "nearest(...).",
            )
        return read

    def after(self, cursor: str | None) -> Pattern[P, T]:
        """The same pattern, continuing after a page."""
        continued: Pattern[P, T] = Pattern.__new__(Pattern)
        continued.__dict__.update(self.__dict__, cursor=cursor)
        return continued

    @overload
    def pages(
        self: Pattern[P, Page[Item]], db: SyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> Iterator[Page[Item]]: ...
    @overload
    def pages(
        self: Pattern[P, Page[Item]], db: AsyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[Page[Item]]: ...
    def pages(
        self: Pattern[P, Page[Item]],
        db: SyncReader | AsyncReader,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Iterator[Page[Item]] | AsyncIterator[Page[Item]]:
        """All pages, from the pattern's cursor to the end."""
        arguments = self.arguments(*args, **kwargs)
        if hasattr(db, "read_pattern"):
            return self._pages(cast("SyncReader", db), arguments)
        return self._pages_async(db, arguments)

    def _pages(
        self: Pattern[P, Page[Item]], db: SyncReader, arguments: dict[str, Any]
    ) -> Iterator[Page[Item]]:
        pattern = self
        while True:
            page = db.read_pattern(pattern, arguments)
            yield page
            if page.cursor is None:
                return
            pattern = self.after(page.cursor)

    async def _pages_async(
        self: Pattern[P, Page[Item]], db: AsyncReader, arguments: dict[str, Any]
    ) -> AsyncIterator[Page[Item]]:
        pattern = self
        while True:
            page = await db.read_pattern_async(pattern, arguments)
            yield page
            if page.cursor is None:
                return
            pattern = self.after(page.cursor)

    def arguments(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        given = dict(zip(self._names, args, strict=False))
        arguments = {**self._defaults, **given, **kwargs}
        if (
            len(args) == len(given)
            and given.keys().isdisjoint(kwargs)
            and arguments.keys() == self.signature.parameters.keys()
        ):
            return arguments
        # The slow path reports the error and handles rarer kinds of parameters.
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    @overload
    def __call__(self, db: SyncReader, /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def __call__(
        self, db: AsyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...
    def __call__(
        self, db: SyncReader | AsyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> T | Coroutine[Any, Any, T]:
        arguments = self.arguments(*args, **kwargs)
        if hasattr(db, "read_pattern"):
            return db.read_pattern(self, arguments)
        return db.read_pattern_async(self, arguments)

    def describe(self) -> schema.PatternSchema | schema.SearchSchema:
        if isinstance(self.read, Nearest):
            return describe_search(self, self.read)
        return describe(self)

    def __repr__(self) -> str:
        return f"Pattern({self.name!r})"


def _plain_parameters(signature: inspect.Signature) -> tuple[list[str], dict[str, Any]]:
    """The names of positional parameters, and all defaults."""
    parameters = signature.parameters.values()
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    return names, {one.name: one.default for one in parameters if one.default is not one.empty}
