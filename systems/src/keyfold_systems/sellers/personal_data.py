"""Everything of one account: to take along, and to delete."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from keyfold import update
from keyfold_web import Belonging, Identity, Missing, PersonalData, authenticated, mutation
from keyfold.errors import NotFound
from keyfold_systems.sellers.catalogs import delete_unused
from keyfold_systems.sellers.entities import (
    Account,
    Catalog,
    Invite,
    InviteOfProfile,
    Order,
    ProfileOfOwner,
    SeasonOfProfile,
    Share,
)
from keyfold_systems.sellers.inbox import inbox
from keyfold_systems.sellers.oversight import Report, Suspension, trail
from keyfold_systems.sellers.parts import Part
from keyfold_systems.sellers.patterns import account
from keyfold_systems.sellers.profiles import delete_profile

NOBODY = "nobody"
"""Owns the catalogs of deleted accounts from which others still sell."""


async def depart(service: PersonalDataOperations, mine: Account, caller: Identity) -> None:
    """Delete an account with all that is its own."""
    await service.delete_account(mine.account_id, caller)


async def forget_share(service: PersonalDataOperations, share: Share, _: Identity) -> None:
    """A share, and that an invite of the profile was used by who had it."""
    query = InviteOfProfile.key.query(profile_id=share.profile_id).consistent()
    async for invite in service.db.iterate(query):
        if invite.used_by_account_id == share.target_account_id:
            code = Invite.key(invite_code=invite.invite_code)
            with suppress(NotFound):
                await service.db.transact(update(code, used_by_account_id=None))
    await service.db.delete(share.ref())


async def close_profile(
    service: PersonalDataOperations, profile: ProfileOfOwner, _: Identity
) -> None:
    await delete_profile(service.db, profile.profile_id)


async def give_up(service: PersonalDataOperations, catalog: Catalog, _: Identity) -> None:
    """A catalog from which others sell stays, private and nobody's."""
    if not await delete_unused(service.db, catalog):
        await service.db.update(catalog.ref(), owner_account_id=NOBODY, is_public=False)


async def drop_report(service: PersonalDataOperations, report: Report, _: Identity) -> None:
    await service.db.delete(report.ref())


_SEASONS = Belonging(
    "season",
    lambda profile: SeasonOfProfile.key.query(profile_id=profile.profile_id).consistent(),
    inside=(
        Belonging("order", lambda season: Order.key.query(season_id=season.season_id).consistent()),
    ),
)


class PersonalDataOperations(PersonalData, Part):
    """Your data is yours."""

    personal: ClassVar[Sequence[Belonging]] = (
        Belonging("account", lambda id: Account.key(account_id=id), leave=depart),
        Belonging(
            "share", lambda id: Share.by_target.query(target_account_id=id), leave=forget_share
        ),
        Belonging(
            "profile",
            lambda id: ProfileOfOwner.key.query(owner_account_id=id).consistent(),
            leave=close_profile,
            inside=(
                Belonging("helper", lambda one: Share.key.query(profile_id=one.profile_id)),
                Belonging(
                    "invite", lambda one: InviteOfProfile.key.query(profile_id=one.profile_id)
                ),
                _SEASONS,
            ),
        ),
        Belonging("catalog", lambda id: Catalog.by_owner.query(owner_account_id=id), leave=give_up),
        Belonging("report", trail.reported_by, leave=drop_report),
        Belonging("report about", trail.reports_about, listed=False, leave=drop_report),
        inbox.belonging(),
        Belonging("suspension", lambda id: Suspension.key(user_id=id), kept=True),
    )

    @mutation("/accounts/me", name="deleteMyAccount", allow=authenticated, method="DELETE")
    async def delete_my_account(self, caller: Identity) -> None:
        """Delete your account with profiles, seasons, orders, shares, invites and catalogs.

        A catalog from which others sell stays, private and nobody's. A deletion that was cut off
        goes on when it is repeated.
        """
        if not await self.delete_account(caller.id, caller):
            raise Missing("Nothing of you is stored here.")

    async def delete_account(self, account_id: str, caller: Identity) -> int:
        """Delete an account and what is its own; how much that was."""
        ref = Account.key(account_id=account_id)
        mine = await account(self.db, account_id)
        if mine is not None:
            await self.db.update(ref, deleting_since=self.db.context.now())
        found = int(mine is not None)
        async for one, thing in self.belongings(account_id):
            if one.name != "account":
                assert one.leave is not None, "each says how it goes"
                await one.leave(self, thing, caller)
                found += 1
        await self.db.delete(ref)
        return found
