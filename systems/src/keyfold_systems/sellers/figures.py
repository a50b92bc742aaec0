"""The document's claims, measured on both designs: `python -m keyfold_systems.sellers.figures`.

Everything but the times comes out the same on every run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, cast

from keyfold import Design
from keyfold_engine.clients import AsyncClient, connect_async
from keyfold_systems.sellers import current, design
from keyfold_systems.sellers.sample import NAMED, ORDERS, READS, SEASONS, World

_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}
_TIMED = ("listMyProfiles", "listSeasonsByProfile", "listOrdersBySeason")
_REPEATS = 200
BEFORE, AFTER = current.design, design.design


@dataclass
class Cost:
    """What one operation took."""

    requests: int = 0
    reads: float = 0.0
    writes: float = 0.0
    uses_index: bool = False
    """A global one, which lags behind; a local one is as consistent as its table."""
    consistent: bool = True


@dataclass
class Metered:
    """A client that adds up what its requests consume."""

    inner: AsyncClient
    indexes: frozenset[str]
    cost: Cost = field(default_factory=Cost)

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "DescribeTable" or operation == "CreateTable":
            return await self.inner.call(operation, request)
        answer = await self.inner.call(operation, {**request, "ReturnConsumedCapacity": "TOTAL"})
        used: Any = answer.get("ConsumedCapacity", [])
        each = cast("list[dict[str, float]]", used if isinstance(used, list) else [used])
        units = sum(one["CapacityUnits"] for one in each)
        self.cost.requests += 1
        if operation in _WRITES:
            self.cost.writes += units
        else:
            self.cost.reads += units
            self.cost.uses_index |= request.get("IndexName") in self.indexes
            # Batches of the runtime are consistent; a query or get says so itself.
            self.cost.consistent &= operation == "BatchGetItem" or bool(
                request.get("ConsistentRead")
            )
        return answer

    async def close(self) -> None:
        await self.inner.close()


async def measured(declared: Design) -> tuple[dict[str, Cost], dict[str, float]]:
    """Costs of every operation, and the times of the three lists in milliseconds."""
    client = Metered(connect_async(":memory:"), frozenset(indexes(declared)))
    world = World(await declared.open_async(client), before=declared is BEFORE)
    await world.fill()
    costs: dict[str, Cost] = {}
    times: dict[str, float] = {}
    for name, call in {**world.reads(), **world.writes()}.items():
        client.cost = Cost()
        await call()
        costs[name], client.cost = client.cost, Cost()
        if name in _TIMED:
            times[name] = await _timed(call)
    await client.close()
    return costs, times


async def _timed(call: Callable[[], Awaitable[Any]]) -> float:
    found: list[float] = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        await call()
        found.append((time.perf_counter() - started) * 1000)
    return median(found)


def indexes(declared: Design, *, local: bool = False) -> list[str]:
    """The names of all its indexes of one kind."""
    tables = declared.schema.tables
    return [index.name for one in tables for index in one.indexes if index.local is local]


def table(before: dict[str, Cost], after: dict[str, Cost]) -> str:
    """Requests and units of each operation on both designs, in Markdown."""
    lines = [
        "| operation | requests | read units | write units | global index | consistent |",
        "|---|---|---|---|---|---|",
    ]
    for name, old in before.items():
        new = after[name]
        cells = [
            f"{old.requests} → {new.requests}",
            f"{old.reads:g} → {new.reads:g}",
            f"{old.writes:g} → {new.writes:g}",
            f"{_yes(old.uses_index)} → {_yes(new.uses_index)}",
            f"{_yes(old.consistent)} → {_yes(new.consistent)}",
        ]
        operation, comma, more = name.partition(", ")
        lines.append(f"| `{operation}`{comma}{more} | {' | '.join(cells)} |")
    return "\n".join(lines)


@dataclass(frozen=True)
class Sums:
    """What the reads and the writes of one design come to."""

    costs: dict[str, Cost]

    @property
    def _reads(self) -> list[Cost]:
        return [cost for name, cost in self.costs.items() if name in READS and "," not in name]

    @property
    def count(self) -> int:
        return len(self._reads)

    @property
    def on_index(self) -> int:
        return sum(cost.uses_index for cost in self._reads)

    @property
    def consistent(self) -> int:
        return sum(cost.consistent for cost in self._reads)

    @property
    def reads(self) -> float:
        return sum(cost.reads for cost in self._reads)

    @property
    def writes(self) -> float:
        return sum(cost.writes for cost in self.costs.values())


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


_PAGE = """# Sellers, measured

