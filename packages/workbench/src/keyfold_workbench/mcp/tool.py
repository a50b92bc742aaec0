"""How a method becomes a tool: its guarantees, the length of its answers, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
import pydantic_core
from pydantic import BaseModel, Field

from keyfold.errors import KeyfoldError

ANSWER_BYTES: Final = 4_096
"""The length limit of one answer; the rest is requested by offset."""
TEXT_BYTES: Final = 3_600
"""What of it a text may take, as JSON, beside the words around it."""

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Promise:
    """What a client can rely on before it calls a tool."""

    writes: bool = False
    destructive: bool = False
    idempotent: bool = True
    then: str = ""
    """What to do next, where the answer itself does not know it better."""


def tool(
    *,
    then: str,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = True,
) -> Callable[[F], F]:
    """Mark a method as a tool; its name, docstring and types are what clients see."""

    def mark(function: F) -> F:
        promise = Promise(writes, destructive, idempotent, then)
        function.__tool__ = promise  # type: ignore[attr-defined]
        return function

    return mark


def tools_of(group: object) -> Iterator[tuple[Callable[..., Any], Promise]]:
    """The tools of a group, in source order."""
    for name, function in vars(type(group)).items():
        if (promise := getattr(function, "__tool__", None)) is not None:
            yield getattr(group, name), promise


class ToolAnswer(BaseModel):
    """What a tool returns."""

    next: str = Field(default="", description="What to do next.")


class Excerpt(ToolAnswer):
    """A part of a text."""

    text: str
    next_offset: int | None = Field(None, description="Where the rest begins; null at the end.")


def excerpt(text: str, offset: int, most: int = TEXT_BYTES) -> Excerpt:
    """The part of a text that fits into one answer, ending at a line end."""
    if not 0 <= offset <= len(text):
        raise KeyfoldError(f"offset must be from 0 to {len(text)}, not {offset}")
    part = text[offset : offset + most]
    while len(orjson.dumps(part)) > most:
        part = part[: len(part) * 9 // 10]
    if offset + len(part) >= len(text):
        return Excerpt(text=part, next_offset=None)
    cut = part.rfind("\n") + 1 or len(part)
    return Excerpt(
        text=part[:cut],
        next_offset=offset + cut,
        next=f"This is a part: ask again with offset={offset + cut} for the rest.",
    )


def fitting(
    items: Sequence[T], offset: int = 0, most: int = TEXT_BYTES
) -> tuple[list[T], int | None]:
    """The items from an offset that fit into one answer, at least one; where the rest begins."""
    if offset < 0:
        raise KeyfoldError(f"offset must be at least 0, not {offset}")
    held: list[T] = []
    size = 0
    for item in items[offset:]:
        size += json_size(item)
        if held and size > most:
            return held, offset + len(held)
        held.append(item)
    return held, None


def as_json(value: Any) -> Any:
    """A value as an answer has it: binary is base64."""
    return pydantic_core.to_jsonable_python(value, bytes_mode="base64", fallback=str)


def json_size(item: object) -> int:
    """The bytes of a value in an answer."""
    return len(pydantic_core.to_json(item, bytes_mode="base64", fallback=str)) + 2
