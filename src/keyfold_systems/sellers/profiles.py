"""Profiles, who shares them, and invites."""

from __future__ import annotations

import secrets
from datetime import timedelta

from keyfold import Page, new_ulid
from keyfold.api import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    NotAllowed,
    PageRequest,
    authenticated,
    mutation,
    query,
)
from keyfold_systems.sellers.access import BOTH, access, require, require_owner
from keyfold_systems.sellers.design import Invite, Profile, Share, account_by_email
from keyfold_systems.sellers.parts import Part, every, there
from keyfold_systems.sellers.payloads import (
    InviteDetails,
    NewInvite,
    NewShare,
    SellerProfile,
    Stated,
    seen_by_owner,
    seen_in_share,
    seen_through,
)
from keyfold_systems.sellers.seasons import delete_season
from keyfold_systems.sellers.values import CleanId, Permission


class ProfileOperations(Part):
    """Profiles with their shares and invites."""

    @mutation(
        "/profiles",
        name="createSellerProfile",
        allow=authenticated,
        status=201,
        example={"seller_name": "Mara's cookies"},
    )
    async def create_seller_profile(self, seller_name: Stated, caller: Identity) -> SellerProfile:
        """Found a profile; you own it."""
        layout = self.layout
        now = self.db.context.now()
        new = Profile(
            profile_id=new_ulid(),
            owner_account_id=caller.id,
            seller_name=seller_name,
            created_at=now,
            updated_at=now,
        )
        return seen_by_owner(await layout.profiles.create(new))

    @query("/profiles/{profile_id}", name="getProfile", allow=authenticated)
    async def get_profile(self, profile_id: CleanId, caller: Identity) -> SellerProfile:
        """A profile that you own or that is shared with you."""
        layout = self.layout
        found = await require(layout, profile_id, caller, "READ")
        if found.is_owner:
            return seen_by_owner(found.profile)
        return seen_through(found.profile, list(found.permissions))

    @query("/profiles", name="listMyProfiles", allow=authenticated)
    async def list_my_profiles(self, page: PageRequest, caller: Identity) -> Page[SellerProfile]:
        """Your profiles, oldest first."""
        layout = self.layout
        found = await layout.profiles.owned_by(caller.id, page)
        shown = [seen_by_owner(p) for p in found if p.deleting_since is None]
        return Page(shown, found.cursor)

    @mutation(
        "/profiles/{profile_id}", name="updateSellerProfile", allow=authenticated, method="PUT"
    )
    async def update_seller_profile(
        self, profile_id: CleanId, seller_name: Stated, caller: Identity
    ) -> SellerProfile:
        """Rename a profile, also where it is shown to others."""
        layout = self.layout
        found = await require(layout, profile_id, caller, "WRITE")
        now = self.db.context.now()
        renamed = await layout.profiles.rename(found.profile, seller_name, now)
        if found.is_owner:
            return seen_by_owner(renamed)
        return seen_through(renamed, list(found.permissions))

    @mutation(
        "/profiles/{profile_id}", name="deleteSellerProfile", allow=authenticated, method="DELETE"
    )
    async def delete_seller_profile(self, profile_id: CleanId, caller: Identity) -> None:
        """Delete a profile with its shares, invites, seasons and orders.

        First nothing can be added any more; then what is there goes; the profile goes last, so
        that a deletion that was cut off can be repeated.
        """
        layout = self.layout
        profile = await layout.profiles.find(profile_id)
        if profile is None:
            raise Missing("There is no such profile.")
        if profile.owner_account_id != caller.id and not caller.is_admin:
            raise NotAllowed("Only the owner of a profile may do this.")
        await layout.profiles.close(profile, self.db.context.now())
        async for season in every(lambda p: layout.seasons.of_profile(profile_id, p)):
            await delete_season(layout, season, self.db.context.now())
        await layout.profiles.delete(profile)

    @mutation(
        "/shares",
        name="shareProfileDirect",
        allow=authenticated,
        status=201,
        example={
            "input": {
                "profileId": "profileId",
                "targetAccountEmail": "ada@example.org",
                "permissions": ["READ"],
            }
        },
    )
    async def share_profile_direct(self, input: NewShare, caller: Identity) -> Share:
        """Give somebody permissions on your profile."""
        layout = self.layout
        profile = await require_owner(layout, input.profile_id, caller)
        target = await self._target(input)
        if target == profile.owner_account_id:
            raise Invalid("targetAccountId", "the owner has all permissions already")
        return await layout.profiles.put_share(
            profile, self._new_share(profile, target, input.permissions, caller.id)
        )

    @mutation(
        "/profiles/{profile_id}/shares/{target_account_id}",
        name="revokeShare",
        allow=authenticated,
        method="DELETE",
    )
    async def revoke_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> None:
        """Take permissions back; who has them may give them up."""
        layout = self.layout
        if target_account_id != caller.id:
            await require_owner(layout, profile_id, caller)
        await layout.profiles.delete_share(profile_id, target_account_id)

    @query(
        "/profiles/{profile_id}/shares/{target_account_id}", name="getShare", allow=authenticated
    )
    async def get_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> Share:
        """What somebody may do with a profile."""
        layout = self.layout
        if target_account_id != caller.id:
            await require_owner(layout, profile_id, caller)
        return there(await layout.profiles.share(profile_id, target_account_id), "share")

    @query("/profiles/{profile_id}/shares", name="listSharesByProfile", allow=authenticated)
    async def list_shares_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Share]:
        """Who may use your profile."""
        layout = self.layout
        await require_owner(layout, profile_id, caller)
        return await layout.profiles.shares(profile_id, page)

    @query("/shared-profiles", name="listSharedProfiles", allow=authenticated)
    async def list_shared_profiles(
        self, page: PageRequest, caller: Identity
    ) -> Page[SellerProfile]:
        """The profiles shared with you, from the shares alone."""
        layout = self.layout
        shares = await layout.profiles.shared_with(caller.id, page)
        named = await layout.profiles.names(shares.items)
        shown = []
        for share in shares:
            profile = named.get(share.profile_id)
            if profile is None:
                shown.append(seen_in_share(share))
            elif profile.deleting_since is None:
                shown.append(seen_through(profile, list(share.permissions)))
        return Page(shown, shares.cursor)

    @mutation("/invites", name="createProfileInvite", allow=authenticated, status=201)
    async def create_profile_invite(self, input: NewInvite, caller: Identity) -> Invite:
        """A code that somebody else can redeem."""
        layout = self.layout
        profile = await require_owner(layout, input.profile_id, caller)
        now = self.db.context.now().replace(microsecond=0)
        new = Invite(
            invite_code=secrets.token_hex(5).upper(),
            profile_id=profile.profile_id,
            permissions=input.permissions,
            created_by_account_id=caller.id,
            created_at=self.db.context.now(),
            expires_at=now + timedelta(days=input.expires_in_days),
        )
        return await layout.profiles.create_invite(profile, new)

    @mutation("/invites/{invite_code}/redeem", name="redeemProfileInvite", allow=authenticated)
    async def redeem_profile_invite(self, invite_code: str, caller: Identity) -> SellerProfile:
        """Use a code, once: the invite and the share change together."""
        layout = self.layout
        invite = there(await layout.profiles.invite(invite_code), "invite")
        if invite.used_at is not None:
            raise Conflict("This invite has been used or has expired.", code="USED")
        found = await access(layout, invite.profile_id, caller)
        if found.is_owner:
            raise Conflict("You own this profile.", code="OWNER")
        # Nobody loses by a code; what an administrator may do is no share.
        had = () if caller.is_admin else found.permissions
        permissions = tuple(one for one in BOTH if one in (*invite.permissions, *had))
        share = self._new_share(found.profile, caller.id, permissions, invite.created_by_account_id)
        await layout.profiles.redeem(found.profile, invite, share, self.db.context.now())
        return seen_through(found.profile, list(permissions))

    @mutation(
        "/invites/{invite_code}", name="revokeProfileInvite", allow=authenticated, method="DELETE"
    )
    async def revoke_profile_invite(self, invite_code: str, caller: Identity) -> None:
        """Make a code worthless."""
        layout = self.layout
        invite = there(await layout.profiles.invite(invite_code), "invite")
        await require_owner(layout, invite.profile_id, caller)
        await layout.profiles.delete_invite(invite)

    @query("/profiles/{profile_id}/invites", name="listInvitesByProfile", allow=authenticated)
    async def list_invites_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Invite]:
        """The invites of your profile that have not expired."""
        layout = self.layout
        await require_owner(layout, profile_id, caller)
        return await layout.profiles.invites(profile_id, page)

    @query("/invites/{invite_code}", name="getInviteDetails", allow=authenticated)
    async def get_invite_details(
        self,
        invite_code: str,
        caller: Identity,  # noqa: ARG002
    ) -> InviteDetails:
        """What a code would give you."""
        layout = self.layout
        invite = there(await layout.profiles.invite(invite_code), "invite")
        profile = there(await layout.profiles.find(invite.profile_id), "invite")
        return InviteDetails(
            invite_code=invite.invite_code,
            profile_id=invite.profile_id,
            seller_name=profile.seller_name,
            permissions=list(invite.permissions),
            expires_at=invite.expires_at,
            used=invite.used_at is not None,
        )

    async def _target(self, input: NewShare) -> str:
        if input.target_account_id is not None:
            return input.target_account_id
        if input.target_account_email is None:
            raise Invalid("targetAccountEmail", "give an address or an account id")
        found = await account_by_email(self.db, input.target_account_email.casefold())
        if found is None:
            raise Invalid("targetAccountEmail", "nobody has this address")
        return found.account_id

    def _new_share(
        self, profile: Profile, target: str, permissions: tuple[Permission, ...], by: str
    ) -> Share:
        return Share(
            profile_id=profile.profile_id,
            target_account_id=target,
            permissions=permissions,
            created_at=self.db.context.now(),
            created_by_account_id=by,
        )
