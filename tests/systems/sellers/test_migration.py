"""The whole restructuring while the sellers work; the migrator is killed again and again.

`make migration-full` runs it on 100,000 records; the suite on fewer.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from keyfold.clients.embedded import AsyncEmbeddedClient, EmbeddedClient
from keyfold.engine import Engine
from keyfold.maintain import verify
from keyfold.migrations import PHASES, Migrator, Phase, backend_of
from keyfold.streams import AsyncConsumer
from keyfold_systems.sellers import current, design, migration
from keyfold_systems.sellers.service import Sellers

from .today import Today
from .town import CATALOG, Town, Worker, fill

RECORDS = int(os.environ.get("SELLERS_RECORDS", "800"))
FULL = RECORDS >= 10_000
SELLERS = 8
OURS = {"KEYFOLD_FULL", "KEYFOLD_SYSTEMS_ADDRESS"}


class Runner:
    """Runs one of the migrations, here or in processes that are killed."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name

    def migrator(self) -> Migrator:
        plan = getattr(migration, self.name)
        return Migrator(plan, backend_of(EmbeddedClient(self.engine)), without_routers=True)

    async def apply(self, to: Phase = "hold") -> None:
        await asyncio.to_thread(self.migrator().apply, to)

    async def rollback(self) -> None:
        await asyncio.to_thread(self.migrator().rollback)

    async def apply_with_kills(self, phases: Sequence[str], to: Phase = "hold") -> int:
        """Start it and kill it in each of these phases; at last it is left alone."""
        killed = 0
        for phase in PHASES[2:8] if FULL else phases:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "keyfold", "migrations", "apply"),
                *(
                    f"keyfold_systems.sellers.migration:{self.name}",
                    "--to",
                    to,
                    "--without-routers",
                ),
                *("--backend", self.engine.path),
                stdout=asyncio.subprocess.PIPE,
                # Commands refuse variables that they do not know.
                env={name: value for name, value in os.environ.items() if name not in OURS},
            )
            assert process.stdout is not None
            async for line in process.stdout:
                if line.decode().strip().endswith(f": {phase}"):
                    await asyncio.sleep(random.uniform(0, 2.0 if FULL else 0.1))
                    killed += process.returncode is None
                    break
            if process.returncode is None:
                process.kill()
            await process.wait()
        await self.apply(to)
        return killed


