"""Who may do what with a profile and everything in it.

No rule trusts an index: an owner's profile is found by the caller's own id, a share by the
caller's own id, and what an index does not show yet is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from keyfold import check
from keyfold.conditions import exists, missing
from keyfold.runtime import Intent
from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import Account, Invite, Order, Profile, Season, Share
from keyfold_systems.sellers.values import BOTH, Permission
from keyfold_systems.sellers.views import SellerProfile
from keyfold_web import Identity, Missing, NotAllowed, Service


@dataclass(frozen=True)
class Access:
    """A profile and what the caller may do with it."""

    profile: Profile
    is_owner: bool
    permissions: tuple[Permission, ...]

    @property
    def view(self) -> SellerProfile:
        return SellerProfile.for_caller(self.profile, None if self.is_owner else self.permissions)


class Part(Service):
    """Some operations over the one database."""

    async def names(self, account_ids: Iterable[str]) -> dict[str, str]:
        """The given names of accounts, in one batch."""
        ids = sorted(set(account_ids))
        found = await self.db.get_many([Account.key(account_id=one) for one in ids])
        return {id: one.given_name if one else "" for id, one in zip(ids, found, strict=True)}

    async def access(self, profile_id: str, caller: Identity) -> Access:
        """What the caller may do; a profile that is being deleted is not there."""
        share_ref = Share.key(profile_id=profile_id, target_account_id=caller.id)
        own_ref = Profile.key(owner_account_id=caller.id, profile_id=profile_id)
        own, share = await self.db.get_many([own_ref, share_ref])
        if isinstance(own, Profile):
            return Access(there(own, profile_id), True, BOTH)
        if caller.is_admin:
            found, permissions = await patterns.profile_by_id(self.db, profile_id), BOTH
        elif isinstance(share, Share):
            found, permissions = await self.shared(share), share.permissions
        else:
            found, permissions = await patterns.profile_by_id(self.db, profile_id), ()
        return Access(there(found, profile_id), False, permissions)

    async def shared(self, one: Share | Invite) -> Profile | None:
        """The profile of a share or an invite. Who makes one mostly owns it: its key is known."""
        found = await patterns.profile(self.db, one.created_by_account_id, one.profile_id)
        return found or await patterns.profile_by_id(self.db, one.profile_id)

    async def require(self, profile_id: str, caller: Identity, permission: Permission) -> Access:
        """Access with this permission; who may write may read."""
        found = await self.access(profile_id, caller)
        if permission not in found.permissions and not (
            permission == "READ" and "WRITE" in found.permissions
        ):
            raise NotAllowed(f"You have no {permission} permission on this profile.")
        return found

    async def own(self, profile_id: str, caller: Identity) -> Profile:
        """A profile, for its owner and for administrators."""
        found = await self.access(profile_id, caller)
        if not (found.is_owner or caller.is_admin):
            raise NotAllowed("Only the owner of a profile may do this.")
        return found.profile

    async def season_for(
        self, season_id: str, profile_id: str | None, caller: Identity, permission: Permission
    ) -> Season:
        """A season: at once with its profile, without it as soon as the index shows it."""
        if profile_id is not None:
            found = await patterns.season(self.db, profile_id, season_id)
        else:
            found = await patterns.season_by_id(self.db, season_id)
        season = Missing.unless(found, "season", season_id)
        await self.require(season.profile_id, caller, permission)
        return season

    async def order_for(
        self, order_id: str, season_id: str | None, caller: Identity, permission: Permission
    ) -> Order:
        """An order: at once with its season, without it as soon as the index shows it."""
        if season_id is not None:
            found = await patterns.order(self.db, season_id, order_id)
        else:
            found = await patterns.order_by_id(self.db, order_id)
        order = Missing.unless(found, "order", order_id)
        await self.require(order.profile_id, caller, permission)
        return order


def there(found: Profile | None, profile_id: str) -> Profile:
    """The profile, unless it is being deleted."""
    profile = Missing.unless(found, "profile", profile_id)
    if profile.deleting_since is not None:
        raise Missing.of("profile", profile_id)
    return profile


def stays(profile: Profile) -> Intent:
    """The condition that the profile is not deleted meanwhile."""
    return check(profile.ref(), where=lambda p: exists(p.created_at) & missing(p.deleting_since))
