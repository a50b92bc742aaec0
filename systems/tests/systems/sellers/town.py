"""Sellers who work while their tables change, and who remember what they did."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from keyfold import AsyncDb, Page
from keyfold_systems.sellers import current
from keyfold_systems.sellers.service import Sellers
from keyfold_systems.sellers.values import LineItem, Product
from keyfold_systems.sellers.views import (
    NewInvite,
    NewOrder,
    NewSeason,
    NewShare,
    OrderChange,
    OrderLine,
    SeasonChange,
)
from keyfold_web import Identity, PageRequest

from .today import Today

START = datetime(2025, 1, 1, tzinfo=UTC)
CATALOG, PRIVATE = "town", "secret"
ORDERS_PER_SEASON = 8


@dataclass
class SeasonMemory:
    name: str
    orders: dict[str, str] = field(default_factory=dict)
    """Order ids with the customers' names."""


@dataclass
class ProfileMemory:
    name: str
    seasons: dict[str, SeasonMemory] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)


@dataclass
class Town:
    """What everybody remembers: the oracle."""

    sellers: dict[str, dict[str, ProfileMemory]] = field(default_factory=dict)
    requests: int = 0
    reads: int = 0
    killed: int = 0
    stopped: bool = False
    longest: dict[str, float] = field(default_factory=dict)
    """The seconds of the slowest request, by its name."""

    @property
    def slowest(self) -> str:
        found = sorted(self.longest.items(), key=lambda pair: -pair[1])
        return ", ".join(f"{name} {seconds:.2f} s" for name, seconds in found[:5])

    def shared_with(self, who: str) -> set[tuple[str, str]]:
        return {
            (profile_id, profile.name)
            for profiles in self.sellers.values()
            for profile_id, profile in profiles.items()
            if who in profile.helpers
        }


def history(town: Town, records: int, sellers: int) -> Iterator[Any]:
    """Records of the current design, about so many, remembered by the town."""
    made = 0
    clock = START
    for number in range(sellers):
        who = f"seller-{number:02d}"
        town.sellers[who] = {}
        yield current.Account(account_id=who, email=f"{who}@Example.org", is_admin=number == 0)
    for catalog_id, public in ((CATALOG, True), (PRIVATE, False)):
        yield current.Catalog(
            catalog_id=catalog_id,
            owner_account_id="town-hall",
            catalog_name=catalog_id.title(),
            is_public_str="true" if public else "false",
            products=[Product(product_id="p", product_name="Pie", price=Decimal(3))],
            created_at=START,
        )
    number = 0
    while made < records:
        who = f"seller-{number % sellers:02d}"
        profile_id = f"old-p{number:05d}"
        profile = town.sellers[who][profile_id] = ProfileMemory(f"Stand {number}")
        clock += timedelta(milliseconds=7)
        helper = f"seller-{(number + 1) % sellers:02d}"
        profile.helpers.add(helper)
        yield current.Profile(
            profile_id=profile_id,
            owner_account_id=who,
            seller_name=profile.name,
            created_at=clock,
        )
        yield current.Share(
            profile_id=profile_id,
            target_account_id=helper,
            permissions=("READ",),
            created_at=clock,
            created_by_account_id=who,
        )
        yield current.Invite(
            profile_id=profile_id,
            invite_code=f"CODE{number:06d}",
            permissions=("READ",),
            created_by_account_id=who,
            created_at=clock,
            expires_at=datetime(2040, 1, 1, tzinfo=UTC),
        )
        made += 3
        for season_number in range(2):
            season_id = f"{profile_id}-s{season_number}"
            season = profile.seasons[season_id] = SeasonMemory(f"Season {season_number}")
            clock += timedelta(milliseconds=7)
            yield current.Season(
                season_id=season_id,
                profile_id=profile_id,
                season_name=season.name,
                catalog_id=CATALOG,
                start_date=date(2025, 1, 1),
                created_at=clock,
            )
            for order_number in range(ORDERS_PER_SEASON):
                order_id = f"{season_id}-o{order_number}"
                season.orders[order_id] = f"Customer {order_number}"
                clock += timedelta(milliseconds=7)
                yield _order(order_id, season_id, profile_id, order_number, clock)
            made += 1 + ORDERS_PER_SEASON
        number += 1


def _order(order_id: str, season_id: str, profile_id: str, n: int, at: datetime) -> current.Order:
    return current.Order(
        order_id=order_id,
        season_id=season_id,
        profile_id=profile_id,
        customer_name=f"Customer {n}",
        line_items=[_line(n + 1)],
        total_amount=Decimal(3 * (n + 1)),
        payment_method="CASH",
        order_date=date(2025, 1, 2),
        created_at=at,
    )


