"""Runs the consumers of served designs in the server's own process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from keyfold.errors import RebuildNeeded
from keyfold.runtime import AsyncDb
from keyfold.streams import AsyncConsumer, Sink

AGAIN_SECONDS: Final = 5.0
log = logging.getLogger("keyfold_web")


@asynccontextmanager
async def following(
    databases: Sequence[AsyncDb], sinks: Sequence[Sink] = ()
) -> AsyncIterator[None]:
    """Follow the streams of designs while they are served.

    A failing consumer is restarted; the others and the services continue.
    """
    consumers = [AsyncConsumer(db, sinks=sinks) for db in databases]
    stopped = asyncio.Event()
    tasks = [asyncio.create_task(_follow(one, stopped)) for one in consumers if one.tables]
    try:
        yield
    finally:
        stopped.set()
        for one in consumers:
            one.stop()
        await asyncio.gather(*tasks)


async def _follow(consumer: AsyncConsumer, stopped: asyncio.Event) -> None:
    while not stopped.is_set():
        try:
            await consumer.run()
        except RebuildNeeded as lost:
            log.error("%s is no longer consumed: %s", consumer.db.context.design.name, lost)
            return
        except Exception:
            log.exception("following %s failed; trying again", consumer.db.context.design.name)
            try:
                async with asyncio.timeout(AGAIN_SECONDS):
                    await stopped.wait()
            except TimeoutError:
                pass
