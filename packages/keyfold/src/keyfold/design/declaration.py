"""Declarations: objects in an entity's class body, calls that declare something, and refusals.

A refusal says what is wrong, where it stands, and what to do about it.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from keyfold.design import codes
from keyfold.design.source import caller
from keyfold.errors import DeclarationError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

F = TypeVar("F", bound=Callable[..., Any])


_place: ContextVar[str] = ContextVar("keyfold_declared_at", default="")


def current_place() -> str:
    """Where the declaration that is being read stands; else the line that calls keyfold."""
    return _place.get() or str(caller())


@contextmanager
def declared_at(place: object, name: str = "") -> Iterator[None]:
    """Refusals in this block name the place, and what is declared there."""
    token = _place.set(f"{place} {name}".strip())
    try:
        yield
    finally:
        _place.reset(token)


def part(name: str) -> AbstractContextManager[None]:
    """Refusals in this block name a part of what is declared."""
    return declared_at(f"{current_place()}.{name}")


def refuse(
    code: str, message: str, suggestion: str = "", *, fix: tuple[str, str] | None = None
) -> NoReturn:
    """Refuse the declaration; `fix` is a text of it and its replacement."""
    place = current_place()
    raise DeclarationError(code, message, place=place, suggestion=suggestion, fix=fix) from None


class Declared(ABC):
    """A class-level declaration: it knows its name, its place and, once attached, its entity."""

    def __init__(self) -> None:
        self.name = ""
        self.place = caller()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @abstractmethod
    def attach(self, entity: type[Entity]) -> None:
        """Called once, when the entity's fields are known."""


def declaring(what: str, example: str) -> Callable[[F], F]:
    """A method whose call declares something; it refuses unknown arguments with their place."""

    def declare(method: F) -> F:
        signature = inspect.signature(method)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as problem:
                taken = [name for name in signature.parameters if name != "self"]
                refuse(
                    codes.CALL_REFUSED, f"{what}: {problem}; it takes {', '.join(taken)}.", example
                )
            return method(*args, **kwargs)

        return cast("F", call)

    return declare