def _line(quantity: int) -> LineItem:
    return LineItem(
        product_id="p", product_name="Pie", quantity=quantity, price_per_unit=Decimal(3)
    )


async def fill(db: AsyncDb, town: Town, records: int, sellers: int) -> int:
    made = list(history(town, records, sellers))
    return await db.put_many(made)


class Timed:
    """A service whose requests are counted, with the time of the slowest."""

    def __init__(self, service: Sellers | Today, town: Town) -> None:
        self._service, self._town = service, town

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        operation = getattr(self._service, name)

        async def request(*arguments: Any) -> Any:
            began = time.monotonic()
            try:
                return await operation(*arguments)
            finally:
                took, longest = time.monotonic() - began, self._town.longest
                longest[name] = max(longest.get(name, 0.0), took)
                self._town.requests += 1

        return request


class Worker:
    """One seller: changes things at random, and sees at once what it did."""

    def __init__(self, service: Sellers | Today, town: Town, who: str, seed: int) -> None:
        self.service = Timed(service, town)
        self.town, self.caller = town, Identity.of(who)
        self.chance = random.Random(seed)
        self.mine = town.sellers[who]
        self.others = [other for other in town.sellers if other != who]
        self._turn = asyncio.Lock()

    async def serve(self, service: Sellers) -> None:
        """Go on with another version of the application, once what was written has arrived."""
        async with self._turn:
            await asyncio.sleep(1.0)
            self.service = Timed(service, self.town)

    async def work(self, pause: float = 0.0) -> None:
        actions: dict[Callable[[], Awaitable[None]], int] = {
            self.new_profile: 2,
            self.rename: 2,
            self.share: 2,
            self.invite: 1,
            self.new_season: 4,
            self.rename_season: 3,
            self.new_order: 12,
            self.change_order: 5,
            self.drop_order: 3,
            self.drop_season: 1,
            self.drop_profile: 1,
            self.look: 10,
            self.look_at_orders: 10,
        }
        while not self.town.stopped:
            action = self.chance.choices(list(actions), list(actions.values()))[0]
            async with self._turn:
                await action()
            await asyncio.sleep(pause)

    def a_profile(self) -> tuple[str, ProfileMemory]:
        # Mostly a few favourites: traffic of real systems is not even.
        ids = list(self.mine)
        chosen = self.chance.choice(ids[-6:] if self.chance.random() < 0.7 else ids)
        return chosen, self.mine[chosen]

    def a_season(self) -> tuple[str, SeasonMemory] | None:
        _, profile = self.a_profile()
        if not profile.seasons:
            return None
        season_id = self.chance.choice(list(profile.seasons))
        return season_id, profile.seasons[season_id]

    async def new_profile(self) -> None:
        name = f"Stand {self.chance.random():.6f}"
        made = await self.service.create_seller_profile(name, self.caller)
        self.mine[made.profile_id] = ProfileMemory(name)

    async def rename(self) -> None:
        profile_id, profile = self.a_profile()
        profile.name = f"Renamed {self.chance.random():.6f}"
        await self.service.update_seller_profile(profile_id, profile.name, self.caller)
        found = await self.service.get_seller_profile(profile_id, self.caller)
        assert found.seller_name == profile.name

    async def share(self) -> None:
        profile_id, profile = self.a_profile()
        other = self.chance.choice(self.others)
        if other in profile.helpers:
            await self.service.revoke_share(profile_id, other, self.caller)
            profile.helpers.discard(other)
        else:
            await self.service.share_profile_direct(
                NewShare(profile_id=profile_id, target_account_id=other, permissions=("READ",)),
                self.caller,
            )
            profile.helpers.add(other)
        await self.look_at_shares(profile_id, profile)

    async def invite(self) -> None:
        profile_id, profile = self.a_profile()
        other = self.chance.choice(self.others)
        made = await self.service.create_profile_invite(
            NewInvite(profile_id=profile_id, permissions=("READ",)), self.caller
        )
        await self.service.redeem_profile_invite(made.invite_code, Identity.of(other))
        profile.helpers.add(other)

    async def new_season(self) -> None:
        profile_id, profile = self.a_profile()
        name = f"Season {self.chance.random():.6f}"
        made = await self.service.create_season(
            NewSeason(
                profile_id=profile_id,
                season_name=name,
                catalog_id=CATALOG,
                start_date=date(2026, 1, 1),
            ),
            self.caller,
        )
        profile.seasons[made.season_id] = SeasonMemory(name)

    async def rename_season(self) -> None:
        if (chosen := self.a_season()) is None:
            return
        season_id, season = chosen
        season.name = f"Renamed {self.chance.random():.6f}"
        changes = SeasonChange(season_name=season.name)
        await self.service.update_season(season_id, changes, self.caller)
        assert (await self.service.get_season(season_id, self.caller)).season_name == season.name

    async def new_order(self) -> None:
        if (chosen := self.a_season()) is None:
            return
        season_id, season = chosen
        name = f"Customer {self.chance.random():.6f}"
        made = await self.service.create_order(
            NewOrder(
                season_id=season_id,
                customer_name=name,
                line_items=[OrderLine(product_id="p", quantity=2)],
                payment_method="CASH",
                order_date=date(2026, 1, 2),
            ),
            self.caller,
        )
        season.orders[made.order_id] = name

    async def change_order(self) -> None:
        if (chosen := self.a_season()) is None or not chosen[1].orders:
            return
        order_id = self.chance.choice(list(chosen[1].orders))
        name = f"Changed {self.chance.random():.6f}"
        chosen[1].orders[order_id] = name
        await self.service.update_order(order_id, OrderChange(customer_name=name), self.caller)
        assert (await self.service.get_order(order_id, self.caller)).customer_name == name

    async def drop_order(self) -> None:
        if (chosen := self.a_season()) is None or not chosen[1].orders:
            return
        order_id = self.chance.choice(list(chosen[1].orders))
        del chosen[1].orders[order_id]
        await self.service.delete_order(order_id, self.caller)
        await self.look_at_season(*chosen)

    async def drop_season(self) -> None:
        _, profile = self.a_profile()
        if profile.seasons:
            season_id = self.chance.choice(list(profile.seasons))
            del profile.seasons[season_id]
            await self.service.delete_season(season_id, self.caller)

    async def drop_profile(self) -> None:
        profile_id, _ = self.a_profile()
        if len(self.mine) > 3:
            del self.mine[profile_id]
            await self.service.delete_seller_profile(profile_id, self.caller)

    async def look(self) -> None:
        profile_id, profile = self.a_profile()
        found = await every(
            lambda p: self.service.list_seasons_by_profile(profile_id, p, self.caller)
        )
        assert {s.season_id for s in found} == set(profile.seasons)
        self.town.reads += 1

    async def look_at_orders(self) -> None:
        if (chosen := self.a_season()) is not None:
            await self.look_at_season(*chosen)

    async def look_at_season(self, season_id: str, season: SeasonMemory) -> None:
        found = await every(lambda p: self.service.list_orders_by_season(season_id, p, self.caller))
        assert {o.order_id: o.customer_name for o in found} == season.orders
        self.town.reads += 1

    async def look_at_shares(self, profile_id: str, profile: ProfileMemory) -> None:
        found = await every(
            lambda p: self.service.list_shares_by_profile(profile_id, p, self.caller)
        )
        assert {s.target_account_id for s in found} == profile.helpers

    async def look_at_everything(self) -> None:
        """Every list equals what is remembered."""
        found = await every(lambda p: self.service.list_my_profiles(p, self.caller))
        assert {p.profile_id: p.seller_name for p in found} == {
            key: profile.name for key, profile in self.mine.items()
        }
        shared = await every(lambda p: self.service.list_shared_profiles(p, self.caller))
        assert {(p.profile_id, p.seller_name) for p in shared} == self.town.shared_with(
            self.caller.id
        )
        for profile_id, profile in self.mine.items():
            await self.look_at_shares(profile_id, profile)
            seasons = await every(
                lambda p, key=profile_id: self.service.list_seasons_by_profile(key, p, self.caller)  # type: ignore[misc]
            )
            assert {s.season_id: s.season_name for s in seasons} == {
                key: season.name for key, season in profile.seasons.items()
            }
            orders = await every(
                lambda p, key=profile_id: self.service.list_orders_by_profile(key, p, self.caller)  # type: ignore[misc]
            )
            assert {o.order_id for o in orders} == {
                order for season in profile.seasons.values() for order in season.orders
            }
            for season_id, season in profile.seasons.items():
                await self.look_at_season(season_id, season)


async def every(read: Callable[[PageRequest], Awaitable[Page[Any]]]) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = await read(PageRequest(200, cursor))
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found
