"""Pages that take longer than a request waits: work continues, and the next request gets it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from starlette.responses import Response

THREADS: Final = 40
KEPT_SECONDS: Final = 15.0
"""How long a page waits for the browser to ask again; older ones are built again."""

PageRequest = tuple[str, str]
"""A session and an address."""


class LatePages:
    """Pages by who asked for them, while they are made."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._threads = ThreadPoolExecutor(THREADS, "studio")
        self._kept: dict[PageRequest, tuple[float, Future[Response]]] = {}

    async def get(self, asked: PageRequest, make: Callable[[], Response]) -> Response | None:
        """The page, or None if it is not ready in time."""
        self._drop_old()
        _, work = self._kept.pop(asked, (0.0, None))
        work = work or self._threads.submit(make)
        await asyncio.wait({asyncio.wrap_future(work)}, timeout=self._patience)
        if work.done():
            return work.result()
        self._kept[asked] = time.monotonic(), work
        return None

    def _drop_old(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        self._kept = {asked: one for asked, one in self._kept.items() if one[0] > oldest}
