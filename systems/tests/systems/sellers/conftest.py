"""Sellers on its proposed tables.

With KEYFOLD_SYSTEMS_ADDRESS it is on that server instead of the embedded engine.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pytest
from tests.systems.conftest import Recorder, recording

from keyfold import AsyncDb
from keyfold_engine.clock import ManualClock
from keyfold_systems.sellers import design
from keyfold_systems.sellers.entities import Catalog, Order, Season
from keyfold_systems.sellers.patterns import account
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import Permissions, Product
from keyfold_systems.sellers.views import (
    NewAccount,
    NewCatalog,
    NewOrder,
    NewSeason,
    NewShare,
    OrderLine,
)
from keyfold_web import Identity

OLGA, MIA, SAM = Identity.of("olga"), Identity.of("mia"), Identity.of("sam")
ROOT = Identity.of("root", "admin")


@dataclass
class World:
    """A service and short ways to fill it."""

    service: Sellers
    db: AsyncDb

    async def account(self, *people: Identity) -> None:
        for one in people:
            name = (one.id or "").title()
            new = NewAccount(email=f"{one.id}@example.org", given_name=name)
            await self.service.create_my_account(new, caller=one)

    async def share(
        self,
        profile_id: str,
        target: Identity = MIA,
        permissions: Permissions = ("READ",),
        by: Identity = OLGA,
    ) -> None:
        """Share a profile with somebody, who gets an account if there is none."""
        if await account(self.db, target.id or "") is None:
            await self.account(target)
        input = NewShare(
            profile_id=profile_id, target_account_id=target.id, permissions=permissions
        )
        await self.service.share_profile_direct(input, caller=by)

    async def profile(self, owner: Identity = OLGA, name: str = "Olga's cookies") -> str:
        made = await self.service.create_seller_profile(name, caller=owner)
        return str(made.profile_id)

    async def catalog(self, owner: Identity = OLGA, *, public: bool = False) -> Catalog:
        products = [
            Product(product_id="mint", product_name="Thin mint", price=Decimal("5.50")),
            Product(product_id="oat", product_name="Oat", price=Decimal("4")),
        ]
        input = NewCatalog(
            catalog_name="Cookies", is_public_str="true" if public else "false", products=products
        )
        return await self.service.create_catalog(input, caller=owner)

    async def season(self, profile_id: str, catalog_id: str, name: str = "Spring") -> Season:
        input = NewSeason(
            profile_id=profile_id,
            season_name=name,
            catalog_id=catalog_id,
            start_date=date(2026, 3, 1),
        )
        return await self.service.create_season(input, caller=OLGA)

    async def order(
        self,
        season_id: str,
        quantity: int = 2,
        caller: Identity = OLGA,
        profile_id: str | None = None,
    ) -> Order:
        line = OrderLine(product_id="mint", quantity=quantity)
        input = NewOrder.model_validate(
            {
                "season_id": season_id,
                "profile_id": profile_id,
                "customer_name": "Ms. Doe",
                "line_items": [line],
                "payment_method": "CASH",
                "order_date": date(2026, 3, 2),
            }
        )
        return await self.service.create_order(input, caller=caller)


@pytest.fixture
async def client() -> AsyncIterator[Recorder]:
    async with recording("SellersAccounts", ManualClock(time.time())) as opened:
        yield opened


@pytest.fixture
async def world(client: Recorder) -> World:
    db = await design.design.open_async(client)
    return World(Sellers(db), db)
