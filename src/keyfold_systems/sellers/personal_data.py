"""Everything of one account: to take along, and to delete."""

from __future__ import annotations

from keyfold import Page, update
from keyfold.api import Identity, Missing, PageRequest, authenticated, mutation, query
from keyfold_systems.sellers.catalogs import delete_unused
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    Invite,
    InviteOfProfile,
    ProfileOfOwner,
    Share,
)
from keyfold_systems.sellers.export import Bookmark, step
from keyfold_systems.sellers.parts import Part
from keyfold_systems.sellers.patterns import account
from keyfold_systems.sellers.payloads import ExportedRecord
from keyfold_systems.sellers.profiles import delete_profile

NOBODY = "nobody"
"""Owns the catalogs of deleted accounts from which others still sell."""


class PersonalDataOperations(Part):
    """Your data is yours."""

    @query("/accounts/me/export", name="exportMyAccount", allow=authenticated)
    async def export_my_account(self, page: PageRequest, caller: Identity) -> Page[ExportedRecord]:
        """All that is stored of you, record by record; go on with the cursor until there is none.

        A page is of one kind of record and may be short, never empty but at the end.
        """
        place: Bookmark | None = Bookmark.read(page.cursor)
        records: list[ExportedRecord] = []
        while place is not None and not records:
            records, place = await step(self.db, caller.id, place, page.limit)
        return Page(records, place.text() if place is not None else None)

    @mutation("/accounts/me", name="deleteMyAccount", allow=authenticated, method="DELETE")
    async def delete_my_account(self, caller: Identity) -> None:
        """Delete your account with profiles, seasons, orders, shares, invites and catalogs.

        A catalog from which others sell stays, private and nobody's. A deletion that was cut off
        goes on when it is repeated.
        """
        ref = Account.key(account_id=caller.id)
        mine = await account(self.db, caller.id)
        found = int(mine is not None)
        if mine is not None:
            await self.db.update(ref, deleting_since=self.db.context.now())
        async for share in self.db.iterate(Share.by_target.query(target_account_id=caller.id)):
            await self._forget(share)
            found += 1
        profiles = ProfileOfOwner.key.query(owner_account_id=caller.id).consistent()
        async for profile in self.db.iterate(profiles):
            await delete_profile(self.db, profile.profile_id)
            found += 1
        catalogs = Catalog.by_owner.query(owner_account_id=caller.id)
        async for catalog in self.db.iterate(catalogs):
            if not await delete_unused(self.db, catalog):
                await self.db.update(catalog.ref(), owner_account_id=NOBODY, is_public=False)
            found += 1
        if not found:
            raise Missing("There is nothing of you.")
        await self.db.delete(ref)

    async def _forget(self, share: Share) -> None:
        """A share, and that an invite of the profile was used by who had it."""
        query = InviteOfProfile.key.query(profile_id=share.profile_id).consistent()
        async for invite in self.db.iterate(query):
            if invite.used_by_account_id == share.target_account_id:
                code = Invite.key(invite_code=invite.invite_code)
                await self.db.transact(update(code, used_by_account_id=None))
        await self.db.delete(share.ref())
