"""Which systems of the demo have consumers that are catching up while pages already answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from keyfold.runtime import AsyncDb
from keyfold.streams import AsyncConsumer, status
from keyfold.streams.policy import TRANSIENT

_LOOK_SECONDS: Final = 0.5


class Behind:
    """The names of designs whose consumers have not caught up."""

    def __init__(self, databases: Sequence[AsyncDb]) -> None:
        followed = [db for db in databases if AsyncConsumer(db).tables]
        self._left = {db.context.design.name: db for db in followed}

    def __contains__(self, name: object) -> bool:
        return name in self._left

    @asynccontextmanager
    async def watch(self, on_none: Callable[[], None]) -> AsyncIterator[None]:
        """In the background, check which are behind; report when all have caught up."""
        looking = asyncio.create_task(self._look(on_none))
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

    async def _look(self, on_none: Callable[[], None]) -> None:
        while self._left:
            for name, db in list(self._left.items()):
                try:
                    now = await db.run(status(db.context))
                except TRANSIENT:
                    continue
                waits = any(one.behind for one in now.shards) or now.waiting_events
                if now.shards and not waits:
                    del self._left[name]
            if self._left:
                await asyncio.sleep(_LOOK_SECONDS)
        on_none()
