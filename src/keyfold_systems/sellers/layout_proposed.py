"""Everything on the proposed tables."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from keyfold import AsyncDb, Page, check, create, exists, missing, put, update
from keyfold.api import Conflict, Missing, PageRequest
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.sellers.design import (
    Invite,
    Order,
    OrderById,
    Profile,
    ProfileById,
    Season,
    SeasonById,
    Share,
    catalog_uses,
    invite,
    invites_of_profile,
    my_profiles,
    order_by_id,
    orders_of_profile,
    orders_of_season,
    profile_by_id,
    season_by_id,
    seasons_of_profile,
    share,
    shared_with,
    shares_of_profile,
)
from keyfold_systems.sellers.layouts import Layout


class ProposedProfiles:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, profile_id: str) -> Profile | None:
        found = await profile_by_id(self.db, profile_id)
        return Profile(**found.__dict__) if found else None

    async def owned_by(self, account_id: str, page: PageRequest) -> Page[Profile]:
        return await my_profiles.after(page.cursor)(self.db, account_id, limit=page.limit)

    async def create(self, profile: Profile) -> Profile:
        return await self.db.create(profile)

    async def rename(self, profile: Profile, seller_name: str, now: datetime) -> Profile:
        # Shares first: who repeats a rename that was cut off sets right what it left.
        async for one in self.db.iterate(
            Share.key.query(profile_id=profile.profile_id).consistent()
        ):
            with suppress(NotFound):
                await self.db.update(
                    one.ref(), seller_name=seller_name, owner_account_id=profile.owner_account_id
                )
        return await self.db.update(profile.ref(), seller_name=seller_name, updated_at=now)

    async def close(self, profile: Profile, now: datetime) -> None:
        await self.db.update(profile.ref(), deleting_since=now)

    async def delete(self, profile: Profile) -> None:
        await self.db.delete_collection(Share.key.query(profile_id=profile.profile_id).consistent())
        await self.db.delete_collection(Invite.by_profile.query(profile_id=profile.profile_id))
        await self.db.delete(profile.ref())

    def still_there(self, profile: Profile) -> Intent:
        return check(
            profile.ref(), where=lambda p: exists(p.created_at) & missing(p.deleting_since)
        )

    async def share(self, profile_id: str, account_id: str) -> Share | None:
        return await share(self.db, profile_id, account_id)

    async def shares(self, profile_id: str, page: PageRequest) -> Page[Share]:
        return await shares_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)

    async def shared_with(self, account_id: str, page: PageRequest) -> Page[Share]:
        return await shared_with.after(page.cursor)(self.db, account_id, limit=page.limit)

    async def names(self, shares: Sequence[Share]) -> dict[str, Profile]:
        nameless = [s.profile_id for s in shares if s.seller_name is None]
        if not nameless:
            return {}
        found = await self.db.get_many([ProfileById.key(profile_id=p) for p in nameless])
        return {p.profile_id: Profile(**p.__dict__) for p in found if p is not None}

    async def put_share(self, profile: Profile, share: Share) -> Share:
        named = share.model_copy(
            update={
                "seller_name": profile.seller_name,
                "owner_account_id": profile.owner_account_id,
            }
        )
        await created(self.db, put(named), self.still_there(profile))
        return named

    async def delete_share(self, profile_id: str, account_id: str) -> None:
        ref = Share.key(profile_id=profile_id, target_account_id=account_id)
        await self.db.delete(ref, must_exist=True)

    async def invite(self, code: str) -> Invite | None:
        return await invite(self.db, code)

    async def invites(self, profile_id: str, page: PageRequest) -> Page[Invite]:
        return await invites_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)

    async def create_invite(self, profile: Profile, invite: Invite) -> Invite:
        await created(self.db, create(invite), self.still_there(profile))
        return invite

    async def delete_invite(self, invite: Invite) -> None:
        await self.db.delete(invite.ref())

    async def redeem(self, profile: Profile, invite: Invite, share: Share, now: datetime) -> None:
        named = share.model_copy(
            update={
                "seller_name": profile.seller_name,
                "owner_account_id": profile.owner_account_id,
            }
        )
        try:
            await self.db.transact(
                update(
                    invite.ref(),
                    used_at=now,
                    used_by_account_id=share.target_account_id,
                    where=lambda i: missing(i.used_at) & (i.expires_at > now),
                ),
                put(named),
                self.still_there(profile),
            )
        except (ConditionFailed, NotFound):
            raise Conflict("This invite has been used or has expired.", code="USED") from None


class ProposedSeasons:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, season_id: str) -> Season | None:
        found = await season_by_id(self.db, season_id)
        return Season(**found.__dict__) if found else None

    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Season]:
        return await seasons_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)

    async def using(self, catalog_id: str, page: PageRequest) -> Page[Season]:
        uses = await catalog_uses.after(page.cursor)(self.db, catalog_id, limit=page.limit)
        found = await self.db.get_many([SeasonById.key(season_id=u.season_id) for u in uses])
        return Page([Season(**s.__dict__) for s in found if s is not None], uses.cursor)

    async def create(self, season: Season, *checks: Intent) -> Season:
        written: Season = await created(self.db, create(season), *checks)
        return written

    async def update(
        self, season: Season, now: datetime, *checks: Intent, **changes: Any
    ) -> Season:
        written = await self.db.transact(
            update(
                season.ref(),
                updated_at=now,
                where=lambda s: missing(s.deleting_since),
                **changes,
            ),
            *checks,
        )
        return written[0] or season.model_copy(update={**changes, "updated_at": now})

    async def close(self, season: Season, now: datetime) -> None:
        await self.db.update(season.ref(), deleting_since=now)

    async def delete(self, season: Season) -> None:
        await self.db.delete(season.ref())

    def still_there(self, season: Season) -> Intent:
        return check(season.ref(), where=lambda s: exists(s.created_at) & missing(s.deleting_since))


class ProposedOrders:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, order_id: str) -> Order | None:
        place = await order_by_id(self.db, order_id)
        return await self.db.find(_order_key(place)) if place else None

    async def of_season(self, season_id: str, page: PageRequest) -> Page[Order]:
        return await orders_of_season.after(page.cursor)(self.db, season_id, limit=page.limit)

    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Order]:
        return await orders_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)

    async def create(self, order: Order, *checks: Intent) -> Order:
        written: Order = await created(self.db, create(order), *checks)
        return written

    async def update(self, order: Order, now: datetime, **changes: Any) -> Order:
        return await self.db.update(order.ref(), updated_at=now, **changes)

    async def delete(self, order: Order) -> None:
        await self.db.delete(order.ref())


def proposed_layout(db: AsyncDb) -> Layout:
    return Layout(ProposedProfiles(db), ProposedSeasons(db), ProposedOrders(db))


def _order_key(place: OrderById) -> Any:
    return Order.key(
        season_id=place.season_id, created_at=place.created_at, order_id=place.order_id
    )


async def created(db: AsyncDb, *intents: Intent) -> Any:
    """The first intent's item; a failed check means that what it belongs to is being deleted."""
    try:
        return (await db.transact(*intents))[0]
    except (ConditionFailed, NotFound):
        raise Missing("What this belongs to is not there any more.") from None
