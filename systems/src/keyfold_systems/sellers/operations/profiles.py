"""Accounts and profiles."""

from __future__ import annotations

from contextlib import suppress

from keyfold import Page, new_ulid
from keyfold.errors import AlreadyExists, NotFound, UniqueTaken
from keyfold_systems.sellers import patterns
from keyfold_systems.sellers.entities import Account, Invite, Profile, Season, Share
from keyfold_systems.sellers.operations.access import Part
from keyfold_systems.sellers.values import CleanId
from keyfold_systems.sellers.views import AccountChange, NewAccount, SellerProfile, Stated
from keyfold_web import (
    Identity,
    Missing,
    NotAllowed,
    NotAuthenticated,
    PageRequest,
    admin,
    authenticated,
    mutation,
    query,
)


class Profiles(Part):
    """Accounts and profiles."""

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in makes the account, with the address that the issuer knows.

        An id loses what is before its last `#`: such a caller would be another one.
        """
        if "#" in caller.id:
            raise NotAuthenticated("A subject that holds # has no account here.", code="BAD_TOKEN")
        if caller.email is not None and "@" in caller.email:
            new = Account(account_id=caller.id, email=caller.email, given_name=caller.name[:200])
            with suppress(AlreadyExists, UniqueTaken):
                await self.db.create(new)

    @mutation("/accounts", allow=authenticated, status=201)
    async def create_my_account(self, input: NewAccount, caller: Identity) -> Account:
        """Create your account; an address has one account."""
        return await self.db.create(Account(account_id=caller.id, **dict(input)))

    @query("/accounts/me", allow=authenticated)
    async def get_my_account(self, caller: Identity) -> Account:
        """Your account."""
        return Missing.unless(await patterns.account(self.db, caller.id), "account", caller.id)

    @mutation("/accounts/me", allow=authenticated, method="PATCH")
    async def update_my_account(self, input: AccountChange, caller: Identity) -> Account:
        """Change your address or your name."""
        return await self.db.update(Account.key(account_id=caller.id), **input.given())

    @query("/account-by-email", allow=admin)
    async def get_account_by_email(self, email: str) -> Account:
        """The account with an address: for the sign-in service."""
        found = await patterns.account_by_email(self.db, email.casefold())
        return Missing.unless(found, "account", email)

    @mutation("/profiles", allow=authenticated, status=201)
    async def create_seller_profile(self, seller_name: Stated, caller: Identity) -> SellerProfile:
        """Create a profile; you own it."""
        new = Profile(
            owner_account_id=caller.id,
            profile_id=new_ulid(),
            seller_name=seller_name,
            created_at=self.db.context.now(),
        )
        return SellerProfile.for_caller(await self.db.create(new))

    @query("/profiles/{profile_id}", allow=authenticated)
    async def get_seller_profile(self, profile_id: CleanId, caller: Identity) -> SellerProfile:
        """A profile that you own or that is shared with you."""
        return (await self.require(profile_id, caller, "READ")).view

    @query("/profiles", allow=authenticated)
    async def list_my_profiles(self, page: PageRequest, caller: Identity) -> Page[SellerProfile]:
        """Your profiles."""
        found = await page.read(self.db, patterns.my_profiles, caller.id)
        shown = [SellerProfile.for_caller(one) for one in found if one.deleting_since is None]
        return Page(shown, found.cursor)

    @mutation("/profiles/{profile_id}", allow=authenticated, method="PUT")
    async def update_seller_profile(
        self, profile_id: CleanId, seller_name: Stated, caller: Identity
    ) -> SellerProfile:
        """Rename a profile."""
        found = await self.require(profile_id, caller, "WRITE")
        renamed = await self.db.update(found.profile.ref(), seller_name=seller_name)
        return SellerProfile.for_caller(renamed, None if found.is_owner else found.permissions)

    @mutation("/profiles/{profile_id}", allow=authenticated, method="DELETE")
    async def delete_seller_profile(self, profile_id: CleanId, caller: Identity) -> None:
        """Delete a profile with its shares, invites, seasons and orders.

        First nothing can be added any more; then what is there goes, and the profile last. A
        deletion that was cut off goes on when it is repeated.
        """
        found = await patterns.profile(self.db, caller.id, profile_id)
        if found is None:
            found = await patterns.profile_by_id(self.db, profile_id)
            if found is None:
                raise Missing.of("profile", profile_id)
            if not caller.is_admin:
                raise NotAllowed("Only the owner of a profile may do this.")
        with suppress(NotFound):  # another request was faster
            await self.db.update(found.ref(), deleting_since=self.db.context.now())
            async for season in self.db.iterate(
                Season.key.query(profile_id=profile_id).consistent()
            ):
                await self.db.delete(season.ref())
            await self.db.delete_collection(Share.key.query(profile_id=profile_id).consistent())
            async for invite in self.db.iterate(Invite.by_profile.query(profile_id=profile_id)):
                await self.db.delete(invite.ref())
            await self.db.delete(found.ref())
