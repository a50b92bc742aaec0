"""The whole restructuring while the sellers work; the migrator is killed again and again.

`make migration-full` runs it on 100,000 records; the suite on fewer.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from keyfold.clients.embedded import AsyncEmbeddedClient
from keyfold.engine import Engine
from keyfold_systems.sellers import current, design
from keyfold_systems.sellers.layouts import migrating
from keyfold_systems.sellers.service import Sellers

from .town import Town, Worker, fill

FULL = bool(os.environ.get("SELLERS_FULL"))
RECORDS = 100_000 if FULL else 2_500
SELLERS = 8
KILLS = 4 if FULL else 1


class Migration:
    """Runs `keyfold migrations` in processes of its own."""

    def __init__(self, data: Path, name: str) -> None:
        self.data, self.plan = data, f"keyfold_systems.sellers.migration:{name}"

    async def start(self, action: str, *options: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "keyfold", "migrations", action, self.plan),
            *("--backend", str(self.data), *options),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, action: str, *options: str) -> str:
        process = await self.start(action, *options)
        out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        return out.decode()

    async def run_with_kills(self, kills: int, seed: int, *options: str) -> int:
        """Kill it in the middle of things, and start it again; it ends by itself at last."""
        chance = random.Random(seed)
        killed = 0
        for _ in range(kills):
            process = await self.start("apply", *options)
            try:
                await asyncio.wait_for(process.wait(), chance.uniform(0.9, 6.0 if FULL else 2.0))
            except TimeoutError:
                process.send_signal(signal.SIGKILL)
                await process.wait()
                killed += 1
            else:
                break
        await self.run("apply", *options)
        return killed


@asynccontextmanager
async def at_work(town: Town, workers: list[Worker]) -> AsyncIterator[None]:
    """The sellers work all the while; the first failure of any request ends everything."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(worker.work(0.002 if FULL else 0.005))
        try:
            yield
        finally:
            town.stopped = True
    town.stopped = False


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
    data = tmp_path / "sellers.db"
    client = AsyncEmbeddedClient(Engine.open(data, durability="relaxed"))
    before = await current.design.open_async(client)
    after = await design.design.open_async(client, create_tables=False)
    town = Town()
    await fill(before, town, RECORDS, SELLERS)
    service = Sellers(after, migrating(before, after))
    workers = [Worker(service, town, who, n) for n, who in enumerate(town.sellers)]

    async with at_work(town, workers):
        await Migration(data, "accounts").run("apply", "--to", "contract")

        killed = await Migration(data, "profiles").run_with_kills(KILLS, 1, "--to", "contract")

        seasons = Migration(data, "seasons")
        killed += await seasons.run_with_kills(KILLS, 2)
        await asyncio.sleep(0.5)
        await seasons.run("rollback")
        await asyncio.sleep(0.5)
        killed += await seasons.run_with_kills(KILLS, 3, "--to", "contract")

        killed += await Migration(data, "orders").run_with_kills(KILLS, 4, "--to", "contract")

    print(
        f"{RECORDS:,} records, {town.requests:,} requests meanwhile, {killed} kills; "
        f"the slowest request took {town.longest:.1f} s"
    )
    assert killed > 0
    assert town.reads > 100
    for worker in workers:
        await worker.look_at_everything()
    tables = set((await client.call("ListTables", {}))["TableNames"])
    assert tables == {*design.design.tables, "keyfold_migrations"}
    accounts = await items(client, "SellersAccounts")
    assert not [item for item in accounts if "isAdmin" in item]
    assert sum(1 for item in accounts if item["accountId"]["S"].startswith("UNIQUE#")) == SELLERS
    await check_nothing_is_left_over(client, town)
    await client.close()


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
