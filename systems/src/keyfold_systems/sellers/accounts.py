"""Accounts."""

from __future__ import annotations

from contextlib import suppress

from keyfold.errors import AlreadyExists, UniqueTaken
from keyfold_systems.sellers.entities import Account
from keyfold_systems.sellers.parts import Part, existing
from keyfold_systems.sellers.patterns import account, account_by_email
from keyfold_systems.sellers.payloads import AccountChanges, NewAccount
from keyfold_systems.sellers.values import CleanId
from keyfold_web import Identity, NotAuthenticated, admin, authenticated, itself, mutation, query


class AccountOperations(Part):
    """Who signs in."""

    async def welcome(self, caller: Identity) -> None:
        """A first sign-in makes the account, with the address that the issuer knows.

        An id loses what is before its last `#`: such a caller would be somebody else.
        """
        if "#" in caller.id:
            raise NotAuthenticated("A subject that holds # has no account here.", code="BAD_TOKEN")
        if caller.email is not None and "@" in caller.email:
            new = Account(account_id=caller.id, email=caller.email, given_name=caller.name[:200])
            with suppress(AlreadyExists, UniqueTaken):
                await self.db.create(new)

    @mutation("/accounts", name="createMyAccount", allow=authenticated, status=201)
    async def create_my_account(self, input: NewAccount, caller: Identity) -> Account:
        """Sign up: one account for one address."""
        new = Account(account_id=caller.id, email=input.email, given_name=input.given_name)
        return await self.db.create(new)

    @query("/accounts/me", name="getMyAccount", allow=authenticated)
    async def get_my_account(self, caller: Identity) -> Account:
        """Your account."""
        return existing(await account(self.db, caller.id), "account", caller.id)

    @mutation("/accounts/me", name="updateMyAccount", allow=authenticated, method="PATCH")
    async def update_my_account(self, input: AccountChanges, caller: Identity) -> Account:
        """Change your address or your name."""
        existing(await account(self.db, caller.id), "account", caller.id)
        return await self.db.update(Account.key(account_id=caller.id), **input.given())

    @query("/accounts/{account_id}", name="getAccount", allow=itself("account_id") | admin)
    async def get_account(self, account_id: CleanId) -> Account:
        """An account."""
        return existing(await account(self.db, account_id), "account", account_id)

    @query("/account-by-email", name="getAccountByEmail", allow=admin)
    async def get_account_by_email(self, email: str) -> Account:
        """The account with an address."""
        return existing(await account_by_email(self.db, email.casefold()), "account", email)
