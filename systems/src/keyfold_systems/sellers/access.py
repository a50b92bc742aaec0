"""Who may do what with a profile and everything in it."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold import AsyncDb
from keyfold_systems.sellers.entities import Catalog, Order, Profile, Season, Share
from keyfold_systems.sellers.patterns import (
    catalog_uses,
    order,
    order_by_id,
    profile_by_id,
    season_by_id,
    share,
)
from keyfold_systems.sellers.values import BOTH, Permission
from keyfold_web import Identity, Missing, NotAllowed


@dataclass(frozen=True)
class Access:
    """A profile and what the caller may do with it."""

    profile: Profile
    is_owner: bool
    permissions: tuple[Permission, ...]


async def access(db: AsyncDb, profile_id: str, caller: Identity) -> Access:
    """What the caller may do; a profile that is being deleted is not there."""
    profile = await profile_by_id(db, profile_id)
    if profile is None or profile.deleting_since is not None:
        raise Missing.of("profile", profile_id)
    if profile.owner_account_id == caller.id:
        return Access(profile, True, BOTH)
    if caller.is_admin:
        return Access(profile, False, BOTH)
    found = await share(db, profile_id, caller.id or "")
    return Access(profile, False, found.permissions if found else ())


async def require(db: AsyncDb, profile_id: str, caller: Identity, permission: Permission) -> Access:
    """Access with this permission; who may write may read."""
    found = await access(db, profile_id, caller)
    allowed = found.permissions
    if permission not in allowed and not (permission == "READ" and "WRITE" in allowed):
        raise NotAllowed(f"You have no {permission} permission on this profile.")
    return found


async def require_owner(db: AsyncDb, profile_id: str, caller: Identity) -> Profile:
    """The profile, for its owner and for administrators."""
    found = await access(db, profile_id, caller)
    if not found.is_owner and not caller.is_admin:
        raise NotAllowed("Only the owner of a profile may do this.")
    return found.profile


async def sees_private(db: AsyncDb, catalog: Catalog, caller: Identity) -> bool:
    """Whether a catalog is the caller's, or of a season in a profile that the caller may see."""
    if catalog.owner_account_id == caller.id or caller.is_admin:
        return True
    cursor = None
    while True:
        page = await catalog_uses.after(cursor)(db, catalog.catalog_id, limit=50)
        profiles = {use.profile_id for use in page}
        keys = [Profile.key(profile_id=one) for one in profiles]
        owned = await db.get_many(keys)
        account = caller.id or ""
        permits = [Share.key(profile_id=one, target_account_id=account) for one in profiles]
        shared = await db.get_many(permits)
        if any(shared) or any(one and one.owner_account_id == caller.id for one in owned):
            return True
        cursor = page.cursor
        if cursor is None:
            return False


async def season_for(
    db: AsyncDb, season_id: str, caller: Identity, permission: Permission
) -> Season:
    season = await season_by_id(db, season_id)
    if season is None or season.deleting_since is not None:
        raise Missing.of("season", season_id)
    await require(db, season.profile_id, caller, permission)
    return season


async def order_for(
    db: AsyncDb,
    order_id: str,
    caller: Identity,
    permission: Permission,
    season_id: str | None = None,
) -> Order:
    """An order; who knows its season saves the look at where it is."""
    if season_id is None and (place := await order_by_id(db, order_id)) is not None:
        season_id = place.season_id
    found = await order(db, season_id, order_id) if season_id is not None else None
    if found is None:
        raise Missing.of("order", order_id)
    await require(db, found.profile_id, caller, permission)
    return found
