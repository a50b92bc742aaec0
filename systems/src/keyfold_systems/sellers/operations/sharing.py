"""Shares of a profile, and the codes that become shares."""

from __future__ import annotations

import secrets
from datetime import timedelta

from keyfold import Page, create, put, update
from keyfold.conditions import missing
from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import Account, Invite, Profile, Share
from keyfold_systems.sellers.operations.access import Part, stays, there
from keyfold_systems.sellers.values import BOTH, CleanId
from keyfold_systems.sellers.views import (
    Helper,
    InviteDetails,
    ListedInvite,
    NewInvite,
    NewShare,
    SellerProfile,
)
from keyfold_web import (
    Conflict,
    Identity,
    Invalid,
    Missing,
    PageRequest,
    authenticated,
    mutation,
    query,
)


class Sharing(Part):
    """Shares and invites; the owner of a profile gives them."""

    @mutation("/shares", allow=authenticated, status=201)
    async def share_profile_direct(self, input: NewShare, caller: Identity) -> Share:
        """Give another account permissions on your profile."""
        profile = await self.own(input.profile_id, caller)
        target = await self._target(input)
        if target == profile.owner_account_id:
            by = "targetAccountId" if input.target_account_id else "targetAccountEmail"
            raise Invalid(by, "the owner has all permissions already")
        share = Share(
            profile_id=profile.profile_id,
            target_account_id=target,
            permissions=input.permissions,
            created_at=self.db.context.now(),
            created_by_account_id=caller.id,
        )
        made, _ = await self.db.transact(put(share), stays(profile))
        return made

    @mutation(
        "/profiles/{profile_id}/shares/{target_account_id}", allow=authenticated, method="DELETE"
    )
    async def revoke_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> None:
        """Revoke a share; its target may do so too."""
        if target_account_id != caller.id:
            await self.own(profile_id, caller)
        ref = Share.key(profile_id=profile_id, target_account_id=target_account_id)
        await self.db.delete(ref, must_exist=True)

    @query("/profiles/{profile_id}/shares/{target_account_id}", allow=authenticated)
    async def get_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> Share:
        """What an account may do with a profile."""
        if target_account_id != caller.id:
            await self.own(profile_id, caller)
        found = await patterns.share(self.db, profile_id, target_account_id)
        return Missing.unless(found, "share", target_account_id)

    @query("/profiles/{profile_id}/shares", allow=authenticated)
    async def list_shares_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Helper]:
        """The accounts that may use your profile."""
        await self.own(profile_id, caller)
        found = await page.read(self.db, patterns.shares_of_profile, profile_id)
        refs = [Account.key(account_id=one.target_account_id) for one in found]
        people = await self.db.get_many(refs)
        shown = [
            Helper.of(one, given_name=who.given_name if who else "", email=who.email if who else "")
            for one, who in zip(found, people, strict=True)
        ]
        return Page(shown, found.cursor)

    @query("/shared-profiles", allow=authenticated)
    async def list_shared_profiles(
        self, page: PageRequest, caller: Identity
    ) -> Page[SellerProfile]:
        """The profiles shared with you."""
        found = await page.read(self.db, patterns.shared_with, caller.id)
        refs = [
            Profile.key(owner_account_id=one.created_by_account_id, profile_id=one.profile_id)
            for one in found
        ]
        shared = []
        for share, known in zip(found, await self.db.get_many(refs), strict=True):
            profile = known or await self.shared(share)
            if profile is not None and profile.deleting_since is None:
                shared.append((profile, share.permissions))
        names = await self.names(one.owner_account_id for one, _ in shared)
        shown = [
            SellerProfile.for_caller(one, permissions, names[one.owner_account_id])
            for one, permissions in shared
        ]
        return Page(shown, found.cursor)

    @mutation("/invites", allow=authenticated, status=201)
    async def create_profile_invite(self, input: NewInvite, caller: Identity) -> Invite:
        """Create a code that another account can redeem."""
        profile = await self.own(input.profile_id, caller)
        now, code = self.db.context.now(), secrets.token_hex(5).upper()
        new = Invite(
            invite_code=f"{code[:8]}-{code[8]}",
            profile_id=profile.profile_id,
            permissions=input.permissions,
            created_by_account_id=caller.id,
            created_at=now,
            expires_at=now.replace(microsecond=0) + timedelta(days=input.expires_in_days),
        )
        made, _ = await self.db.transact(create(new), stays(profile))
        return made

    @mutation("/invites/{invite_code}/redeem", allow=authenticated)
    async def redeem_profile_invite(self, invite_code: str, caller: Identity) -> SellerProfile:
        """Redeem a code; the invite and the share change together."""
        found, profile = await self._invite(invite_code)
        if found.used_at is not None:
            raise Conflict("This invite has been used.", code="USED")
        if profile.owner_account_id == caller.id:
            raise Conflict("You own this profile.", code="OWNER")
        if await patterns.account(self.db, caller.id) is None:
            raise Conflict("Create your account first.", code="NO_ACCOUNT")
        had = await patterns.share(self.db, profile.profile_id, caller.id)
        given = (*found.permissions, *(had.permissions if had else ()))
        now = self.db.context.now()
        share = Share(
            profile_id=profile.profile_id,
            target_account_id=caller.id,
            permissions=tuple(one for one in BOTH if one in given),
            created_at=now,
            created_by_account_id=found.created_by_account_id,
        )
        await self.db.transact(
            update(
                found.ref(),
                used_at=now,
                used_by_account_id=caller.id,
                where=lambda i: missing(i.used_at) & (i.expires_at > now),
            ),
            put(share),
            stays(profile),
        )
        return SellerProfile.for_caller(profile, share.permissions)

    @mutation("/invites/{invite_code}", allow=authenticated, method="DELETE")
    async def revoke_profile_invite(self, invite_code: str, caller: Identity) -> None:
        """Revoke a code."""
        found = Missing.unless(await patterns.invite(self.db, invite_code), "invite", invite_code)
        await self.own(found.profile_id, caller)
        await self.db.delete(found.ref())

    @query("/profiles/{profile_id}/invites", allow=authenticated)
    async def list_invites_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[ListedInvite]:
        """The invites of your profile that have not expired."""
        await self.own(profile_id, caller)
        found = await page.read(self.db, patterns.invites_of_profile, profile_id)
        names = await self.names(one.used_by_account_id or "" for one in found if one.used_at)
        shown = [
            ListedInvite.of(one, used_by_name=names.get(one.used_by_account_id or "", ""))
            for one in found
        ]
        return Page(shown, found.cursor)

    @query("/invites/{invite_code}", allow=authenticated)
    async def get_invite_details(self, invite_code: str) -> InviteDetails:
        """What a code gives."""
        found, profile = await self._invite(invite_code)
        used = found.used_at is not None
        return InviteDetails.of(found, seller_name=profile.seller_name, used=used)

    async def _invite(self, invite_code: str) -> tuple[Invite, Profile]:
        """An invite and its profile."""
        found = Missing.unless(await patterns.invite(self.db, invite_code), "invite", invite_code)
        return found, there(await self.shared(found), found.profile_id)

    async def _target(self, input: NewShare) -> str:
        id, address = input.target_account_id, input.target_account_email
        if id is not None and address is None:
            by, found = "targetAccountId", await patterns.account(self.db, id)
        elif address is not None and id is None:
            by = "targetAccountEmail"
            found = await patterns.account_by_email(self.db, address.casefold())
        else:
            raise Invalid("targetAccountEmail", "give an address or an account id")
        if found is None:
            raise Invalid(by, "no account has it")
        return found.account_id
