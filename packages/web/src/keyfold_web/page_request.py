"""Page requests, and how a declared `Page[T]` is recognised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, get_args, get_origin

from keyfold.design import Page

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
CURSOR_CHARACTERS: Final = 4096


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items, and from where: the cursor of the previous page."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


def page_item(annotation: Any) -> Any | None:
    """T if the annotation is `Page[T]`, otherwise None."""
    return get_args(annotation)[0] if get_origin(annotation) is Page else None
