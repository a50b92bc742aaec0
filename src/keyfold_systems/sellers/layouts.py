"""Where things are: the same questions and changes, on the tables of either design."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from keyfold import AsyncDb, Page
from keyfold.api import PageRequest
from keyfold.migrations import Router, Side
from keyfold.runtime import Intent
from keyfold_systems.sellers.design import Invite, Order, Profile, Season, Share


class Profiles(Protocol):
    """Profiles with their shares and invites."""

    async def find(self, profile_id: str) -> Profile | None: ...
    async def owned_by(self, account_id: str, page: PageRequest) -> Page[Profile]: ...
    async def create(self, profile: Profile) -> Profile: ...
    async def rename(self, profile: Profile, seller_name: str, now: datetime) -> Profile: ...
    async def close(self, profile: Profile, now: datetime) -> None: ...
    async def delete(self, profile: Profile) -> None: ...
    def still_there(self, profile: Profile) -> Intent: ...
    async def share(self, profile_id: str, account_id: str) -> Share | None: ...
    async def shares(self, profile_id: str, page: PageRequest) -> Page[Share]: ...
    async def shared_with(self, account_id: str, page: PageRequest) -> Page[Share]: ...
    async def names(self, shares: Sequence[Share]) -> dict[str, Profile]: ...
    async def put_share(self, profile: Profile, share: Share) -> Share: ...
    async def delete_share(self, profile_id: str, account_id: str) -> None: ...
    async def invite(self, code: str) -> Invite | None: ...
    async def invites(self, profile_id: str, page: PageRequest) -> Page[Invite]: ...
    async def create_invite(self, profile: Profile, invite: Invite) -> Invite: ...
    async def delete_invite(self, invite: Invite) -> None: ...
    async def redeem(
        self, profile: Profile, invite: Invite, share: Share, now: datetime
    ) -> None: ...


class Seasons(Protocol):
    """Seasons of profiles."""

    async def find(self, season_id: str) -> Season | None: ...
    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Season]: ...
    async def using(self, catalog_id: str, page: PageRequest) -> Page[Season]: ...
    async def create(self, season: Season, *checks: Intent) -> Season: ...
    async def update(
        self, season: Season, now: datetime, *checks: Intent, **changes: Any
    ) -> Season: ...
    async def close(self, season: Season, now: datetime) -> None: ...
    async def delete(self, season: Season) -> None: ...
    def still_there(self, season: Season) -> Intent: ...


class Orders(Protocol):
    """Orders of seasons."""

    async def find(self, order_id: str) -> Order | None: ...
    async def of_season(self, season_id: str, page: PageRequest) -> Page[Order]: ...
    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Order]: ...
    async def create(self, order: Order, *checks: Intent) -> Order: ...
    async def update(self, order: Order, now: datetime, **changes: Any) -> Order: ...
    async def delete(self, order: Order) -> None: ...


@dataclass(frozen=True)
class Layout:
    """One way to reach everything."""

    profiles: Profiles
    seasons: Seasons
    orders: Orders


class Layouts:
    """Chooses for each request: the proposed tables, or what the migrations say at the moment."""

    def __init__(
        self, old: Layout | None, new: Layout, routers: tuple[Router, Router, Router] | None
    ) -> None:
        self._sides: dict[Side, Layout] = {"new": new} if old is None else {"old": old, "new": new}
        self._routers = routers

    @asynccontextmanager
    async def reading(self, caller: str) -> AsyncIterator[Layout]:
        if self._routers is None:
            yield self._sides["new"]
            return
        async with AsyncExitStack() as stack:
            sides = [await stack.enter_async_context(r.reading(caller)) for r in self._routers]
            yield self._mixed(sides)

    @asynccontextmanager
    async def writing(self, caller: str) -> AsyncIterator[Layout]:
        if self._routers is None:
            yield self._sides["new"]
            return
        async with AsyncExitStack() as stack:
            sides = [await stack.enter_async_context(r.writing(caller)) for r in self._routers]
            yield self._mixed(sides)

    def _mixed(self, sides: Sequence[Side]) -> Layout:
        profiles, seasons, orders = (self._sides[side] for side in sides)
        return Layout(profiles.profiles, seasons.seasons, orders.orders)


def migrating(current: AsyncDb, proposed: AsyncDb) -> Layouts:
    """Follow the three migrations of the tables, wherever they are."""
    from keyfold_systems.sellers import migration
    from keyfold_systems.sellers.layout_current import current_layout
    from keyfold_systems.sellers.layout_proposed import proposed_layout

    prefix = proposed.context.table_prefix
    routers = (
        Router(proposed.client, migration.profiles.name, prefix=prefix),
        Router(proposed.client, migration.seasons.name, prefix=prefix),
        Router(proposed.client, migration.orders.name, prefix=prefix),
    )
    return Layouts(current_layout(current), proposed_layout(proposed), routers)
