"""Objects declared in an entity's class body, which attach themselves to the entity, and calls that
declare something.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from keyfold.design import codes
from keyfold.design.source import caller
from keyfold.errors import DeclarationError

if TYPE_CHECKING:
    from keyfold.design.entity import Entity

F = TypeVar("F", bound=Callable[..., Any])


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
                raise DeclarationError(
                    codes.CALL_REFUSED,
                    f"{what}: {problem}; it takes {', '.join(taken)}.",
                    place=str(caller()),
                    suggestion=example,
                ) from None
            return method(*args, **kwargs)

        return cast("F", call)

    return declare
