"""The options of the decorators that declare operations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import ParamSpec, TypeVar

from keyfold.errors import DeclarationError
from keyfold_engine.suggestion import nearest

Options = ParamSpec("Options")
Decorator = TypeVar("Decorator")


def sentence_to(name: str, known: Iterable[str]) -> str:
    """A sentence that leads from a wrong name to the right one."""
    words = nearest(name, known)
    return f"{words[0].upper()}{words[1:]}"


def with_checked_options(decorator: Callable[Options, Decorator]) -> Callable[Options, Decorator]:
    """Refuse wrong options of a decorator as a declaration that cannot work."""
    signature = inspect.signature(decorator)
    options = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    names = [one.name for one in options]

    @wraps(decorator)
    def checked(*given: Options.args, **named: Options.kwargs) -> Decorator:
        try:
            signature.bind(*given, **named)
        except TypeError as wrong:
            path = ", ".join(map(repr, given[:1]))
            place = getattr(given[0], "__qualname__", "") if given else ""
            place = place or f"@{decorator.__name__}({path})"
            if unknown := [name for name in named if name not in signature.parameters]:
                message = f"there is no option {unknown[0]}=."
                suggestion = sentence_to(unknown[0], names)
                raise DeclarationError("O20", message, place=place, suggestion=suggestion) from None
            if "allow" in names and "allow" not in named:
                raise DeclarationError(
                    "O19",
                    "it does not say who may call it.",
                    place=place,
                    suggestion="Add allow=anyone, authenticated, admin, or your own @rule.",
                ) from None
            raise DeclarationError(
                "O20",
                f"{wrong}.",
                place=place,
                suggestion=f"Write it as @{decorator.__name__}{_arguments_of(signature)}.",
            ) from None
        return decorator(*given, **named)

    return checked


def _arguments_of(signature: inspect.Signature) -> str:
    """The arguments of a decorator, without their types."""
    bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return str(inspect.Signature(bare))