@asynccontextmanager
async def at_work(town: Town, workers: list[Worker]) -> AsyncIterator[None]:
    """The sellers work all the while; the first failure of any request ends everything."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(worker.work(0.002 if FULL else 0.05))
        try:
            yield
        finally:
            town.stopped = True
    town.stopped = False


@asynccontextmanager
async def copying(runners: list[Runner]) -> AsyncIterator[None]:
    """What `apply` does while it waits for the application."""
    done = threading.Event()
    tasks = [
        asyncio.create_task(asyncio.to_thread(r.migrator().follow, done.is_set)) for r in runners
    ]
    try:
        yield
    finally:
        done.set()
        await asyncio.gather(*tasks)


async def items(client: AsyncEmbeddedClient, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": table}
    while True:
        answer = await client.call("Scan", request)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


async def test_every_record_survives_the_restructuring_and_no_request_fails(
    tmp_path: Path,
) -> None:
    engine = Engine.open(tmp_path / "sellers.db", durability="relaxed")
    client = AsyncEmbeddedClient(engine)
    before = await current.design.open_async(client)
    town = Town()
    await fill(before, town, RECORDS, SELLERS)
    workers = [Worker(Today(before), town, who, n) for n, who in enumerate(town.sellers)]
    moving = [Runner(engine, name) for name in ("profiles", "seasons", "orders")]

    async with at_work(town, workers):
        for staying in ("accounts", "catalogs"):
            await Runner(engine, staying).apply("contract")
        killed = await moving[0].apply_with_kills(["backfill"], "verify")
        killed += await moving[1].apply_with_kills(["verify"], "verify")
        await moving[1].rollback()
        await moving[1].apply("verify")
        killed += await moving[2].apply_with_kills(["follow"], "verify")

        # The application of tomorrow, process by process, beside that of today.
        following = await design.design.open_async(
            client, migration=[getattr(migration, moved.name) for moved in moving]
        )
        async with copying(moving):
            while any((moved.migrator().status().lag or 0) > 0.3 for moved in moving):
                await asyncio.sleep(0.1)
            for one, other in zip(workers[::2], workers[1::2], strict=True):
                tomorrow = Sellers(following)
                await asyncio.gather(one.serve(tomorrow), other.serve(tomorrow))
            for moved in moving:
                await moved.apply("hold")
        for moved in moving:
            killed += await moved.apply_with_kills(["contract"], "contract")

    print(
        f"{RECORDS:,} records, {town.requests:,} requests meanwhile, {killed} kills; "
        f"the slowest request took {town.longest:.1f} s"
    )
    assert killed > 0
    assert town.reads > 100
    await AsyncConsumer(following).drain()
    for worker in workers:
        await worker.look_at_everything()
    tables = set((await client.call("ListTables", {}))["TableNames"])
    assert tables == {*design.design.tables, "keyfold_migrations", "keyfold_streams"}
    accounts = await items(client, "SellersAccounts")
    assert not [item for item in accounts if "isAdmin" in item]
    assert sum(1 for item in accounts if item["accountId"]["S"].startswith("UNIQUE#")) == SELLERS
    await check_nothing_is_left_over(client, town)
    index = {"TableName": "SellersCatalogs", "IndexName": "isPublic-createdAt-index"}
    public = (await client.call("Scan", index))["Items"]
    assert [one["catalogId"]["S"] for one in public] == [f"CATALOG#{CATALOG}"]
    after = design.design.open(EmbeddedClient(engine), create_tables=False)
    assert verify(after).drifts == []
    await client.close()


async def test_private_catalogs_leave_the_public_index_and_a_rollback_brings_them_back() -> None:
    with Engine.open(":memory:") as engine:
        client = AsyncEmbeddedClient(engine)
        before = await current.design.open_async(client)
        await fill(before, Town(), 0, 1)
        index = {"TableName": "SellersCatalogs", "IndexName": "isPublic-createdAt-index"}
        was = await items(client, "SellersCatalogs")
        runner = Runner(engine, "catalogs")
        await runner.apply("hold")
        (public,) = (await client.call("Scan", index))["Items"]
        assert public["catalogId"] == {"S": f"CATALOG#{CATALOG}"}
        await runner.rollback()
        assert await items(client, "SellersCatalogs") == was
        assert (await client.call("Scan", index))["Count"] == 2


async def check_nothing_is_left_over(client: AsyncEmbeddedClient, town: Town) -> None:
    """Every item of the new tables belongs to something that the town remembers."""
    profiles = {p for mine in town.sellers.values() for p in mine}
    seasons = {s for mine in town.sellers.values() for p in mine.values() for s in p.seasons}
    orders = {
        order
        for mine in town.sellers.values()
        for profile in mine.values()
        for season in profile.seasons.values()
        for order in season.orders
    }
    kept = await items(client, "SellersProfilesByOwner")
    assert len(kept) == 2 * len(profiles)
    assert {item["profileId"]["S"] for item in kept} == profiles
    assert {i["profileId"]["S"] for i in await items(client, "SellersShares")} <= profiles
    assert {i["profileId"]["S"] for i in await items(client, "SellersInvites")} <= profiles
    kept = await items(client, "SellersSeasonsByProfile")
    assert len(kept) == 3 * len(seasons)
    assert {item["seasonId"]["S"] for item in kept} == seasons
    kept = await items(client, "SellersOrdersBySeason")
    assert len(kept) == 2 * len(orders)
    assert {item["orderId"]["S"] for item in kept} == orders
