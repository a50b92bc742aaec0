"""The document's claims, measured on both designs: `python -m keyfold_systems.sellers.figures`.

Everything but the times comes out the same on every run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from statistics import median
from typing import Any

from keyfold.api import Identity, PageRequest
from keyfold.clients import AsyncClient, connect_async
from keyfold_systems.sellers import current, design
from keyfold_systems.sellers.layout_current import current_layout
from keyfold_systems.sellers.layout_proposed import proposed_layout
from keyfold_systems.sellers.payloads import (
    NewCatalog,
    NewInvite,
    NewOrder,
    NewSeason,
    NewShare,
    OrderChanges,
    SeasonChanges,
)
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import LineItem, Product

OWNER, HELPER = Identity.of("owner"), Identity.of("helper")
PROFILES, SEASONS, ORDERS = 10, 4, 40
_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}
_TIMED = ("listMyProfiles", "listSeasonsByProfile", "listOrdersBySeason")
_REPEATS = 200


@dataclass
class Cost:
    """What one operation took."""

    requests: int = 0
    reads: float = 0.0
    writes: float = 0.0
    uses_index: bool = False
    consistent: bool = True


@dataclass
class Metered:
    """A client that adds up what its requests consume."""

    inner: AsyncClient
    cost: Cost = field(default_factory=Cost)

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "DescribeTable" or operation == "CreateTable":
            return await self.inner.call(operation, request)
        answer = await self.inner.call(operation, {**request, "ReturnConsumedCapacity": "TOTAL"})
        used = answer.get("ConsumedCapacity", [])
        units = sum(u["CapacityUnits"] for u in (used if isinstance(used, list) else [used]))
        self.cost.requests += 1
        if operation in _WRITES:
            self.cost.writes += units
        else:
            self.cost.reads += units
            self.cost.uses_index |= "IndexName" in request
            # Batches of the runtime are consistent; a query or get says so itself.
            self.cost.consistent &= operation == "BatchGetItem" or bool(
                request.get("ConsistentRead")
            )
        return answer

    async def close(self) -> None:
        await self.inner.close()


async def measured(which: str) -> tuple[dict[str, Cost], dict[str, float]]:
    """Costs of every operation, and the times of the three lists in milliseconds."""
    client = Metered(connect_async(":memory:"))
    db = await design.design.open_async(client)
    layout = proposed_layout(db)
    if which == "current":
        layout = current_layout(await current.design.open_async(client))
    service = Sellers(db, layout)
    calls = await _calls(service)
    costs: dict[str, Cost] = {}
    times: dict[str, float] = {}
    for name, call in calls.items():
        client.cost = Cost()
        await call()
        costs[name], client.cost = client.cost, Cost()
        if name in _TIMED:
            times[name] = await _timed(call)
    await client.close()
    return costs, times


async def _timed(call: Callable[[], Awaitable[Any]]) -> float:
    found = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        await call()
        found.append((time.perf_counter() - started) * 1000)
    return median(found)


async def _calls(service: Sellers) -> dict[str, Callable[[], Awaitable[Any]]]:
    """A small world, and one call of each operation in it."""
    page = PageRequest()
    catalog = await service.create_catalog(
        NewCatalog(
            catalog_name="Cookies",
            is_public=True,
            products=[Product(product_id="p", product_name="Pie", price=Decimal(3))],
        ),
        OWNER,
    )
    line = LineItem(product_id="p", product_name="Pie", quantity=2, price_per_unit=Decimal(3))
    profiles = [
        (await service.create_seller_profile(f"Stand {n}", OWNER)).profile_id
        for n in range(PROFILES)
    ]

    def new_season(profile: str) -> Awaitable[Any]:
        season = NewSeason(
            profile_id=profile,
            season_name="Spring",
            catalog_id=catalog.catalog_id,
            start_date=date(2026, 3, 1),
        )
        return service.create_season(season, OWNER)

    def new_order(season: str) -> Awaitable[Any]:
        order = NewOrder(
            season_id=season,
            customer_name="Ms. Doe",
            line_items=[line],
            payment_method="CASH",
            order_date=date(2026, 3, 2),
        )
        return service.create_order(order, OWNER)

    seasons = [(await new_season(profiles[0])).season_id for _ in range(SEASONS)]
    orders = [(await new_order(seasons[0])).order_id for _ in range(ORDERS)]

    async def share(profile: str) -> None:
        new = NewShare(profile_id=profile, target_account_id="helper", permissions=("READ",))
        await service.share_profile_direct(new, OWNER)

    for profile in profiles[1:]:
        await share(profile)
    invite = NewInvite(profile_id=profiles[0], permissions=("READ",))
    code = (await service.create_profile_invite(invite, OWNER)).invite_code
    first, season = profiles[0], seasons[0]
    return {
        "getProfile": lambda: service.get_profile(first, OWNER),
        "listMyProfiles": lambda: service.list_my_profiles(page, OWNER),
        "listSharesByProfile": lambda: service.list_shares_by_profile(profiles[1], page, OWNER),
        "listSharedProfiles": lambda: service.list_shared_profiles(page, HELPER),
        "getInviteDetails": lambda: service.get_invite_details(code, HELPER),
        "listInvitesByProfile": lambda: service.list_invites_by_profile(first, page, OWNER),
        "getSeason": lambda: service.get_season(season, OWNER),
        "listSeasonsByProfile": lambda: service.list_seasons_by_profile(first, page, OWNER),
        "listCatalogUsage": lambda: service.list_catalog_usage(catalog.catalog_id, page, OWNER),
        "getOrder": lambda: service.get_order(orders[0], OWNER),
        "listOrdersBySeason": lambda: service.list_orders_by_season(season, page, OWNER),
        "listOrdersByProfile": lambda: service.list_orders_by_profile(first, page, OWNER),
        "createSellerProfile": lambda: service.create_seller_profile("New", OWNER),
        "updateSellerProfile": lambda: service.update_seller_profile(first, "Other", OWNER),
        "shareProfileDirect": lambda: share(first),
        "createProfileInvite": lambda: service.create_profile_invite(invite, OWNER),
        "redeemProfileInvite": lambda: service.redeem_profile_invite(code, Identity.of("guest")),
        "createSeason": lambda: new_season(first),
        "updateSeason": lambda: service.update_season(
            season, SeasonChanges(season_name="Summer"), OWNER
        ),
        "createOrder": lambda: new_order(season),
        "updateOrder": lambda: service.update_order(orders[1], OrderChanges(notes="x"), OWNER),
        "deleteOrder": lambda: service.delete_order(orders[2], OWNER),
    }


def table(before: dict[str, Cost], after: dict[str, Cost]) -> str:
    """Requests and units of each operation on both designs, in Markdown."""
    lines = [
        "| operation | requests | read units | write units | index | consistent |",
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
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def shares(costs: dict[str, Cost]) -> tuple[int, int, int]:
    """Of the operations that only read: how many, with an index, wholly consistent."""
    reading = [cost for cost in costs.values() if not cost.writes]
    with_index = sum(cost.uses_index for cost in reading)
    return len(reading), with_index, sum(cost.consistent for cost in reading)


def indexes(schema: Any) -> int:
    return sum(len(one.indexes) for one in schema.tables)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


_PAGE = """# Sellers, measured

