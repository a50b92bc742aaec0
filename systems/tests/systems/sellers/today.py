"""The application of today: what sellers do, on the tables of today.

It knows nothing of any migration. Its answers have the fields that `town` looks at.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from decimal import Decimal
from typing import Any

from keyfold import AsyncDb, Page, new_ulid, update
from keyfold_systems.sellers import current
from keyfold_systems.sellers.values import LineItem
from keyfold_systems.sellers.views import (
    NewInvite,
    NewOrder,
    NewSeason,
    NewShare,
    OrderChange,
    SeasonChange,
)
from keyfold_web import Identity, PageRequest

PRICE = Decimal(3)


class Today:
    """As much of it as the town uses."""

    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def create_seller_profile(self, name: str, caller: Identity) -> Any:
        now = self.db.context.now()
        new = current.Profile(
            profile_id=new_ulid(),
            owner_account_id=caller.id or "",
            seller_name=name,
            created_at=now,
            updated_at=now,
        )
        return await self.db.create(new)

    async def update_seller_profile(self, profile_id: str, name: str, _: Identity) -> None:
        await self.db.update(_profile(profile_id), seller_name=name)

    async def get_seller_profile(self, profile_id: str, _: Identity) -> Any:
        return await self.db.get(_profile(profile_id))

    async def delete_seller_profile(self, profile_id: str, caller: Identity) -> None:
        seasons = current.Season.by_profile.query(profile_id=profile_id)
        async for season in self.db.iterate(seasons):
            await self.delete_season(season.season_id, caller)
        key = profile_id
        await self.db.delete_collection(current.Share.key.query(profile_id=key).consistent())
        await self.db.delete_collection(current.Invite.key.query(profile_id=key).consistent())
        await self.db.delete(_profile(profile_id))

    async def share_profile_direct(self, input: NewShare, caller: Identity) -> None:
        new = current.Share(
            profile_id=input.profile_id,
            target_account_id=input.target_account_id or "",
            permissions=input.permissions,
            created_at=self.db.context.now(),
            created_by_account_id=caller.id or "",
        )
        await self.db.put(new)

    async def revoke_share(self, profile_id: str, target: str, _: Identity) -> None:
        key = current.Share.key(profile_id=profile_id, target_account_id=target)
        await self.db.delete(key, must_exist=True)

    async def list_shares_by_profile(
        self, profile_id: str, page: PageRequest, _: Identity
    ) -> Page[Any]:
        read = current.shares_of_profile.after(page.cursor)
        return await read(self.db, profile_id, limit=page.limit)

    async def create_profile_invite(self, input: NewInvite, caller: Identity) -> Any:
        now = self.db.context.now()
        new = current.Invite(
            profile_id=input.profile_id,
            invite_code=secrets.token_hex(5).upper(),
            permissions=input.permissions,
            created_by_account_id=caller.id or "",
            created_at=now,
            expires_at=now.replace(microsecond=0) + timedelta(days=14),
        )
        return await self.db.create(new)

    async def redeem_profile_invite(self, code: str, caller: Identity) -> None:
        found = await current.invite(self.db, code)
        assert found is not None
        now = self.db.context.now()
        await self.db.transact(update(found.ref(), used_at=now, used_by_account_id=caller.id))
        new = NewShare(
            profile_id=found.profile_id,
            target_account_id=caller.id,
            permissions=found.permissions,
        )
        await self.share_profile_direct(new, caller)

    async def create_season(self, input: NewSeason, _: Identity) -> Any:
        new = current.Season(
            season_id=new_ulid(),
            profile_id=input.profile_id,
            season_name=input.season_name,
            catalog_id=input.catalog_id,
            start_date=input.start_date,
            created_at=self.db.context.now(),
        )
        return await self.db.create(new)

    async def update_season(self, season_id: str, input: SeasonChange, _: Identity) -> None:
        assert input.season_name is not None
        await self.db.update(_season(season_id), season_name=input.season_name)

    async def get_season(self, season_id: str, _: Identity) -> Any:
        return await self.db.get(_season(season_id))

    async def list_seasons_by_profile(
        self, profile_id: str, page: PageRequest, _: Identity
    ) -> Page[Any]:
        read = current.seasons_of_profile.after(page.cursor)
        return await read(self.db, profile_id, limit=page.limit)

    async def delete_season(self, season_id: str, _: Identity) -> None:
        orders = current.Order.by_season.query(season_id=season_id)
        await self.db.delete_collection(orders)
        await self.db.delete(_season(season_id))

    async def create_order(self, input: NewOrder, _: Identity) -> Any:
        season = await self.db.get(_season(input.season_id))
        (line,) = input.line_items
        new = current.Order(
            order_id=new_ulid(),
            season_id=season.season_id,
            profile_id=season.profile_id,
            customer_name=input.customer_name,
            line_items=[
                LineItem(
                    product_id=line.product_id,
                    product_name="Pie",
                    quantity=line.quantity,
                    price_per_unit=PRICE,
                )
            ],
            total_amount=PRICE * line.quantity,
            payment_method=input.payment_method,
            order_date=input.order_date,
            created_at=self.db.context.now(),
        )
        return await self.db.create(new)

    async def update_order(self, order_id: str, input: OrderChange, _: Identity) -> None:
        assert input.customer_name is not None
        await self.db.update(_order(order_id), customer_name=input.customer_name)

    async def get_order(self, order_id: str, _: Identity) -> Any:
        return await self.db.get(_order(order_id))

    async def list_orders_by_season(
        self, season_id: str, page: PageRequest, _: Identity
    ) -> Page[Any]:
        read = current.orders_of_season.after(page.cursor)
        return await read(self.db, season_id, limit=page.limit)

    async def delete_order(self, order_id: str, _: Identity) -> None:
        await self.db.delete(_order(order_id))


def _profile(profile_id: str) -> Any:
    return current.Profile.key(profile_id=profile_id)


def _season(season_id: str) -> Any:
    return current.Season.key(season_id=season_id)


def _order(order_id: str) -> Any:
    return current.Order.key(order_id=order_id)
