"""Who may do what with a profile and everything in it."""

from __future__ import annotations

from dataclasses import dataclass

from keyfold.api import Identity, Missing, NotAllowed
from keyfold_systems.sellers.design import Order, Profile, Season
from keyfold_systems.sellers.layouts import Layout
from keyfold_systems.sellers.values import Permission

BOTH: tuple[Permission, ...] = ("READ", "WRITE")


@dataclass(frozen=True)
class Access:
    """A profile and what the caller may do with it."""

    profile: Profile
    is_owner: bool
    permissions: tuple[Permission, ...]


async def access(layout: Layout, profile_id: str, caller: Identity) -> Access:
    """What the caller may do; a profile that is being deleted is not there."""
    profile = await layout.profiles.find(profile_id)
    if profile is None or profile.deleting_since is not None:
        raise Missing("There is no such profile.")
    if profile.owner_account_id == caller.id:
        return Access(profile, True, BOTH)
    if caller.is_admin:
        return Access(profile, False, BOTH)
    share = await layout.profiles.share(profile_id, caller.id)
    return Access(profile, False, share.permissions if share else ())


async def require(
    layout: Layout, profile_id: str, caller: Identity, permission: Permission
) -> Access:
    """Access with this permission; who may write may read."""
    found = await access(layout, profile_id, caller)
    allowed = found.permissions
    if permission not in allowed and not (permission == "READ" and "WRITE" in allowed):
        raise NotAllowed(f"You have no {permission} permission on this profile.")
    return found


async def require_owner(layout: Layout, profile_id: str, caller: Identity) -> Profile:
    """The profile, for its owner and for administrators."""
    found = await access(layout, profile_id, caller)
    if not found.is_owner and not caller.is_admin:
        raise NotAllowed("Only the owner of a profile may do this.")
    return found.profile


async def season_for(
    layout: Layout, season_id: str, caller: Identity, permission: Permission
) -> tuple[Season, Access]:
    season = await layout.seasons.find(season_id)
    if season is None or season.deleting_since is not None:
        raise Missing("There is no such season.")
    return season, await require(layout, season.profile_id, caller, permission)


async def order_for(
    layout: Layout, order_id: str, caller: Identity, permission: Permission
) -> Order:
    order = await layout.orders.find(order_id)
    if order is None:
        raise Missing("There is no such order.")
    await require(layout, order.profile_id, caller, permission)
    return order