The document behind `keyfold_systems.sellers` makes claims about its restructuring. Here they are held against both designs,
on the embedded engine, with one profile of {seasons} seasons and {orders} orders. This page is what
`python -m keyfold_systems.sellers.figures` prints; a test compares it with what is measured, except for the times.

| claim | measured |
|---|---|
| indexes: 10 before, 6 after | {indexes_before} before. The document's own list has 10 after as well; the design made sound has {indexes_after} |
| queries on indexes: about 80 % before, 30 % after | {on_index_before} of {reading} reading operations before, {on_index_after} of {reading} after |
| the main queries become strongly consistent | {consistent_before} of {reading} reading operations before, {consistent_after} of {reading} after |
| 15–25 % lower query costs | no: read units of all reading operations together go from {reads_before:g} to {reads_after:g}, because a consistent read costs twice an eventual one. `listSharedProfiles` becomes much cheaper |
| lower write costs | no: write units of all operations together go from {writes_before:g} to {writes_after:g}. A pointer under the id is written with each record, in a transaction |
| `listMyProfiles`, `listSeasonsByProfile`, `listOrdersBySeason` in less than 100 ms | {times}, on one machine, without a network |
| no index delay in the main operations | right: they read from tables. What remains on an index is marked below |

Units and requests of one call of each operation, before → after:

{table}
"""  # noqa: E501


async def page() -> str:
    """All figures, as the guide has them."""
    before, times_before = await measured("current")
    after, times_after = await measured("proposed")
    reading, on_index_before, consistent_before = shares(before)
    _, on_index_after, consistent_after = shares(after)
    times = [f"{times_before[name]:.1f} ms → {times_after[name]:.1f} ms" for name in _TIMED]
    return _PAGE.format(
        seasons=SEASONS,
        orders=ORDERS,
        indexes_before=indexes(current.design.schema),
        indexes_after=indexes(design.design.schema),
        reading=reading,
        on_index_before=on_index_before,
        on_index_after=on_index_after,
        consistent_before=consistent_before,
        consistent_after=consistent_after,
        reads_before=sum(cost.reads for cost in before.values() if not cost.writes),
        reads_after=sum(cost.reads for cost in after.values() if not cost.writes),
        writes_before=sum(cost.writes for cost in before.values()),
        writes_after=sum(cost.writes for cost in after.values()),
        times=", ".join(times),
        table=table(before, after),
    )


if __name__ == "__main__":
    print(asyncio.run(page()), end="")
