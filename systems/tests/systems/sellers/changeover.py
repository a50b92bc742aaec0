"""Sellers' restructuring while the sellers work, on any backend; migrators can be killed."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import threading
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from keyfold.maintain import verify
from keyfold.migrations import PHASES, Migrator, Phase, backend_of
from keyfold.streams import AsyncConsumer
from keyfold_engine.clients import AsyncClient, Client
from keyfold_systems.sellers import current, design, migration
from keyfold_systems.sellers.service import Sellers

from .today import Today
from .town import CATALOG, Town, Worker, fill

CATALOGS = "SellersCatalogs"
OURS = {"KEYFOLD_FULL", "KEYFOLD_SYSTEMS_ADDRESS"}


@dataclass(frozen=True)
class Place:
    """A backend, and how migrations run there."""

    client: Client
    calls: AsyncClient
    address: str
    """What a process finds it by."""
    apart: bool = False
    """Every migrator is a process of its own, as in production, and is killed in every phase."""
    kills: bool = True
    settle: float = 0.0


class Runner:
    """Runs one of the migrations, here or in processes that are killed."""

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name = place, name

    def migrator(self) -> Migrator:
        plan = getattr(migration, self.name)
        settle, backend = self.place.settle, backend_of(self.place.client)
        return Migrator(plan, backend, without_routers=True, settle=settle)

    async def apply(self, to: Phase = "hold") -> None:
        if self.place.apart:
            await self.finish("apply", "--to", to, "--without-routers")
        else:
            await asyncio.to_thread(self.migrator().apply, to)

    async def rollback(self) -> None:
        if self.place.apart:
            await self.finish("rollback")
        else:
            await asyncio.to_thread(self.migrator().rollback)

    async def finish(self, action: str, *flags: str) -> None:
        process = await self.start(action, *flags)
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()

    async def start(self, action: str, *flags: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "keyfold", "migrations", action),
            f"keyfold_systems.sellers.migration:{self.name}",
            *("--backend", self.place.address, *flags),
            stdout=asyncio.subprocess.PIPE,
            # Commands refuse variables that they do not know.
            env={name: value for name, value in os.environ.items() if name not in OURS},
        )

    async def apply_with_kills(self, phases: Sequence[str], to: Phase = "hold") -> int:
        """Start it and kill it in each of these phases; at last it is left alone."""
        killed = 0
        for phase in PHASES[2:7] if self.place.apart else phases if self.place.kills else ():
            process = await self.start("apply", "--to", to, "--without-routers")
            assert process.stdout is not None
            async for line in process.stdout:
                if line.decode().strip().endswith(f": {phase}"):
                    await asyncio.sleep(random.uniform(0, 2.0 if self.place.apart else 0.1))
                    killed += process.returncode is None
                    break
            if process.returncode is None:
                process.kill()
            await process.wait()
        await self.apply(to)
        return killed


@asynccontextmanager
async def at_work(town: Town, workers: list[Worker], pause: float) -> AsyncIterator[None]:
    """The sellers work all the while; the first failure of any request ends everything."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(worker.work(pause))
        try:
            yield
        finally:
            town.stopped = True
    town.stopped = False


@asynccontextmanager
async def copying(runners: list[Runner]) -> AsyncIterator[None]:
    """What `apply` does while it waits for the application."""
    if runners[0].place.apart:
        processes = [await r.start("apply", "--to", "verify", "--follow") for r in runners]
        try:
            yield
        finally:
            for process in processes:
                process.kill()
                await process.wait()
        return
    done = threading.Event()
    tasks = [
        asyncio.create_task(asyncio.to_thread(r.migrator().follow, done.is_set)) for r in runners
    ]
    try:
        yield
    finally:
        done.set()
        await asyncio.gather(*tasks)


async def items(client: AsyncClient, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": table}
    while True:
        answer = await client.call("Scan", request)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


async def restructure(place: Place, records: int, *, sellers: int = 8, pause: float = 0.05) -> Town:
    """Change all five tables under traffic, and find every record afterwards."""
    client = place.calls
    before = await current.design.open_async(client, create_tables=True)
    town = Town()
    await fill(before, town, records, sellers)
    workers = [Worker(Today(before), town, who, n) for n, who in enumerate(town.sellers)]
    moving = [Runner(place, name) for name in ("profiles", "seasons", "orders")]

    async with at_work(town, workers, pause):
        await Runner(place, "accounts").apply("contract")
        town.killed += await moving[0].apply_with_kills(["backfill"], "verify")
        town.killed += await moving[1].apply_with_kills(["verify"], "verify")
        await moving[1].rollback()
        await moving[1].apply("verify")
        town.killed += await moving[2].apply_with_kills(["follow"], "verify")

        # The application of tomorrow, process by process, beside that of today.
        following = await design.design.open_async(
            client,
            migration=[getattr(migration, moved.name) for moved in moving],
            create_tables=False,
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
            town.killed += await moved.apply_with_kills(["contract"], "contract")

    await AsyncConsumer(following).drain()
    for worker in workers:
        await worker.look_at_everything()
    await _check_tables(client, town)
    after = design.design.open(place.client, create_tables=False)
    assert verify(after).drifts == []
    return town


async def _check_tables(client: AsyncClient, town: Town) -> None:
    tables = set((await client.call("ListTables", {}))["TableNames"])
    assert tables == {*design.design.tables, "keyfold_migrations", "keyfold_streams"}
    accounts = await items(client, "SellersAccounts")
    assert not [item for item in accounts if "isAdmin" in item]
    assert sum(1 for item in accounts if item["accountId"]["S"].startswith("UNIQUE#")) == len(
        town.sellers
    )
    await _check_nothing_is_left_over(client, town)
    catalogs = {one["catalogId"]["S"]: one for one in await items(client, CATALOGS)}
    seasons = sum(len(p.seasons) for mine in town.sellers.values() for p in mine.values())
    assert catalogs[f"CATALOG#{CATALOG}"]["seasons"] == {"N": str(seasons)}


async def _check_nothing_is_left_over(client: AsyncClient, town: Town) -> None:
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
    for table, attribute, known in (
        ("SellersProfilesByOwner", "profileId", profiles),
        ("SellersSeasonsByProfile", "seasonId", seasons),
        ("SellersOrdersBySeason", "orderId", orders),
    ):
        kept = [item[attribute]["S"].partition("#")[2] for item in await items(client, table)]
        assert sorted(kept) == sorted(known)
    for table in ("SellersShares", "SellersInvites"):
        found = {item["profileId"]["S"] for item in await items(client, table)}
        assert found <= {f"PROFILE#{one}" for one in profiles}
