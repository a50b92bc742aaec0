"""What the parts of the service share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from keyfold import AsyncDb, Page
from keyfold.api import Missing, PageRequest
from keyfold_systems.sellers.layouts import Layout

T = TypeVar("T")
_PAGE = 200


class Part:
    """Operations on one kind of thing."""

    db: AsyncDb
    layout: Layout


async def every(read: Callable[[PageRequest], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    """All items of a list, page after page."""
    cursor: str | None = None
    while True:
        page = await read(PageRequest(limit=_PAGE, cursor=cursor))
        for item in page:
            yield item
        cursor = page.cursor
        if cursor is None:
            return


def there(found: T | None, what: str) -> T:
    if found is None:
        raise Missing(f"There is no such {what}.")
    return found


def given(changes: BaseModel) -> dict[str, Any]:
    """The fields that a caller sent with a value."""
    sent = {name: getattr(changes, name) for name in changes.model_fields_set}
    return {name: value for name, value in sent.items() if value is not None}
