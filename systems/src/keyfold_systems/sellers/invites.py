"""Codes that become shares."""

from __future__ import annotations

import secrets
from datetime import timedelta

from keyfold import Page, create, put, update
from keyfold.conditions import missing
from keyfold.errors import ConditionFailed, NotFound
from keyfold_systems.sellers.access import access, require_owner
from keyfold_systems.sellers.entities import Invite
from keyfold_systems.sellers.parts import existing, names, profile_stays, write_checked
from keyfold_systems.sellers.patterns import (
    account,
    invite,
    invites_of_profile,
    profile_by_id,
)
from keyfold_systems.sellers.payloads import (
    InviteDetails,
    ListedInvite,
    NewInvite,
    SellerProfile,
    seen_through,
)
from keyfold_systems.sellers.shares import ShareOperations
from keyfold_systems.sellers.values import BOTH, CleanId, Permission
from keyfold_web import (
    Conflict,
    Identity,
    Missing,
    PageRequest,
    authenticated,
    mutation,
    query,
)


class InviteOperations(ShareOperations):
    """Invites of profiles."""

    @mutation("/invites", name="createProfileInvite", allow=authenticated, status=201)
    async def create_profile_invite(self, input: NewInvite, caller: Identity) -> Invite:
        """A code that somebody else can redeem."""
        profile = await require_owner(self.db, input.profile_id, caller)
        now = self.db.context.now()
        new = Invite(
            invite_code=secrets.token_hex(5).upper(),
            profile_id=profile.profile_id,
            permissions=input.permissions,
            created_by_account_id=caller.id,
            created_at=now,
            expires_at=now.replace(microsecond=0) + timedelta(days=input.expires_in_days),
        )
        made: Invite = await write_checked(self.db, create(new), profile_stays(profile.profile_id))
        return made

    @mutation("/invites/{invite_code}/redeem", name="redeemProfileInvite", allow=authenticated)
    async def redeem_profile_invite(self, invite_code: str, caller: Identity) -> SellerProfile:
        """Use a code, once: the invite and the share change together."""
        found = existing(await invite(self.db, invite_code), "invite", invite_code)
        if found.used_at is not None:
            raise Conflict(_USED, code="USED")
        had = await access(self.db, found.profile_id, caller)
        if had.is_owner:
            raise Conflict("You own this profile.", code="OWNER")
        mine = await account(self.db, caller.id)
        if mine is None:
            raise Conflict("Create your account first.", code="NO_ACCOUNT")
        # Nobody loses by a code; what an administrator may do is no share.
        kept = () if caller.is_admin else had.permissions
        permissions: tuple[Permission, ...] = tuple(
            one for one in BOTH if one in (*found.permissions, *kept)
        )
        share = self.new_share(had.profile, caller.id, permissions, found.created_by_account_id)
        now = share.created_at
        try:
            await self.db.transact(
                update(
                    found.ref(),
                    used_at=now,
                    used_by_account_id=caller.id,
                    where=lambda i: missing(i.used_at) & (i.expires_at > now),
                ),
                put(share),
                profile_stays(found.profile_id),
            )
        except (ConditionFailed, NotFound):
            raise Conflict(_USED, code="USED") from None
        return seen_through(had.profile, list(permissions))

    @mutation(
        "/invites/{invite_code}", name="revokeProfileInvite", allow=authenticated, method="DELETE"
    )
    async def revoke_profile_invite(self, invite_code: str, caller: Identity) -> None:
        """Make a code worthless."""
        found = existing(await invite(self.db, invite_code), "invite", invite_code)
        await require_owner(self.db, found.profile_id, caller)
        await self.db.delete(found.ref())

    @query("/profiles/{profile_id}/invites", name="listInvitesByProfile", allow=authenticated)
    async def list_invites_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[ListedInvite]:
        """The invites of your profile that have not expired."""
        await require_owner(self.db, profile_id, caller)
        found = await invites_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)
        people = await names(self.db, (one.used_by_account_id for one in found))
        given = {id: one.given_name for id, one in people.items()}
        shown = [
            ListedInvite(**one.model_dump(), used_by_name=given.get(one.used_by_account_id or ""))
            for one in found
        ]
        return Page(shown, found.cursor)

    @query("/invites/{invite_code}", name="getInviteDetails", allow=authenticated)
    async def get_invite_details(self, invite_code: str) -> InviteDetails:
        """What a code would give you."""
        found = existing(await invite(self.db, invite_code), "invite", invite_code)
        profile = await profile_by_id(self.db, found.profile_id)
        if profile is None or profile.deleting_since is not None:
            raise Missing.of("invite", invite_code)
        return InviteDetails(
            invite_code=found.invite_code,
            profile_id=found.profile_id,
            seller_name=profile.seller_name,
            permissions=list(found.permissions),
            expires_at=found.expires_at,
            used=found.used_at is not None,
        )


_USED = "This invite has been used or has expired."
