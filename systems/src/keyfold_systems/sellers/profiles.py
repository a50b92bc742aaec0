"""Profiles."""

from __future__ import annotations

from keyfold import AsyncDb, Page, new_ulid
from keyfold.errors import NotFound
from keyfold_systems.sellers.access import require
from keyfold_systems.sellers.entities import (
    Invite,
    Profile,
    SeasonOfProfile,
    Share,
)
from keyfold_systems.sellers.parts import Part, existing
from keyfold_systems.sellers.patterns import my_profiles, profile_by_id
from keyfold_systems.sellers.payloads import SellerProfile, Stated, seen_by_owner, seen_through
from keyfold_systems.sellers.seasons import delete_season
from keyfold_systems.sellers.values import CleanId
from keyfold_web import Identity, NotAllowed, PageRequest, authenticated, mutation, query


class ProfileOperations(Part):
    """Sellers."""

    @mutation(
        "/profiles",
        name="createSellerProfile",
        allow=authenticated,
        status=201,
        example={"seller_name": "Mara's cookies"},
    )
    async def create_seller_profile(self, seller_name: Stated, caller: Identity) -> SellerProfile:
        """Found a profile; you own it."""
        now = self.db.context.now()
        new = Profile(
            profile_id=new_ulid(),
            owner_account_id=caller.id,
            seller_name=seller_name,
            created_at=now,
            updated_at=now,
        )
        return seen_by_owner(await self.db.create(new))

    @query("/profiles/{profile_id}", name="getProfile", allow=authenticated)
    async def get_profile(self, profile_id: CleanId, caller: Identity) -> SellerProfile:
        """A profile that you own or that is shared with you."""
        found = await require(self.db, profile_id, caller, "READ")
        if found.is_owner:
            return seen_by_owner(found.profile)
        return seen_through(found.profile, list(found.permissions))

    @query("/profiles", name="listMyProfiles", allow=authenticated)
    async def list_my_profiles(self, page: PageRequest, caller: Identity) -> Page[SellerProfile]:
        """Your profiles, oldest first."""
        found = await my_profiles.after(page.cursor)(self.db, caller.id, limit=page.limit)
        shown = [seen_by_owner(one) for one in found if one.deleting_since is None]
        return Page(shown, found.cursor)

    @mutation(
        "/profiles/{profile_id}", name="updateSellerProfile", allow=authenticated, method="PUT"
    )
    async def update_seller_profile(
        self, profile_id: CleanId, seller_name: Stated, caller: Identity
    ) -> SellerProfile:
        """Rename a profile; its shares follow."""
        found = await require(self.db, profile_id, caller, "WRITE")
        renamed = await self.db.update(found.profile.ref(), seller_name=seller_name)
        if found.is_owner:
            return seen_by_owner(renamed)
        return seen_through(renamed, list(found.permissions))

    @mutation(
        "/profiles/{profile_id}", name="deleteSellerProfile", allow=authenticated, method="DELETE"
    )
    async def delete_seller_profile(self, profile_id: CleanId, caller: Identity) -> None:
        """Delete a profile with its shares, invites, seasons and orders.

        A deletion that was cut off lets nothing in, and goes on when it is repeated.
        """
        found = existing(await profile_by_id(self.db, profile_id), "profile", profile_id)
        if found.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("Only the owner of a profile may do this.")
        await delete_profile(self.db, profile_id)


async def delete_profile(db: AsyncDb, profile_id: str) -> None:
    """First nothing can be added any more; then what is there goes; the profile goes last."""
    ref = Profile.key(profile_id=profile_id)
    try:
        await db.update(ref, deleting_since=db.context.now())
    except NotFound:
        return  # somebody else was faster
    async for season in db.iterate(SeasonOfProfile.key.query(profile_id=profile_id).consistent()):
        await delete_season(db, season.season_id)
    await db.delete_collection(Share.key.query(profile_id=profile_id).consistent())
    async for invite in db.iterate(Invite.by_profile.query(profile_id=profile_id)):
        await db.delete(Invite.key(invite_code=invite.invite_code))
    await db.delete(ref)
