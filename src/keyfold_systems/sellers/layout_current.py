"""Everything on the tables of today, with the answers of the proposed design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from keyfold import AsyncDb, Entity, Page, check, create, exists, missing, put, update
from keyfold.api import Conflict, PageRequest
from keyfold.errors import ConditionFailed, NotFound
from keyfold.runtime import Intent
from keyfold_systems.sellers import current, mapping
from keyfold_systems.sellers.design import Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.layout_proposed import created
from keyfold_systems.sellers.layouts import Layout

Old = TypeVar("Old", bound=Entity)
New = TypeVar("New", bound=Entity)


class CurrentProfiles:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, profile_id: str) -> Profile | None:
        found = await current.profile_by_id(self.db, f"PROFILE#{profile_id}")
        return mapping.profile(found) if found else None

    async def owned_by(self, account_id: str, page: PageRequest) -> Page[Profile]:
        read = current.my_profiles.after(page.cursor)
        found = await read(self.db, account_id, limit=page.limit)
        # The index has no order; the list has one as far as a page can.
        profiles = sorted(map(mapping.profile, found), key=lambda p: (p.created_at, p.profile_id))
        return Page(profiles, found.cursor)

    async def create(self, profile: Profile) -> Profile:
        await self.db.create(mapping.profile_back(profile))
        return profile

    async def rename(self, profile: Profile, seller_name: str, now: datetime) -> Profile:
        key = mapping.profile_back(profile).ref()
        return mapping.profile(await self.db.update(key, seller_name=seller_name, updated_at=now))

    async def close(self, profile: Profile, now: datetime) -> None:
        await self.db.update(mapping.profile_back(profile).ref(), deleting_since=now)

    async def delete(self, profile: Profile) -> None:
        key = f"PROFILE#{profile.profile_id}"
        await self.db.delete_collection(current.Share.key.query(profile_id=key).consistent())
        await self.db.delete_collection(current.Invite.key.query(profile_id=key).consistent())
        await self.db.delete(mapping.profile_back(profile).ref())

    def still_there(self, profile: Profile) -> Intent:
        key = mapping.profile_back(profile).ref()
        return check(key, where=lambda p: exists(p.created_at) & missing(p.deleting_since))

    async def share(self, profile_id: str, account_id: str) -> Share | None:
        found = await current.share(self.db, f"PROFILE#{profile_id}", account_id)
        return mapping.share(found) if found else None

    async def shares(self, profile_id: str, page: PageRequest) -> Page[Share]:
        read = current.shares_of_profile.after(page.cursor)
        found = await read(self.db, f"PROFILE#{profile_id}", limit=page.limit)
        return _mapped(found, mapping.share)

    async def shared_with(self, account_id: str, page: PageRequest) -> Page[Share]:
        read = current.shared_with.after(page.cursor)
        found = await read(self.db, account_id, limit=page.limit)
        shares = sorted(map(mapping.share, found), key=lambda s: (s.created_at, s.profile_id))
        return Page(shares, found.cursor)

    async def names(self, shares: Sequence[Share]) -> dict[str, Profile]:
        keys = [current.Profile.key(profile_id=f"PROFILE#{s.profile_id}") for s in shares]
        found = [mapping.profile(p) for p in await self.db.get_many(keys) if p is not None]
        return {p.profile_id: p for p in found}

    async def put_share(self, profile: Profile, share: Share) -> Share:
        await created(self.db, put(mapping.share_back(share)), self.still_there(profile))
        return share

    async def delete_share(self, profile_id: str, account_id: str) -> None:
        key = current.Share.key(profile_id=f"PROFILE#{profile_id}", target_account_id=account_id)
        await self.db.delete(key, must_exist=True)

    async def invite(self, code: str) -> Invite | None:
        found = await current.invite(self.db, code)
        if found is None or found.expires_at <= self.db.context.now():
            return None
        return mapping.invite(found)

    async def invites(self, profile_id: str, page: PageRequest) -> Page[Invite]:
        read = current.invites_of_profile.after(page.cursor)
        found = await read(self.db, f"PROFILE#{profile_id}", limit=page.limit)
        now = self.db.context.now()
        open_ones = [mapping.invite(i) for i in found if i.expires_at > now]
        return Page(sorted(open_ones, key=lambda i: i.created_at), found.cursor)

    async def create_invite(self, profile: Profile, invite: Invite) -> Invite:
        new = create(mapping.invite_back(invite))
        await created(self.db, new, self.still_there(profile))
        return invite

    async def delete_invite(self, invite: Invite) -> None:
        await self.db.delete(mapping.invite_back(invite).ref())

    async def redeem(self, profile: Profile, invite: Invite, share: Share, now: datetime) -> None:
        try:
            await self.db.transact(
                update(
                    mapping.invite_back(invite).ref(),
                    used_at=now,
                    used_by_account_id=share.target_account_id,
                    where=lambda i: missing(i.used_at) & (i.expires_at > now),
                ),
                put(mapping.share_back(share)),
                self.still_there(profile),
            )
        except (ConditionFailed, NotFound):
            raise Conflict("This invite has been used or has expired.", code="USED") from None


class CurrentSeasons:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, season_id: str) -> Season | None:
        found = await current.season_by_id(self.db, f"SEASON#{season_id}")
        return mapping.season(found) if found else None

    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Season]:
        read = current.seasons_of_profile.after(page.cursor)
        found = await read(self.db, f"PROFILE#{profile_id}", limit=page.limit)
        return _mapped(found, mapping.season)

    async def using(self, catalog_id: str, page: PageRequest) -> Page[Season]:
        read = current.catalog_uses.after(page.cursor)
        found = await read(self.db, f"CATALOG#{catalog_id}", limit=page.limit)
        return _mapped(found, mapping.season)

    async def create(self, season: Season, *checks: Intent) -> Season:
        await created(self.db, create(mapping.season_back(season)), *checks)
        return season

    async def update(
        self, season: Season, now: datetime, *checks: Intent, **changes: Any
    ) -> Season:
        new = season.model_copy(update={**changes, "updated_at": now})
        stored = mapping.season_back(new)
        changed = {name: getattr(stored, name) for name in (*changes, "updated_at")}
        await self.db.transact(
            update(stored.ref(), where=lambda s: missing(s.deleting_since), **changed), *checks
        )
        return new

    async def close(self, season: Season, now: datetime) -> None:
        await self.db.update(mapping.season_back(season).ref(), deleting_since=now)

    async def delete(self, season: Season) -> None:
        await self.db.delete(mapping.season_back(season).ref())

    def still_there(self, season: Season) -> Intent:
        key = mapping.season_back(season).ref()
        return check(key, where=lambda s: exists(s.created_at) & missing(s.deleting_since))


class CurrentOrders:
    def __init__(self, db: AsyncDb) -> None:
        self.db = db

    async def find(self, order_id: str) -> Order | None:
        found = await current.order_by_id(self.db, f"ORDER#{order_id}")
        return mapping.order(found) if found else None

    async def of_season(self, season_id: str, page: PageRequest) -> Page[Order]:
        read = current.orders_of_season.after(page.cursor)
        found = await read(self.db, f"SEASON#{season_id}", limit=page.limit)
        return _mapped(found, mapping.order)

    async def of_profile(self, profile_id: str, page: PageRequest) -> Page[Order]:
        read = current.orders_of_profile.after(page.cursor)
        found = await read(self.db, f"PROFILE#{profile_id}", limit=page.limit)
        return _mapped(found, mapping.order)

    async def create(self, order: Order, *checks: Intent) -> Order:
        await created(self.db, create(mapping.order_back(order)), *checks)
        return order

    async def update(self, order: Order, now: datetime, **changes: Any) -> Order:
        key = mapping.order_back(order).ref()
        return mapping.order(await self.db.update(key, updated_at=now, **changes))

    async def delete(self, order: Order) -> None:
        await self.db.delete(mapping.order_back(order).ref())


def current_layout(db: AsyncDb) -> Layout:
    return Layout(CurrentProfiles(db), CurrentSeasons(db), CurrentOrders(db))


def _mapped(page: Page[Old], change: Callable[[Old], New]) -> Page[New]:
    return Page([change(one) for one in page], page.cursor)
