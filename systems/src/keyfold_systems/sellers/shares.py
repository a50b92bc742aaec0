"""Who else may use a profile."""

from __future__ import annotations

from keyfold import Page, put
from keyfold_systems.sellers.access import require_owner
from keyfold_systems.sellers.entities import Account, Profile, Share
from keyfold_systems.sellers.parts import Part, existing, names, profile_stays, write_checked
from keyfold_systems.sellers.patterns import (
    account,
    account_by_email,
    share,
    shared_with,
    shares_of_profile,
)
from keyfold_systems.sellers.payloads import (
    Helper,
    NewShare,
    SellerProfile,
    seen_in_share,
    seen_through,
)
from keyfold_systems.sellers.values import CleanId, Permissions
from keyfold_web import Identity, Invalid, PageRequest, authenticated, mutation, query


class ShareOperations(Part):
    """Permissions on profiles."""

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
        profile = await require_owner(self.db, input.profile_id, caller)
        target = (await self._target(input)).account_id
        if target == profile.owner_account_id:
            by = "targetAccountId" if input.target_account_id else "targetAccountEmail"
            raise Invalid(by, "the owner has all permissions already")
        new = self.new_share(profile, target, input.permissions, caller.id)
        shared: Share = await write_checked(self.db, put(new), profile_stays(profile.profile_id))
        return shared

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
        if target_account_id != caller.id:
            await require_owner(self.db, profile_id, caller)
        ref = Share.key(profile_id=profile_id, target_account_id=target_account_id)
        await self.db.delete(ref, must_exist=True)

    @query(
        "/profiles/{profile_id}/shares/{target_account_id}", name="getShare", allow=authenticated
    )
    async def get_share(
        self, profile_id: CleanId, target_account_id: CleanId, caller: Identity
    ) -> Share:
        """What somebody may do with a profile."""
        if target_account_id != caller.id:
            await require_owner(self.db, profile_id, caller)
        return existing(
            await share(self.db, profile_id, target_account_id), "share", target_account_id
        )

    @query("/profiles/{profile_id}/shares", name="listSharesByProfile", allow=authenticated)
    async def list_shares_by_profile(
        self, profile_id: CleanId, page: PageRequest, caller: Identity
    ) -> Page[Helper]:
        """Who may use your profile, by name."""
        await require_owner(self.db, profile_id, caller)
        found = await shares_of_profile.after(page.cursor)(self.db, profile_id, limit=page.limit)
        people = await names(self.db, (one.target_account_id for one in found))
        shown = [Helper.of(one, people.get(one.target_account_id)) for one in found]
        return Page(shown, found.cursor)

    @query("/shared-profiles", name="listSharedProfiles", allow=authenticated)
    async def list_shared_profiles(
        self, page: PageRequest, caller: Identity
    ) -> Page[SellerProfile]:
        """The profiles shared with you, and whose they are; from the shares, not the profiles."""
        found = await shared_with.after(page.cursor)(self.db, caller.id, limit=page.limit)
        # A share of an application from before has no name until the consumer has seen it.
        unnamed = [Profile.key(profile_id=s.profile_id) for s in found if s.seller_name is None]
        profiles = {p.profile_id: p for p in await self.db.get_many(unnamed) if p is not None}
        seen: list[SellerProfile] = []
        for one in found:
            profile = profiles.get(one.profile_id)
            if one.seller_name is not None:
                seen.append(seen_in_share(one))
            elif profile is not None and profile.deleting_since is None:
                seen.append(seen_through(profile, list(one.permissions)))
        owners = await names(self.db, (one.owner_account_id for one in seen))
        shown = [one.with_owner(owners.get(one.owner_account_id)) for one in seen]
        return Page(shown, found.cursor)

    async def _target(self, input: NewShare) -> Account:
        id, address = input.target_account_id, input.target_account_email
        if id is not None and address is None:
            by, found = "targetAccountId", await account(self.db, id)
        elif address is not None and id is None:
            by = "targetAccountEmail"
            found = await account_by_email(self.db, address.casefold())
        else:
            raise Invalid("targetAccountEmail", "give an address or an account id")
        if found is None:
            raise Invalid(by, "nobody has this account")
        return found

    def new_share(self, profile: Profile, target: str, permissions: Permissions, by: str) -> Share:
        """A share, with what a list shows of its profile."""
        return Share(
            profile_id=profile.profile_id,
            target_account_id=target,
            permissions=permissions,
            owner_account_id=profile.owner_account_id,
            seller_name=profile.seller_name,
            profile_created_at=profile.created_at,
            profile_updated_at=profile.updated_at,
            created_at=self.db.context.now(),
            created_by_account_id=by,
        )
