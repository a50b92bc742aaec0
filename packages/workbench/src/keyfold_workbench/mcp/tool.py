"""How a method becomes a tool: its guarantees, and the length limit of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from keyfold.errors import KeyfoldError

MOST_CHARACTERS = 20_000
"""The length limit of one answer; the rest is requested by offset."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Promise:
    """What a client can rely on before it calls a tool."""

    writes: bool = False
    destructive: bool = False
    idempotent: bool = True


def tool(
    *, writes: bool = False, destructive: bool = False, idempotent: bool = True
) -> Callable[[F], F]:
    """Mark a method as a tool; its name, docstring and types are what clients see."""

    def mark(function: F) -> F:
        function.__tool__ = Promise(writes, destructive, idempotent)  # type: ignore[attr-defined]
        return function

    return mark


def tools_of(group: object) -> Iterator[tuple[Callable[..., Any], Promise]]:
    """The tools of a group, in source order."""
    for name, function in vars(type(group)).items():
        if (promise := getattr(function, "__tool__", None)) is not None:
            yield getattr(group, name), promise


class Excerpt(BaseModel):
    """A part of a text."""

    text: str
    next_offset: int | None = Field(None, description="Where the rest begins; null at the end.")


def excerpt(text: str, offset: int) -> Excerpt:
    """The part of a text that fits into one answer, ending at a line end."""
    if not 0 <= offset <= len(text):
        raise KeyfoldError(f"offset must be from 0 to {len(text)}, not {offset}")
    part = text[offset : offset + MOST_CHARACTERS]
    if offset + len(part) >= len(text):
        return Excerpt(text=part, next_offset=None)
    cut = part.rfind("\n") + 1 or len(part)
    return Excerpt(text=part[:cut], next_offset=offset + cut)
