"""Page requests, and how a declared `Page[T]` is recognised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, get_args, get_origin

from keyfold.design import Page, Pattern
from keyfold.errors import PlanError

if TYPE_CHECKING:
    from keyfold import AsyncDb

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
CURSOR_CHARACTERS: Final = 4096


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items, and from where: the cursor of the previous page."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None

    async def read(
        self, db: AsyncDb, pattern: Pattern[P, T], /, *args: P.args, **given: P.kwargs
    ) -> T:
        """This page of an access pattern: `await page.read(self.db, club_posts, club_id)`."""
        if "limit" not in pattern.signature.parameters:
            raise PlanError(f"{pattern!r} has no parameter limit, so a page of it cannot be read")
        arguments = {**pattern.arguments(*args, **given), "limit": self.limit}
        return await db.read_pattern_async(pattern.after(self.cursor), arguments)


def page_item(annotation: Any) -> Any | None:
    """T if the annotation is `Page[T]`, otherwise None."""
    return get_args(annotation)[0] if get_origin(annotation) is Page else None
