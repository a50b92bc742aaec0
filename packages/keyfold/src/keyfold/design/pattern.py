"""Access patterns: typed functions, run once at import with placeholders and kept as plans."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from keyfold.design import codes, schema
from keyfold.design.declaration import declared_at, refuse
from keyfold.design.nearest import Nearest, describe_search
from keyfold.design.parameter import Param
from keyfold.design.pattern_signature import (
    accepted_arguments,
    own_types,
    signature_problems,
    written_types,
)
from keyfold.design.read import Page, Read
from keyfold.design.read_schema import check_readable, describe
from keyfold.design.source import caller
from keyfold.errors import PlanError

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
        hints = written_types(function)
        with declared_at(self.place, f"pattern {self.name}"):
            self.read: Read[T] = self._record()
            for message, suggestion in signature_problems(function, hints, self.read):
                refuse(codes.PATTERN_REFUSED, message, suggestion)
        self._accepted = accepted_arguments(function, hints, self.read)
        self._usual = [(name, one.exact) for name, one in self._accepted.items()]
        self.__doc__ = self.description
        self.__wrapped__ = function
        self.cursor: str | None = None

    def _record(self) -> Read[T]:
        requests: object = self.requests
        if requests is not None and (type(requests) is not int or requests < 1):
            refuse(
                codes.PATTERN_REFUSED,
                f"its budget is {requests!r} requests.",
                "Give a whole number of at least 1, as requests=1.",
            )
        for parameter in self.signature.parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                refuse(
                    codes.PATTERN_REFUSED,
                    f"its parameter {parameter.name!r} cannot be given by name.",
                    "Declare each parameter by name, and several values as ids: list[str].",
                )
        call: Callable[..., object] = self.function
        try:
            read = call(**{name: Param(name) for name in self.signature.parameters})
            check_readable(read)
        except PlanError as problem:
            refuse(
                codes.PATTERN_WITHOUT_KEY,
                f"{problem}.",
                "Give the fields of the key that it reads.",
            )
        if not isinstance(read, Read):
            refuse(
                codes.PATTERN_BRANCHES,
                f"the access pattern returned {type(read).__name__} instead of a read.",
                "Return get(...), a key's query(...), merge(...), collection(...) or nearest(...).",
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
        if hasattr(db, "read_pattern"):
            return self._pages(cast("SyncReader", db), self.arguments(*args, **kwargs))
        if hasattr(db, "read_pattern_async"):
            return self._pages_async(db, self.arguments(*args, **kwargs))
        raise self._no_handle(db, ".pages")

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
            for name, usual in self._usual:
                if type(arguments[name]) not in usual:
                    self._check(name, arguments[name])
            return arguments
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as problem:
            taken = ", ".join(["db", *self.signature.parameters])
            raise TypeError(f"{self.name}: {problem}; it takes ({taken})") from None

    def _check(self, name: str, value: object) -> None:
        """Refuse an argument that is neither of its parameter's type nor of its field's."""
        accepted = self._accepted[name]
        if accepted.takes(value):
            return
        own = () if value is None or accepted.several else own_types(self.read, name)
        if not isinstance(value, own):
            raise PlanError(f"{self.name}: {name} must be {accepted.shown}, not {value!r}")

    @overload
    def __call__(self, db: SyncReader, /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    def __call__(
        self, db: AsyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]: ...
    def __call__(
        self, db: SyncReader | AsyncReader, /, *args: P.args, **kwargs: P.kwargs
    ) -> T | Coroutine[Any, Any, T]:
        if hasattr(db, "read_pattern"):
            return db.read_pattern(self, self.arguments(*args, **kwargs))
        if hasattr(db, "read_pattern_async"):
            return db.read_pattern_async(self, self.arguments(*args, **kwargs))
        raise self._no_handle(db)

    def _no_handle(self, given: object, call: str = "") -> PlanError:
        shown = ", ".join(["db", *self.signature.parameters])
        return PlanError(
            f"{self.name}: the first argument is the open design, not {given!r}; with "
            f"db = design.open(...) call {self.name}{call}({shown})"
        )

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