After this page you know which claims of a restructuring plan hold.

The document of `keyfold_systems.sellers` makes claims about its restructuring. They are measured here on both designs, on the
embedded engine, with the same records: one profile with {seasons} seasons and {orders} orders.
`python -m keyfold_systems.sellers.figures` generates this page; a test compares it with the measurements, except for the times.

| claim | true? | measured |
|---|---|---|
| 10 indexes before, 6 after, 40 % fewer | no | {indexes_before} before. The document's own tables have 10 after as well: 1 + 1 + 1 + 1 + 2 + 2 + 2. The corrected design has {indexes_after} global ones, and {local_after} local ones, which do not lag |
| Profiles lose 2 indexes, seasons 1, orders 1 | no | profiles lose 2 and shares and invites get 1 each; seasons and orders replace one by another. None is saved |
| 7 tables after 5 | yes | {tables_before} before, {tables_after} after |
| about 80 % of queries on indexes before, 30 % after | no | {before.on_index} of {before.count} reads before, {after.on_index} of {before.count} after. As the document is written, 10 of 18 patterns use an index afterwards |
| sparse indexes by id | no | every item has its id, so they would contain every item, and `getProfile`, `getSeason` and `getOrder` would no longer be consistent |
| the main queries become strongly consistent | yes | {before.consistent} of {before.count} reads before, {after.consistent} of {before.count} after. As the document is written, four lose it: `getProfile`, `getSeason`, `getOrder`, `listInvitesByProfile` |
| direct GetItem when parent and id are known | yes | `getOrder`, its season known: as many requests as before |
| 15–25 % lower query costs | no | read units of all {before.count} reads together go from {before.reads:g} to {after.reads:g}, because a consistent read costs twice an eventually consistent one. `listSharedProfiles` becomes much cheaper |
| lower write costs | no | write units of all operations together go from {before.writes:g} to {after.writes:g}: copies are written with each record, in a transaction. Sales of a season are counted by the consumer, which is not included |
| `listMyProfiles`, `listSeasonsByProfile`, `listOrdersBySeason` in less than 100 ms | yes | {times}, on one machine, without a network |
| no index delay in the main operations | yes | they read from tables and local indexes. Reads that still use a global index are marked below |
| expired invites are deleted automatically | late | DynamoDB deletes them within days; until then reads omit them |

Units and requests of one call of each operation, before → after. The {before.count} reads come first, each with its authorisation check;
writes are shown without it.

{table}

The service's lists also show names beside ids, which the document does not ask for. They cost one BatchGetItem per page more, with one
unit per name: in {named}, and in `listInvitesByProfile` if invites were used.
"""  # noqa: E501


async def page() -> str:
    """All figures, as the guide has them."""
    before, times_before = await measured(BEFORE)
    after, times_after = await measured(AFTER)
    times = [f"{times_before[name]:.1f} ms → {times_after[name]:.1f} ms" for name in _TIMED]
    return _PAGE.format(
        seasons=SEASONS,
        orders=ORDERS,
        indexes_before=len(indexes(BEFORE)),
        indexes_after=len(indexes(AFTER)),
        local_after=len(indexes(AFTER, local=True)),
        tables_before=len(BEFORE.schema.tables),
        tables_after=len(AFTER.schema.tables),
        before=Sums(before),
        after=Sums(after),
        times=", ".join(times),
        table=table(before, after),
        named=", ".join(f"`{name}`" for name in NAMED),
    )


if __name__ == "__main__":
    print(asyncio.run(page()), end="")
