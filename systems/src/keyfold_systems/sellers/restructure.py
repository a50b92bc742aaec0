"""The restructuring to watch: `python -m keyfold_systems.sellers.restructure [FILE]`.

The state before, the migrations while orders come in, and the state after. Other tools can look
at the file when it is done.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from keyfold import Design, Entity
from keyfold.migrations import Migration, Migrator, Phase, backend_of
from keyfold_engine.clients import Client, connect
from keyfold_systems.sellers import before, current, demo, migration
from keyfold_systems.sellers.design import design
from keyfold_systems.sellers.patterns import order_by_id

Say = Callable[[str], None]
MOVES = (migration.profiles, migration.seasons, migration.orders)


@asynccontextmanager
async def ordering(use: before.Use, promised: list[str]) -> AsyncGenerator[None, None]:
    """Orders come in meanwhile; one that fails ends everything."""
    done = asyncio.Event()

    async def order() -> None:
        while not done.is_set():
            made = await use()
            assert isinstance(made, Entity)
            promised.append(made.__dict__["order_id"])

    async with asyncio.TaskGroup() as group:
        group.create_task(order())
        try:
            yield
        finally:
            done.set()


async def run(file: Path, say: Say, profiles: int = 12) -> list[str]:
    """All of it; returns the ids of the orders that were taken meanwhile."""
    promised: list[str] = []
    client = connect(str(file))
    old = await current.design.open_async(str(file))
    records = demo.records(old.context.now(), profiles)
    await old.put_many([before.as_today(one) for one in records])
    _show(say, "Before", current.design, client)

    async def apply(to: Phase, *plans: Migration) -> None:
        for plan in plans:
            migrator = Migrator(
                plan,
                backend_of(client),
                # What stays in its table, both applications read and write alike.
                without_routers=plan is migration.accounts,
                quiet=1.0,
                say=lambda text: say(f"  {text}"),
            )
            await asyncio.to_thread(migrator.apply, to, wait=lambda: True)

    say("The application of today takes orders, while everything is copied and compared:")
    async with ordering(before.today(old, records), promised):
        await apply("contract", migration.accounts)
        await apply("verify", *MOVES)
    say(f"{len(promised)} orders. That of tomorrow takes its place:")
    new = await design.open_async(str(file), migration=MOVES)
    async with ordering(before.tomorrow(new, records), promised):
        await apply("hold", *MOVES)
        await apply("contract", *MOVES)
    _show(say, "After", design, client)
    lost = [one for one in promised if await order_by_id(new, one) is None]
    say(f"{len(promised)} orders were taken meanwhile. {len(lost)} are lost, none was refused.")
    await old.close()
    await new.close()
    client.close()
    return promised


def _show(say: Say, when: str, declared: Design, client: Client) -> None:
    tables = declared.schema.tables
    say(f"{when}: {len(tables)} tables, {sum(len(one.indexes) for one in tables)} indexes.")
    for table in tables:
        described = client.call("DescribeTable", {"TableName": table.name})["Table"]
        say(f"  {table.name:<26}{described['ItemCount']:>6} items")


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(run(Path(sys.argv[1]), print))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder) / "sellers.db", print))


if __name__ == "__main__":
    main()
