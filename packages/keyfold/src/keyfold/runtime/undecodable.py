"""Reading many items: one that cannot be decoded does not fail the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, TypeVar

from keyfold.errors import Undecodable
from keyfold.runtime.budget import current_work

T = TypeVar("T")
OnUndecodable: TypeAlias = Literal["raise", "skip", "log"] | Callable[[Undecodable], object]
"""How to handle undecodable items: raise, leave them out, log them too, or call a function."""

_log = logging.getLogger("keyfold.undecodable")


def decode_all(
    on_undecodable: OnUndecodable, decode: Callable[[Any], T], items: Iterable[Any]
) -> tuple[list[T], list[Undecodable]]:
    """The decoded items, and the problems of the others if they should be raised."""
    good: list[T] = []
    wrong: list[Undecodable] = []
    for item in items:
        try:
            good.append(decode(item))
        except Undecodable as problem:
            work = current_work.get()
            if work is not None:
                work.undecodable += 1
            if on_undecodable == "raise":
                wrong.append(problem)
            elif on_undecodable == "log":
                _log_key(problem)
            elif callable(on_undecodable):
                on_undecodable(problem)
    return good, wrong


def _log_key(problem: Undecodable) -> None:
    """Log the key of an item that is left out, without its values."""
    names = ", ".join(name for name in problem.fields if name) or "the item as a whole"
    _log.error("%s %s cannot be read: %s", problem.entity, problem.key, names)


def complain(wrong: list[Undecodable], good: list[Any], cursor: str | None = None) -> None:
    """Raise the first problem, with all items that were decoded."""
    if wrong:
        wrong[0].items, wrong[0].cursor, wrong[0].others = good, cursor, wrong[1:]
        raise wrong[0]
