"""Simulated users of a former system while it is migrated, through an application that follows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Final

from keyfold.errors import KeyfoldError
from keyfold.migrations import Migrator, backend_of
from keyfold.migrations.migration import reached
from keyfold.migrations.state import State
from keyfold_demo.systems import FormerSystem
from keyfold_engine.clients.embedded import AsyncEmbeddedClient, EmbeddedClient

log = logging.getLogger("keyfold_demo")
EVERY_SECONDS: Final = 0.5


@asynccontextmanager
async def customers(
    client: AsyncEmbeddedClient, formers: Iterable[FormerSystem]
) -> AsyncIterator[None]:
    """In the background, use each former system while one of its migrations runs."""
    using = [asyncio.create_task(_use(client, former)) for former in formers]
    try:
        yield
    finally:
        for one in using:
            one.cancel()
        await asyncio.gather(*using, return_exceptions=True)


async def _use(client: AsyncEmbeddedClient, former: FormerSystem) -> None:
    """Use the old application first, and the new one after the comparison."""
    backend = backend_of(EmbeddedClient(client.engine), prefix=former.prefix)
    migrators = [Migrator(one, backend) for one in former.migrations]
    before = await former.design.open_async(client, table_prefix=former.prefix, create_tables=False)
    after = await former.after.open_async(
        client, table_prefix=former.prefix, migration=former.migrations, create_tables=False
    )
    today, tomorrow = former.today(before), former.tomorrow(after)
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            states = await asyncio.to_thread(_states, migrators)
            if any(one.active for one in states):
                compared = all(reached(one.phase, "verify") for one in states)
                returning = any(one.returning for one in states)
                await (tomorrow if compared and not returning else today)()
        except KeyfoldError as problem:
            log.warning("a customer of %s was refused: %s", former.name, problem)


def _states(migrators: Iterable[Migrator]) -> list[State]:
    return [one.status().state for one in migrators]
